// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.{RomSim, ShellParam}
import meridian.host.FrameSim._
import meridian.host.{Cycles, FrameSource}
import meridian.regs.RegMaster
import meridian.selftest._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._
import spinal.lib.sim.StreamDriver

import scala.collection.mutable
import scala.util.Random

/** The host side with its self-test, and a program on the host that posts buffers and sends frames back. At every frame
  * the host is asked whether it had given the buffers.
  */
abstract class ShellSelfTestBench extends AnyFunSuite {
  val p = ShellParam(
    functions = 6,
    queues = 32,
    macEntries = 16,
    groups = 2,
    psAddresses = 1,
    copyBufferBytes = 32768,
    vfs = Seq(1, 1, 0, 0),
    selfTest = true
  )
  lazy val built = RomSim.config.compile {
    val dut = new HostSide(p)
    dut.selfTest.test.now.simPublic()
    dut
  }
  val page = 0x117000
  private def code(e: spinal.core.SpinalEnum, name: String) = e.elements.indexWhere(_.getName() == name)
  def refusal(name: String) = code(SelfTestRefusal, name)
  def end(name: String) = code(SelfTestEnd, name)

  case class Frame(queue: Int, bytes: Array[Byte])

  class Bench(dut: HostSide, seed: Int) {
    println(s"seed $seed")
    val random = new Random(seed)
    val cd = clocked(dut)
    val cycles = new Cycles(cd)
    val qdma = dut.io.qdma
    val wire = new FrameSource(dut.io.rx(0), cd)
    val bar2 = new RegMaster(dut.io.axi, cd, Some(dut.io.awuser), Some(dut.io.aruser), random)
    var c2hPace, returnPace = 1.0
    val posted = mutable.Map[Int, Int]().withDefaultValue(0)
    val got = mutable.ArrayBuffer[Frame]()
    var gotAt = mutable.ArrayBuffer[Long]()
    var tx = 0 // frames for the wire
    var doneAt = Option.empty[Long]
    var back: Frame => Option[Frame] = _ => None // what the program sends back
    val latencies = mutable.ArrayBuffer[BigInt]()
    private val bytes = mutable.ArrayBuffer[Byte]()
    private val messages = mutable.Queue[(Int, Int)]()
    private var newH2c = true
    val bufferBytes = 2048

