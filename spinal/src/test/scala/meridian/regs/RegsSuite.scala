// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

object RegsSuite {
  val param = ShellParam(ports = 2, functions = 12, queues = 256, groups = 16, psAddresses = 4)

  /** Once for all suites. */
  lazy val compiled = SimConfig.compile(new RegsBench(param))
}

/** Registers as software meets them: through AXI4-Lite, both banks and the crossing between them. */
abstract class RegsSuite extends AnyFunSuite {
  val p = RegsSuite.param
  val absent = BigInt("DEADBEEF", 16)

  class Setup(val dut: RegsBench, seed: Int) {
    val random = new Random(seed)
    println(s"seed $seed")
    dut.hostClock.forkStimulus(4000)
    dut.psClock.forkStimulus(4100 + random.nextInt(3000))
    dut.build_date #= 0x65432100L
    dut.build_hash #= BigInt("cafe0123", 16)
    dut.functionReset #= 0
    dut.macLinkUp #= 3
    dut.rxReset #= 0
    dut.rxResets.foreach(_ #= 0)
    for (clock <- dut.rxClock ++ dut.txClock) {
      clock.busy #= false
      clock.still #= false
      clock.count #= 0
    }
    dut.time.seconds #= 0
    dut.time.nanoseconds #= 0
    dut.time.fraction #= 0
    dut.range.ready #= false
    dut.macCommand.ready #= false
    dut.macAnswer.valid #= false
    dut.hashKey.refused #= false
    dut.hashKey.drawing #= false
    dut.hashKey.drawn #= false
    for (flow <- Seq(dut.rxRecord, dut.rxCopyRecord)) flow.valid #= false
    dut.txRecord.valid #= false
    dut.c2hDrop #= false
    dut.ringBytes #= 0
    dut.released.valid #= false
    dut.macRx.foreach(_.valid #= false)
    dut.macTx.foreach(_.valid #= false)
    val bar2 = new RegMaster(dut.bar2, dut.hostClock, Some(dut.awuser), Some(dut.aruser), random)
    val ps = new RegMaster(dut.ps, dut.psClock, random = random)
    val ranges = mutable.Queue[(Int, Int, Int)]()
    val indirection = mutable.Map[(Int, Int), Int]()
    val key = mutable.Map[(Int, Int), BigInt]()
    val group = mutable.Map[(Int, Int), BigInt]()
    val switches = mutable.Map[Int, Boolean]()
    val rate = mutable.Map[(Int, Boolean), Long]()
    val paced, offload = mutable.Map[Int, Boolean]()
    val tag = mutable.Map[Int, (Boolean, Int)]()
    var takeRanges = true
    dut.hostClock.onSamplings {
      if (dut.range.valid.toBoolean && dut.range.ready.toBoolean)
        ranges += ((dut.range.function.toInt, dut.range.base.toInt, dut.range.count.toInt))
      dut.range.ready #= takeRanges && random.nextInt(4) == 0
      if (dut.indirection.valid.toBoolean)
        indirection((dut.indirection.function.toInt, dut.indirection.index.toInt)) = dut.indirection.queue.toInt
      if (dut.key.valid.toBoolean) key((dut.key.function.toInt, dut.key.word.toInt)) = dut.key.data.toBigInt
      if (dut.rate.valid.toBoolean)
        rate((dut.rate.function.toInt, dut.rate.minimum.toBoolean)) = dut.rate.rate.toLong
      if (dut.tag.valid.toBoolean)
        tag(dut.tag.function.toInt) = (dut.tag.tag.insert.toBoolean, dut.tag.tag.tci.toInt)
      if (dut.switches.valid.toBoolean) {
        switches(dut.switches.queue.toInt) = dut.switches.completion16.toBoolean
        paced(dut.switches.queue.toInt) = dut.switches.paced.toBoolean
        offload(dut.switches.queue.toInt) = dut.switches.transmitOffload.toBoolean
      }
      if (dut.group.valid.toBoolean) group((dut.group.group.toInt, dut.group.word.toInt)) = dut.group.data.toBigInt
    }
    dut.hostClock.waitSampling(20)
    def settle(): Unit = dut.hostClock.waitSampling(60)
  }

  def run(name: String, seed: Int)(body: Setup => Unit): Unit = test(name) {
    RegsSuite.compiled.doSim(name.replace(' ', '_'), seed) { dut =>
      SimTimeout(4000L * 400000)
      body(new Setup(dut, seed))
    }
  }

  /** Of 64 bits; reading its low word holds the high one. */
  def counter(bus: RegMaster, address: BigInt, function: Int = 0): BigInt =
    bus.read(address, function) | bus.read(address + 4, function) << 32
}
