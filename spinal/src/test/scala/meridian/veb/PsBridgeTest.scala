// SPDX-License-Identifier: Apache-2.0
package meridian.veb

import meridian.ShellParam
import meridian.host.{FrameSource, StreamSink}
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable

/** A bridge in its two clocks. */
class PsBridgeTop(p: ShellParam) extends Component {
  def domain(name: String) =
    ClockDomain.external(name, config = ClockDomainConfig(resetKind = SYNC, resetActiveLevel = HIGH))
  val hostCd = domain("host")
  val psCd = domain("ps")
  val bridge = new PsBridge(p, 0, hostCd, psCd)
  val io = bridge.io.toIo().setName("")
}

class PsBridgeTest extends AnyFunSuite {
  private val p = ShellParam(maxFrame = 1518, vebBufferBytes = 4096)
  private lazy val built = SimConfig.compile(new PsBridgeTop(p))

  private class World(val dut: PsBridgeTop) {
    SimTimeout(1000L * 1000 * 1000)
    val (host, ps) = (dut.hostCd, dut.psCd)
    def io = dut.io
    val wireTx, rx = mutable.ArrayBuffer[Seq[Byte]]()
    val toHost = mutable.ArrayBuffer[Seq[Byte]]()
    val events = mutable.Map[String, Int]().withDefaultValue(0)
    io.host.veb #= true
    io.host.copy.valid #= false
    io.host.answer.valid #= false
    io.filter.enable #= true
    host.forkStimulus(4000)
    sleep(700)
    ps.forkStimulus(4010)
    val wire = new FrameSource(io.wireRx, ps)
    val tx = new FrameSource(io.tx, ps)
    private val bytes = Array.fill(3)(mutable.ArrayBuffer[Byte]())
    val txSink = new StreamSink(io.wireTx, ps)({ word =>
      bytes(0) ++= toBytes(word.fragment.data.toBigInt, 8).dropRight(word.fragment.mty.toInt)
      if (word.last.toBoolean) { wireTx += bytes(0).toSeq; bytes(0).clear() }
    })
    val rxSink = new StreamSink(io.rx, ps)({ word =>
      bytes(1) ++= toBytes(word.fragment.data.toBigInt, 8).dropRight(word.fragment.mty.toInt)
      if (word.last.toBoolean) {
        val meta = word.fragment.meta
        assert(meta.length.toInt == bytes(1).size && meta.inside.toBoolean == !meta.timestampValid.toBoolean)
        rx += bytes(1).toSeq
        bytes(1).clear()
      }
    })
    val hostSink = new StreamSink(io.host.frames, host)({ word =>
      bytes(2) ++= toBytes(word.fragment.data.toBigInt, p.hostBytes).dropRight(word.fragment.mty.toInt)
      if (word.last.toBoolean) {
        val meta = word.fragment.meta
        assert(meta.length.toInt == bytes(2).size.max(60) && meta.source.inside.toBoolean)
        assert(!meta.source.isFunction.toBoolean)
        toHost += bytes(2).toSeq
        bytes(2).clear()
      }
    })
    var known: BigInt => Boolean = _.testBit(40)
    host.onSamplings {
      val query = io.host.query
      io.host.answer.valid #= query.valid.toBoolean && query.ready.toBoolean
      io.host.answer.tag #= query.tag.toInt
      io.host.answer.known #= known(query.address.toBigInt)
      query.ready #= true
    }
    ps.onSamplings {
      val event = io.events
      val lost = if (event.lost.toBoolean) "lost" else "made"
      if (event.frame.toBoolean) events(s"frame $lost") += 1
      if (event.copy.toBoolean) events(s"copy $lost") += 1
    }
    ps.waitSampling(200)

    def fromWire(frame: Array[Byte]): Unit = wire.send(frame) { (meta, _) =>
      meta.length #= frame.length
      meta.timestampValid #= true
      meta.inside #= false
      meta.bulk #= false
    }
    def send(to: Int, fifth: Int, length: Int): Seq[Byte] = {
      val frame = Array[Byte](to.toByte, 0, 0, 0, 0, fifth.toByte) ++ randomBytes(length - 6)
      frame(12) = 0
      tx.send(frame)((meta, _) => meta.timestamp #= false)
      frame.toSeq
    }
    def copy(frame: Array[Byte], toPs: Boolean = true, drop: Boolean = false): Boolean = {
      val cut = beats(frame, p.hostBytes)
      var stored = true
      for ((beat, i) <- cut.zipWithIndex) {
        val last = i == cut.size - 1
        io.host.copy.valid #= true
        io.host.copy.last #= last
        io.host.copy.data #= toBig(beat.toSeq)
        io.host.copy.mty #= (if (last) cut.size * p.hostBytes - frame.length else 0)
        io.host.copy.port #= 0
        io.host.copy.toPs #= toPs
        io.host.copy.drop #= drop && last
        host.waitSampling()
        if (last) stored = !io.host.lost.toBoolean
      }
      io.host.copy.valid #= false
      stored
    }
  }

