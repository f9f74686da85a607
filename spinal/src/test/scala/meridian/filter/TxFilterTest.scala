// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.host.FrameSim._
import meridian.meta.TxVerdict
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

class TxFilterTest extends AnyFunSuite {
  case class Config(p: ShellParam, macLatency: Int, queueLatency: Int)

  val configs = Seq(
    Config(ShellParam(ports = 2, hostBytes = 64, functions = 12), 4, 2),
    Config(ShellParam(ports = 3, hostBytes = 32, functions = 8, maxFrame = 1518), 6, 3)
  )

  for (config <- configs) {
    val Config(p, macLatency, queueLatency) = config
    val width = p.hostBytes
    lazy val compiled = SimConfig.compile(new TxFilter(p, macLatency, queueLatency))

    def run(name: String, seed: Int)(body: TxFilterHarness => Unit): Unit =
      compiled.doSim(s"$name$width", seed) { dut =>
        val h = new TxFilterHarness(dut, p, macLatency, queueLatency)
        h.configure()
        h.cd.waitSampling(10)
        body(h)
      }

    /** Frames good and bad in every way a host can make them. */
    def randomFrame(h: TxFilterHarness): TxFrame = {
      val queue = if (simRandom.nextInt(20) == 0) simRandom.nextInt(2048) else simRandom.nextInt(2 * p.functions)
      val length = simRandom.nextInt(20) match {
        case 0          => p.maxFrame - 2 + simRandom.nextInt(5)
        case 1          => p.maxFrame + 1 + simRandom.nextInt(3 * width)
        case n if n < 8 => 1 + simRandom.nextInt(20)
        case _          => 14 + simRandom.nextInt(200)
      }
      val ask = Option.when(simRandom.nextInt(5) == 0)(simRandom.nextInt(16) << 12 | h.vlan(queue / 2 % 256))
      val frame = h
        .ownFrame(queue, length)
        .copy(error = simRandom.nextInt(8) == 0, ask = ask, unfilled = simRandom.nextInt(4) == 0)
      if (length >= 14 && simRandom.nextInt(6) == 0) frame.bytes(0) = (frame.bytes(0) & 0xfe).toByte
      if (length >= 14 && simRandom.nextInt(6) == 0) makeControl(frame.bytes)
      else if (length >= 14) simRandom.nextInt(12) match {
        case 0                => frame.bytes(6 + simRandom.nextInt(6)) = simRandom.nextInt().toByte
        case 1                => Seq(0x81, 0x00).zipWithIndex.foreach { case (b, i) => frame.bytes(12 + i) = b.toByte }
        case 2 if length > 16 => frame.bytes(15) = simRandom.nextInt().toByte
        case 3 if length > 16 => frame.bytes(14) = (frame.bytes(14) ^ 0xe0).toByte // priority does not matter
        case 4 if length <= width => return frame.copy(zero = true)
        case 5                    => toBytes(h.address(simRandom.nextInt(p.functions)), 6).copyToArray(frame.bytes, 6)
        case n if n < 10 => // somebody on the port
          val here = (0 until p.functions).filter(f => h.portOf(f) == h.portOf(queue / 2 % 256))
          val function = if (here.isEmpty) 0 else here(simRandom.nextInt(here.size))
          simRandom.nextInt(6) match {
            case 0 => Array.fill(6)(0xff.toByte).copyToArray(frame.bytes)
            case 1 => toBytes(h.psAddress(h.portOf(queue / 2 % 256) min p.ports - 1), 6).copyToArray(frame.bytes)
            case 2 => toBytes(h.address(queue / 2 % 256), 6).copyToArray(frame.bytes)
            case _ => toBytes(h.address(function), 6).copyToArray(frame.bytes)
          }
        case _ =>
      }
      frame
    }

    /** Of it a frame for the other end of the wire, or one that differs from such in a byte. */
    def makeControl(bytes: Array[Byte]): Unit = {
      val tagged = simRandom.nextBoolean()
      simRandom.nextInt(3) match {
        case 0 => Seq(1, 0x80, 0xc2, 0, 0, simRandom.nextInt(18)).map(_.toByte).copyToArray(bytes)
        case 1 if tagged && bytes.length > 18 =>
          if (simRandom.nextBoolean()) Seq(0x81, 0).map(_.toByte).copyToArray(bytes, 12)
          else Seq(0x88, 0xa8).map(_.toByte).copyToArray(bytes, 12)
          Seq(0x88, 8).map(_.toByte).copyToArray(bytes, 16)
        case _ => Seq(0x88, 8).map(_.toByte).copyToArray(bytes, 12)
      }
      if (simRandom.nextInt(4) == 0) {
        val at = simRandom.nextInt(bytes.length min 18)
        bytes(at) = (bytes(at) ^ 1 << simRandom.nextInt(8)).toByte
      }
    }

    test(s"$width bytes: every frame gets the verdict of the rules, one record, and its port or nothing") {
      for ((pace, i) <- paces.zipWithIndex) run(s"random$i", 300 + i) { h =>
        h.source.pace(paces((i + 1) % paces.size))
        h.sinks.foreach(_.pace(pace))
        h.enabled -= 2
        h.portOf(3) = 3 // port 3 does not exist in either build
        h.owners(1000) = p.functions + 1
        h.entries((h.portOf(4), h.address(4), h.vlan(4))) = (true, 4) // a group is nobody's source
        h.entries((h.portOf(6), h.address(6), h.vlan(6))) = (false, 7)
        h.veb ++= Seq(0, 1).drop(i % 2)
        for (f <- 0 until p.functions if simRandom.nextInt(3) == 0) // most are who they are in that VLAN
          h.tags(f) = simRandom.nextInt(16) << 12 | (if (simRandom.nextInt(4) == 0) 7 else h.vlan(f))
        h.writeTags()
        h.psEnable ++= Seq(0, 1).take(2 - i)
        if (i == 1) h.linkUp -= 1
        if (i == 2) h.txEnable -= 0
        h.apply()
        h.cd.waitSampling(3)
        for (_ <- 0 until (if (i == 2) 300 else 1500)) h.send(randomFrame(h))
        h.send(h.ownFrame(1000, 64))
        h.drain()
        h.check()
        val seen = h.records.map(_._1).toSet
        if (i == 0) assert(TxVerdict.elements.toSet == seen + TxVerdict.linkDown, s"only $seen")
      }
    }

    test(s"$width bytes: 64-byte frames follow each other without a bubble, passed and dropped") {
      run("speed", 31) { h =>
        val beats = 64 / width
        for (i <- 0 until 200) h.send(h.ownFrame(0, 64))
        h.drain()
        h.check()
        assert(h.lastAt.last - h.lastAt.head == 199L * beats, "a beat was lost between frames")
        val latency = h.lastAt.head - h.lastIn.head
        println(s"$width bytes: last beat in to last beat out $latency cycles, tables $macLatency and $queueLatency")
        assert(latency == macLatency + queueLatency + 6)
        for (i <- 0 until 200) h.send(h.ownFrame(0, 64).copy(queue = 4))
        h.drain()
        h.check()
        assert(h.records.drop(200).forall(_._1 == TxVerdict.spoof))
        assert(h.recordAt.last - h.recordAt(200) == 199L * beats, "dropped frames must go at full speed")
      }
    }

    test(
      s"$width bytes: a function in a VLAN gets its tag at every length, without a bubble, up to the largest frame"
    ) {
      run("insert", 39) { h =>
        for (f <- Seq(0, 3)) h.tags(f) = 0x6000 | 0x123
        for (f <- Seq(0, 3)) h.entries((h.portOf(f), h.address(f), 0x123)) = (false, f)
        h.trusted += 3
        h.writeTags()
        val lengths = (14 to 14 + 3 * width) ++ (p.maxFrame - 9 to p.maxFrame + 1)
        for (length <- lengths) {
          h.send(h.ownFrame(0, length))
          val own = h.ownFrame(6, length max 20)
          own.bytes(12) =
            (if (length % 2 == 0) 0x88 else 0x81).toByte // a service tag, or a tag, which is not its business
          own.bytes(13) = (if (length % 2 == 0) 0xa8 else 0).toByte
          h.send(own)
        }
        h.drain()
        h.check()
        val seen = h.records.groupBy(_._1).view.mapValues(_.size).toMap
        assert(seen.keySet == Set(TxVerdict.sent, TxVerdict.spoof, TxVerdict.oversize), seen)
        val before = h.lastAt.size
        for (_ <- 0 until 100) h.send(h.ownFrame(0, 64))
        h.drain()
        h.check()
        val at = h.lastAt.drop(before)
        assert(at.last - at.head == 99L * ((68 + width - 1) / width), "a beat was lost between frames")
        for (sink <- h.sinks) sink.pace(0.4f)
        for (length <- lengths) h.send(h.ownFrame(0, length))
        h.drain()
        h.check()
      }
    }

    test(s"$width bytes: a frame of any length passes through, counted up to 65535") {
      run("long", 32) { h =>
        h.sinks.foreach(_.pace(0.7f))
        for (length <- Seq(65535, 65536, 70000, 200000, p.maxFrame, p.maxFrame + 1)) {
          h.send(h.ownFrame(0, length))
          h.send(h.ownFrame(2, 60))
          h.send(h.ownFrame(0, 60))
        }
        h.drain()
        h.check()
        assert(h.rolledBack(0).size == 5, "each frame that is too long is begun once and taken back")
      }
    }

    test(s"$width bytes: a full transmit buffer stalls and loses nothing") {
      run("full", 33) { h =>
        h.sinks(0).pace(0.0f)
        for (i <- 0 until 40) h.send(h.ownFrame(2 * (i % 2), 200))
        h.cd.waitSampling(500)
        assert(h.records.isEmpty && h.source.pending > 0)
        h.sinks(0).pace(1.0f)
        h.drain()
        h.check()
      }
    }

    test(s"$width bytes: a port that goes down in a frame lets go of it, and of nobody else's") {
      run("down", 34) { h =>
        h.sinks(0).pace(0.0f)
        for (_ <- 0 until 3) {
          h.send(h.ownFrame(0, 1500))
          h.send(h.ownFrame(2, 300))
        }
        h.cd.waitSampling(200)
        assert(h.records.isEmpty)
        if (width == 64) h.linkUp -= 0 else h.txEnable -= 0
        h.apply()
        h.drainRecords()
        val why = if (h.linkUp(0)) TxVerdict.hostDisabled else TxVerdict.linkDown
        assert(h.records.map(_._1) == Seq.fill(3)(Seq(why, TxVerdict.sent)).flatten)
        assert(h.delivered(1).size == 3 && h.delivered(0).isEmpty)

        h.linkUp += 0
        h.txEnable += 0
        h.apply()
        h.sinks(0).pace(0.5f)
        h.cd.waitSampling(5)
        val again = (0 until 5).map(_ => h.ownFrame(0, 700))
        again.foreach(h.send)
        h.drain()
        assert(h.rolledBack(0).size == 1, "the frame cut short is taken back")
        assert(h.delivered(0).map(_.toSeq) == again.map(_.bytes.toSeq))
        assert(h.records.drop(6).forall(_._1 == TxVerdict.sent))
      }
    }

    test(s"$width bytes: a frame cut by a short outage is told by what cut it") {
      run("outage", 38) { h =>
        h.source.pace(0.2f)
        for ((set, i) <- Seq(h.txEnable, h.linkUp).zipWithIndex) {
          h.send(h.ownFrame(0, 1500))
          h.cd.waitSampling(60)
          set -= 0
          h.apply()
          h.cd.waitSampling(40) // long enough to meet a beat
          set += 0
          h.apply()
          h.drain()
          assert(h.records(i)._1 == Seq(TxVerdict.hostDisabled, TxVerdict.linkDown)(i) && h.records(i)._4 == 1500)
          assert(h.rolledBack(0).size == i + 1)
        }
        h.send(h.ownFrame(0, 1500))
        h.drain()
        assert(h.delivered(0).size == 1)
      }
    }

    test(s"$width bytes: ports that come and go neither lose a record nor a border between frames") {
      run("flapping", 35) { h =>
        h.sinks.foreach(_.pace(0.3f))
        for (_ <- 0 until 300) h.send(h.ownFrame(2 * simRandom.nextInt(p.ports), 14 + simRandom.nextInt(400)))
        var waited = 0
        while (h.records.size < h.sent.size) {
          h.cd.waitSampling(1 + simRandom.nextInt(60))
          for (set <- Seq(h.linkUp, h.txEnable)) {
            set.clear()
            set ++= (0 until p.ports).filter(_ => simRandom.nextInt(4) != 0)
          }
          h.apply()
          waited += 1
          assert(waited < 20000, "frames must not hang")
        }
        h.linkUp ++= (0 until p.ports)
        h.txEnable ++= (0 until p.ports)
        h.apply()
        h.drain()
        for (port <- 0 until p.ports) {
          val right = h.sent.zip(h.records).collect { case (f, (TxVerdict.sent, `port`, _, _)) => f.bytes.toSeq }
          assert(h.delivered(port).map(_.toSeq) == right)
        }
        assert(h.rolledBack.exists(_.nonEmpty) && h.records.exists(_._1 == TxVerdict.sent))
      }
    }

    test(s"$width bytes: a flush is answered when all that was begun has left, not before") {
      run("flush", 36) { h =>
        h.flush()
        h.cd.waitSampling(4)
        assert(h.flushed == 1, "nothing inside")
        h.sinks(0).pace(0.0f)
        for (_ <- 0 until 4) h.send(h.ownFrame(0, 64))
        h.cd.waitSampling(40)
        assert(!h.idle)
        h.flush()
        h.cd.waitSampling(100)
        assert(h.flushed == 1)
        h.sinks(0).pace(1.0f)
        for (_ <- 0 until 1000) h.send(h.ownFrame(0, 64))
        h.cd.waitSampling(60)
        assert(h.flushed == 2, "frames that came later do not matter")
        h.drain()
        assert(h.idle && h.flushed == 2)
      }
    }

    test(s"$width bytes: once a function is switched off and flushed, nothing of it leaves any more") {
      run("quiesce", 37) { h =>
        h.sinks.foreach(_.pace(0.5f))
        for (_ <- 0 until 200) h.send(h.ownFrame(simRandom.nextInt(2 * p.functions), 14 + simRandom.nextInt(300)))
        h.cd.waitSampling(400)
        val f = 4
        h.enabled -= f
        h.owners --= Seq(2 * f, 2 * f + 1)
        h.apply()
        h.cd.waitSampling(16)
        h.flush()
        waitFor(h.cd, "the answer to the flush", 2000)(h.flushed == 1)
        def gone =
          h.sent.zip(h.records).count { case (frame, record) => frame.queue / 2 == f && record._1 == TxVerdict.sent }
        h.cd.waitSampling(2)
        val before = gone
        assert(before > 0 && h.records.size < 150)
        h.drain()
        assert(gone == before)
        assert(h.records.exists(_._1 == TxVerdict.noFunction))
      }
    }
  }
}
