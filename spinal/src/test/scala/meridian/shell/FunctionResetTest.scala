// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.ShellParam
import meridian.host.FrameSim._
import meridian.host.{Cycles, FrameSource}
import meridian.regs.RegMaster
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** The host side with all that it hands on held up while a function is reset. */
class FunctionResetTest extends AnyFunSuite {
  private val p =
    ShellParam(functions = 4, queues = 16, macEntries = 16, groups = 2, psAddresses = 1, copyBufferBytes = 32768)
  private lazy val built = SimConfig.compile(new HostSide(p))
  private val base = Seq(0, 8) // first queues of functions 0 and 1

  private class Bench(dut: HostSide, seed: Int) {
    println(s"seed $seed")
    val random = new Random(seed)
    val cd = clocked(dut)
    val cycles = new Cycles(cd)
    val qdma = dut.io.qdma
    val wire = new FrameSource(dut.io.rx(0), cd)
    val bar2 = new RegMaster(dut.io.axi, cd, Some(dut.io.awuser), Some(dut.io.aruser), random)
    var c2hPace, cmptPace, txPace = 1.0
    val seen = mutable.ArrayBuffer[(String, Int, Long)]() // where, queue, cycle
    var doneAt = Option.empty[Long]
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
    qdma.m_axis_h2c.valid #= false
    qdma.axis_c2h_status.valid #= false
    qdma.tm_dsc_sts.valid #= false
    qdma.dsc_crdt_in.ready #= true
    qdma.usr_flr_set #= false
    qdma.usr_flr_fnc #= 0
    cd.onSamplings {
      if (qdma.s_axis_c2h.valid.toBoolean && qdma.s_axis_c2h.ready.toBoolean)
        seen += (("c2h", qdma.s_axis_c2h.ctrl_qid.toInt, cycles.now))
      if (qdma.s_axis_c2h_cmpt.valid.toBoolean && qdma.s_axis_c2h_cmpt.ready.toBoolean)
        seen += (("completion", qdma.s_axis_c2h_cmpt.ctrl_qid.toInt, cycles.now))
      if (dut.io.tx(0).valid.toBoolean && dut.io.tx(0).ready.toBoolean) seen += (("tx", 0, cycles.now))
      if (qdma.usr_flr_done_vld.toBoolean) doneAt = Some(cycles.now)
      qdma.s_axis_c2h.ready #= random.nextDouble() < c2hPace
      qdma.s_axis_c2h_cmpt.ready #= random.nextDouble() < cmptPace
      dut.io.tx(0).ready #= random.nextDouble() < txPace
    }

    /** Gives the function its queue again; the answer to the read says that it has it. */
    def start(function: Int): Unit = {
      bar2.write(0x200000 + 0x1000 * function, BigInt(base(function)) << 16 | 1)
      bar2.read(0x200000 + 0x1000 * function)
      cd.waitSampling(40)
    }
    def pace(c2h: Double, completion: Double, tx: Double): Unit = { c2hPace = c2h; cmptPace = completion; txPace = tx }
    def receive(length: Int, broadcast: Boolean): Unit = {
      val frame = randomBytes(length)
      for (i <- 0 until 6) frame(i) = (if (broadcast) 0xff else 2 * i).toByte
      wire.send(frame) { (meta, _) =>
        meta.port #= 0
        meta.length #= length
        meta.source.inside #= false
        meta.source.isFunction #= false
        meta.source.function #= 0
      }
    }
    def transmit(function: Int, length: Int): Unit = {
      val pins = qdma.m_axis_h2c
      val cut = beats(randomBytes(length), p.hostBytes)
      for ((beat, i) <- cut.zipWithIndex) {
        pins.valid #= true
        pins.tdata #= toBig(beat.toSeq)
        pins.tuser_qid #= base(function)
        pins.tuser_err #= false
        pins.tuser_zero_byte #= false
        pins.tlast #= i == cut.size - 1
        pins.tuser_mty #= (if (i == cut.size - 1) cut.size * p.hostBytes - length else 0)
        var waited = 0
        do { cd.waitSampling(); waited += 1 } while (!pins.ready.toBoolean && waited < 20)
        if (waited == 20) { pins.valid #= false; return } // it is held up, as it is meant to be
      }
      pins.valid #= false
    }
    def reset(function: Int): Unit = {
      doneAt = None
      qdma.usr_flr_fnc #= function
      qdma.usr_flr_set #= true
      cd.waitSampling()
      qdma.usr_flr_set #= false
    }
    def last(where: String): Long = seen.filter(_._1 == where).lastOption.fold(0L)(_._3)
    cd.waitSampling(800)
    for (function <- Seq(1, 0)) bar2.write(0x200004 + 0x1000 * function, if (function == 0) 31 else 1)
    for (function <- 0 to 1) start(function)
  }

  test("a reset is answered once the last beat and its completion are taken, whichever of them is held up") {
    built.doSim("held", 41) { dut =>
      val b = new Bench(dut, 41)
      for (round <- 0 until 12) {
        val where = Seq("c2h", "completion", "tx")(round % 3)
        b.pace(if (where == "c2h") 0 else 1, if (where == "completion") 0 else 1, if (where == "tx") 0 else 1)
        b.cd.waitSampling(2)
        if (where == "tx") b.transmit(0, 200) else b.receive(60, round % 2 == 1)
        b.cd.waitSampling(100)
        b.reset(0)
        b.cd.waitSampling(1500)
        assert(b.doneAt.isEmpty, s"round $round: something waits at $where")
        b.pace(1, 1, 1)
        waitFor(b.cd, "the answer", 100)(b.doneAt.isDefined)
        assert(b.last(where) > 0 && b.last(where) < b.doneAt.get)
        b.cd.waitSampling(100)
        b.start(0)
      }
    }
  }

  test("nothing of a function comes behind the answer to its reset, while others go on at any pace") {
    built.doSim("traffic", 42) { dut =>
      val b = new Bench(dut, 42)
      var before = 0
      for (round <- 0 until 40) {
        def some = Seq(1.0, 0.5, 0.1)(b.random.nextInt(3))
        b.pace(some, some, some)
        for (_ <- 0 until 10 + b.random.nextInt(20)) {
          b.receive(60 + b.random.nextInt(if (b.random.nextInt(5) == 0) 1400 else 100), b.random.nextInt(3) == 0)
          if (b.random.nextBoolean()) b.cd.waitSampling(b.random.nextInt(40))
        }
        b.cd.waitSampling(b.random.nextInt(100))
        b.reset(0)
        waitFor(b.cd, "the answer", 40000)(b.doneAt.isDefined)
        b.cd.waitSampling(600)
        val late = b.seen.filter(s => s._1 != "tx" && s._2 == base.head && s._3 > b.doneAt.get)
        assert(late.isEmpty, s"round $round: $late behind the answer at ${b.doneAt.get}")
        before += b.seen.count(_._2 == base.head)
        b.pace(1, 1, 1)
        waitFor(b.cd, "the others' frames", 20000)(b.wire.pending == 0)
        b.cd.waitSampling(200)
        b.seen.clear()
        b.start(0)
      }
      assert(before > 500, "the function has had frames")
    }
  }
}