  test("frames of functions come to the PS whole, filled up and behind those from the wire") {
    built.doSim("toPs", 730) { dut =>
      val w = new World(dut)
      w.rxSink.pace(0.5f)
      val (wire, inside) = (mutable.ArrayBuffer[Seq[Byte]](), mutable.ArrayBuffer[Seq[Byte]]())
      var lost = 0
      for (n <- 0 until 300) {
        if (n % 3 == 0) {
          val frame = randomBytes(60 + simRandom.nextInt(100))
          wire += frame.toSeq
          w.fromWire(frame)
        }
        val frame = randomBytes(14 + simRandom.nextInt(200))
        val (mine, drop) = (simRandom.nextInt(5) != 0, simRandom.nextInt(5) == 0)
        if (w.copy(frame, mine, drop)) { if (mine && !drop) inside += frame.toSeq.padTo(60, 0.toByte) }
        else lost += 1
        if (n < 150) w.host.waitSampling(200)
      }
      w.ps.waitSampling(8000)
      assert(lost > 0 && w.rx.size == wire.size + inside.size)
      assert(w.rx.filter(wire.toSet) == wire && w.rx.filter(inside.toSet) == inside)
      // What is there from the wire waits for one frame from inside at most.
      w.rx.clear()
      w.rxSink.pace(0.0f)
      for (_ <- 0 until 20) w.copy(randomBytes(60))
      w.ps.waitSampling(50)
      val urgent = Seq.fill(3)(randomBytes(64))
      urgent.foreach(w.fromWire)
      w.ps.waitSampling(20)
      w.rxSink.pace(1.0f)
      w.ps.waitSampling(1000)
      assert(w.rx.size == 23 && w.rx.slice(1, 4) == urgent.map(_.toSeq))
    }
  }

  test("frames of the PS go to the wire, inside or both; what finds no room inside is told and stops nothing") {
    built.doSim("toHost", 731) { dut =>
      val w = new World(dut)
      val (wire, inside) = (mutable.ArrayBuffer[Seq[Byte]](), mutable.ArrayBuffer[Seq[Byte]]())
      for (n <- 0 until 150) {
        val (to, fifth) = Seq((0xff, 0), (2, 1), (2, 0))(n % 3)
        val frame = w.send(to, fifth, 14 + simRandom.nextInt(200))
        if (n % 3 != 1) wire += frame
        if (n % 3 != 2) inside += frame
      }
      waitFor(w.ps, "the last frame", 20000)(w.wireTx.size == wire.size && w.toHost.size == inside.size)
      assert(w.wireTx == wire && w.toHost == inside)
      w.ps.waitSampling(10)
      assert(w.events.toMap == Map("frame made" -> 50, "copy made" -> 50))
      w.hostSink.pace(0.0f)
      for (n <- 0 until 100) w.send(if (n % 2 == 0) 0xff else 2, 1, 200)
      waitFor(w.ps, "the last frame", 20000)(w.wireTx.size == wire.size + 50)
      w.ps.waitSampling(60)
      assert(w.events("frame lost") > 20 && w.events("copy lost") > 20)
      assert(w.events.values.sum == 200)
      w.hostSink.pace(1.0f)
      w.host.waitSampling(2000)
      assert(w.toHost.size == w.events("frame made") + w.events("copy made"))
    }
  }

  test("a host in reset costs the PS nothing but a moment, and a reset of the PS leaves the host's side running") {
    built.doSim("resets", 732) { dut =>
      val w = new World(dut)
      w.host.assertReset()
      w.ps.waitSampling(20)
      for (n <- 0 until 20) w.send(2, 1, 100) // known to the table, but nobody is there
      for (n <- 0 until 20) w.fromWire(randomBytes(100))
      waitFor(w.ps, "the frames of the PS", 20 * 150)(w.wireTx.size == 20 && w.rx.size == 20)
      w.host.deassertReset()
      w.ps.waitSampling(400)
      val again = w.send(2, 1, 100)
      waitFor(w.ps, "the frame inside", 500)(w.toHost.lastOption.contains(again))
      assert(w.wireTx.size == 20)
      w.ps.assertReset()
      w.host.waitSampling(50)
      for (_ <- 0 until 10) w.copy(randomBytes(100)) // nobody takes it, nobody waits
      w.ps.deassertReset()
      w.host.waitSampling(400)
      assert(w.copy(randomBytes(100)))
      val before = w.rx.size
      waitFor(w.ps, "the frame for the PS", 500)(w.rx.size == before + 1)
    }
  }
}