    dut.io.psLinkUp #= 1
    dut.io.psHostRxEnable #= 1
    dut.io.psHostTxEnable #= 1
    dut.io.build_date #= 0
    dut.io.cardTimeout #= false
    dut.io.card.cmd.ready #= true
    dut.io.card.rsp.valid #= false
    val ps = dut.io.ps(0)
    ps.lost #= false
    ps.filter.enable #= false
    ps.filter.valid #= 0
    ps.frames.valid #= false
    ps.query.valid #= false
    ps.idle #= true
    dut.io.txPaced.foreach(_ #= 0)
    qdma.axis_c2h_status.valid #= false
    qdma.tm_dsc_sts.valid #= false
    qdma.dsc_crdt_in.ready #= true
    qdma.s_axis_c2h_cmpt.ready #= true
    qdma.usr_flr_set #= false
    qdma.usr_flr_fnc #= 0
    dut.io.tx(0).ready #= true
    val (h2c, h2cBeats) = StreamDriver.queue(qdma.m_axis_h2c, cd)

    cd.onSamplings {
      val pins = qdma.s_axis_c2h
      if (pins.valid.toBoolean && pins.ready.toBoolean) {
        if (bytes.isEmpty) {
          val needed = (pins.ctrl_len.toInt + bufferBytes - 1) / bufferBytes
          val queue = pins.ctrl_qid.toInt
          assert(posted(queue) >= needed, s"a frame without a buffer of queue $queue")
          posted(queue) -= needed
        }
        bytes ++= toBytes(pins.tdata.toBigInt, p.hostBytes)
        if (pins.tlast.toBoolean) {
          got += Frame(pins.ctrl_qid.toInt, bytes.take(pins.ctrl_len.toInt).toArray)
          gotAt += cycles.now
          bytes.clear()
          back(got.last).foreach(send)
        }
      }
      val h = qdma.m_axis_h2c
      if (h.valid.toBoolean && h.ready.toBoolean) {
        // It leaves H2cIngress in the next cycle.
        if (newH2c && !h.tlast.toBoolean)
          latencies += dut.selfTest.test.now.toBigInt + 1 - TestFrameModel.number(toBytes(h.tdata.toBigInt, 32), 24)
        newH2c = h.tlast.toBoolean
      }
      if (dut.io.tx(0).valid.toBoolean && dut.io.tx(0).ready.toBoolean && dut.io.tx(0).last.toBoolean) tx += 1
      if (qdma.usr_flr_done_vld.toBoolean) doneAt = Some(cycles.now)
      pins.ready #= random.nextDouble() < c2hPace

      val status = qdma.tm_dsc_sts
      if (status.valid.toBoolean && status.ready.toBoolean) {
        posted(status.qid.toInt) += status.avl.toInt
        status.valid #= false
      }
      if (messages.nonEmpty && (!status.valid.toBoolean || status.ready.toBoolean)) {
        val (queue, amount) = messages.dequeue()
        status.valid #= true
        status.qen #= true
        status.c2h #= true
        status.mm #= false
        status.qinv #= false
        status.qid #= queue
        status.avl #= amount
      }
    }

    def post(queue: Int, amount: Int): Unit = messages.enqueue((queue, amount))
    def allPosted: Boolean = messages.isEmpty && !qdma.tm_dsc_sts.valid.toBoolean

    /** The host sends a frame. */
    def send(frame: Frame): Unit = {
      val cut = beats(frame.bytes, p.hostBytes)
      for ((beat, i) <- cut.zipWithIndex) h2cBeats.enqueue { pins =>
        pins.tdata #= toBig(beat.toSeq)
        pins.tuser_qid #= frame.queue
        pins.tuser_err #= false
        pins.tuser_zero_byte #= false
        pins.tuser_mdata #= 0
        pins.tlast #= i == cut.size - 1
        pins.tuser_mty #= (if (i == cut.size - 1) cut.size * p.hostBytes - frame.bytes.length else 0)
      }
    }

    def read(offset: Int): BigInt = bar2.read(page + offset)
    def write(offset: Int, value: BigInt): Unit = bar2.write(page + offset, value)
    def counter(at: Int): BigInt = read(at) | read(at + 4) << 32
    def sent(name: String): BigInt = counter(0x48 + 8 * FrameGenerator.counts.indexWhere(_._1 == name))
    def checked(name: String): BigInt = counter(0x80 + 8 * FrameChecker.counts.indexWhere(_._1 == name))
    def status: (Int, Int, Int) = { // state, refusal, end
      val s = read(0x40).toLong
      ((s & 15).toInt, (s >> 8 & 15).toInt, (s >> 16 & 15).toInt)
    }

    /** Settings for function 0, which has queues 0 to 7. */
    def set(
        mode: Int = 15,
        function: Int = 0,
        first: Int = 0,
        count: Int = 4,
        sizes: (Int, Int, Int) = (64, 0, 64),
        frames: Int = 0
    ): Unit = {
      write(0x04, mode)
      write(0x08, function)
      write(0x0c, count << 16 | first)
      write(0x10, sizes._3.toLong << 16 | sizes._1)
      write(0x14, sizes._2)
      write(0x24, frames)
    }
    def start(by: Int = 0): (Int, Int, Int) = {
      bar2.write(page, 1, function = by)
      var left = 40000
      while (status._1 == 1) {
        left -= 1
        assert(left > 0, "the test does not get beyond starting")
      }
      status
    }
    def stop(): Unit = {
      write(0, 2)
      var left = 1000
      while (status._1 != 0) {
        left -= 1
        assert(left > 0, "the test does not end")
      }
    }

    /** A frame from the wire. */
    def receive(frame: Array[Byte]): Unit = wire.send(frame) { (meta, _) =>
      meta.port #= 0
      meta.length #= frame.length
      meta.source.inside #= false
      meta.source.isFunction #= false
      meta.source.function #= 0
    }

    /** A function level reset of function 0 begins. */
    def reset(): Unit = {
      doneAt = None
      qdma.usr_flr_fnc #= 0
      qdma.usr_flr_set #= true
      cd.waitSampling()
      qdma.usr_flr_set #= false
    }

    /** What the driver does after it: queues and their buffers as before. */
    def configure(): Unit = {
      for (queue <- 0 until 8) posted(queue) = 0
      bar2.write(0x200000, 8)
      bar2.read(0x200000)
      for (queue <- 0 until 8) bar2.write(0x110034, BigInt(queue) << 16 | bufferBytes)
      cd.waitSampling(100)
    }

    def isTest(frame: Frame): Boolean = frame.bytes(12) == 0x88.toByte && frame.bytes(13) == 0xb5.toByte

    cd.waitSampling(1000)
    bar2.write(0x200000, 8)
    bar2.write(0x201000, BigInt(8) << 16 | 8)
    bar2.write(0x204000, BigInt(16) << 16 | 4)
    bar2.write(0x110030, 1)
    for (queue <- 0 until 20) bar2.write(0x110034, BigInt(queue) << 16 | bufferBytes)
    bar2.read(0x204000)
    cd.waitSampling(100)
  }
}
