// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

/** Packets of all kinds through the marker, against a model that works out the whole header checksum anew. */
class EcnMarkerTest extends AnyFunSuite {
  case class Packet(bytes: Seq[Int], mark: Boolean, ip: Int, at: Int, cut: Boolean) // ip: 4, 6, or 0; at: IP header

  private def checksum(header: Seq[Int]): Int = {
    var sum = header.grouped(2).map(w => w(0) << 8 | w(1)).sum
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16)
    ~sum & 0xffff
  }
  private def withChecksum(header: Seq[Int]): Seq[Int] = {
    val sum = checksum(header.updated(10, 0).updated(11, 0))
    header.updated(10, sum >> 8).updated(11, sum & 0xff)
  }
  private def header(bytes: Seq[Int], at: Int) = bytes.slice(at, at + 4 * (bytes(at) & 0xf))

  private def packet(random: Random): Packet = {
    def noise(n: Int) = Seq.fill(n)(random.nextInt(256))
    val tags = random.nextInt(3)
    val tpids = Seq.fill(tags)(if (random.nextBoolean()) Seq(0x81, 0) else Seq(0x88, 0xa8)).flatMap(_ ++ noise(2))
    val ethernet = noise(12) ++ tpids
    val (etherType, ip) = random.nextInt(8) match {
      case 0 | 1 | 2 => (Seq(0x08, 0x00), 4)
      case 3 | 4 | 5 => (Seq(0x86, 0xdd), 6)
      case 6         => (Seq(0x08, 0x06), 0)
      case 7         => (if (random.nextBoolean()) Seq(0x08, 0x00) else Seq(0x86, 0xdd), 0) // another version
    }
    val at = ethernet.size + 2
    val ecn = random.nextInt(4)
    val body = ip match {
      case 4 =>
        val words = 5 + (if (random.nextBoolean()) 0 else random.nextInt(11))
        // All ones and zeros now and then: sums at the edges of ones' complement.
        val raw =
          if (random.nextInt(3) == 0) Seq.fill(4 * words)(if (random.nextBoolean()) 0xff else 0) else noise(4 * words)
        withChecksum(raw.updated(0, 0x40 | words).updated(1, raw(1) & 0xfc | ecn))
      case 6 =>
        val raw = noise(40)
        raw.updated(0, 0x60 | raw(0) & 15).updated(1, raw(1) & 0xcf | ecn << 4)
      case _ => 0x50 +: noise(39)
    }
    val whole = ethernet ++ etherType ++ body ++ noise(random.nextInt(120))
    val cut = random.nextInt(12) == 0
    Packet(if (cut) whole.take(1 + random.nextInt(40)) else whole, random.nextInt(4) != 0, ip, at, cut)
  }

  /** The bytes that have to leave, and what has to be told. */
  private def model(p: Packet): (Seq[Int], String) = p.ip match {
    case 0 => (p.bytes, "notEct")
    case 4 =>
      val ecn = p.bytes(p.at + 1) & 3
      val changed = p.bytes.updated(p.at + 1, p.bytes(p.at + 1) | 3)
      val fresh = withChecksum(header(changed, p.at))
      if (ecn == 0) (p.bytes, "notEct")
      else if (ecn == 3) (p.bytes, "already")
      else (changed.patch(p.at, fresh, fresh.size), "marked")
    case 6 =>
      val ecn = p.bytes(p.at + 1) >> 4 & 3
      if (ecn == 0) (p.bytes, "notEct")
      else if (ecn == 3) (p.bytes, "already")
      else (p.bytes.updated(p.at + 1, p.bytes(p.at + 1) | 0x30), "marked")
  }

  for (bytes <- Seq(32, 64))
    test(s"packets of all kinds are marked if they can be, $bytes bytes a beat") {
      SimConfig
        .withConfig(SpinalConfig(targetDirectory = s"target/ecn$bytes"))
        .compile(new EcnMarker(bytes, HardType(Bits(8 bits))))
        .doSim { dut =>
          val random = new Random(bytes)
          val packets = Seq.fill(6000)(packet(random))
          val left = ArrayBuffer[(Seq[Int], Int)]()
          var cutOff = 0
          val told = ArrayBuffer[String]()
          val now = ArrayBuffer[Int]()
          var slow = false
          dut.io.input.valid #= false
          dut.clockDomain.forkStimulus(10)
          dut.clockDomain.waitSampling(2)
          var cycles = 0L
          dut.clockDomain.onSamplings {
            cycles += 1
            val out = dut.io.output
            if (out.valid.toBoolean) {
              if (out.first.toBoolean && now.nonEmpty) {
                cutOff += 1
                now.clear()
              }
              val word = out.data.toBigInt
              for (i <- 0 until bytes - out.mty.toInt) now += (word >> (8 * i) & 0xff).toInt
              if (out.last.toBoolean) {
                left += ((now.toSeq, out.meta.toInt))
                now.clear()
              }
            }
            val outcome = dut.io.outcome
            if (outcome.valid.toBoolean)
              told += Seq("marked" -> outcome.marked, "already" -> outcome.already, "notEct" -> outcome.notEct)
                .filter(_._2.toBoolean)
                .map(_._1)
                .mkString("+")
          }
          def offer(bytesOf: Seq[Int], first: Boolean, last: Boolean): Unit = {
            dut.io.input.valid #= true
            // What is beyond the end is anything.
            val padded = bytesOf.padTo(bytes, random.nextInt(256))
            dut.io.input.data #= padded.zipWithIndex.map { case (b, k) => BigInt(b) << (8 * k) }.sum
            dut.io.input.mty #= bytes - bytesOf.size
            dut.io.input.first #= first
            dut.io.input.last #= last
          }
          var cuts = 0
          var beats = 0L
          val begin = cycles
          for ((p, n) <- packets.zipWithIndex) {
            slow = n > 3000
            val words = p.bytes.grouped(bytes).toSeq
            for ((word, i) <- words.zipWithIndex) {
              if (slow && random.nextInt(4) == 0) { dut.io.input.valid #= false; dut.clockDomain.waitSampling() }
              offer(word, i == 0, i == words.size - 1)
              dut.io.input.meta #= n & 0xff
              dut.io.mark #= (if (i == 0) p.mark else random.nextBoolean())
              dut.clockDomain.waitSampling()
              beats += 1
            }
            // The beginning of a frame that the next one cuts.
            if (slow && random.nextInt(5) == 0) {
              val begun = packet(random).bytes
              if (begun.size > bytes) {
                offer(begun.take(bytes), first = true, last = false)
                dut.io.mark #= false
                cuts += 1
                dut.clockDomain.waitSampling()
                beats += 1
              }
            }
            if (n == 3000) assert(cycles - begin <= beats + 1, "a beat did not go on at once")
          }
          dut.io.input.valid #= false
          slow = false
          dut.clockDomain.waitSampling(20)
          assert(left.size == packets.size && cutOff == cuts && cuts > 100)
          val asked = packets.filter(_.mark)
          assert(told.size == asked.size && told.forall(t => Seq("marked", "already", "notEct").contains(t)))
          for ((p, n) <- packets.zipWithIndex) {
            val (got, meta) = left(n)
            assert(meta == (n & 0xff))
            if (!p.cut) assert(got == (if (p.mark) model(p)._1 else p.bytes), s"packet $n: $p")
            else {
              // Nothing else than the field and the checksum may be touched, and only if asked for.
              val may = if (p.mark && p.ip != 0) Seq(p.at + 1, p.at + 10, p.at + 11) else Nil
              assert(got.size == p.bytes.size && got.indices.forall(i => may.contains(i) || got(i) == p.bytes(i)))
            }
          }
          for ((p, t) <- asked.zip(told) if !p.cut) assert(t == model(p)._2, p)
          assert(told.count(_ == "marked") > 1000 && told.count(_ == "already") > 300)
        }
    }

  for (bytes <- Seq(32, 64))
    test(s"a frame that cuts one that is to be marked leaves as it came, $bytes bytes a beat") {
      SimConfig
        .withConfig(SpinalConfig(targetDirectory = s"target/ecnCut$bytes"))
        .compile(new EcnMarker(bytes, HardType(Bits(8 bits))))
        .doSim { dut =>
          val random = new Random(bytes + 1)
          val left = ArrayBuffer[BigInt]()
          var marked = 0
          dut.io.input.valid #= false
          dut.clockDomain.forkStimulus(10)
          dut.clockDomain.waitSampling(2)
          dut.clockDomain.onSamplings {
            if (dut.io.output.valid.toBoolean) left += dut.io.output.data.toBigInt
            if (dut.io.outcome.valid.toBoolean && dut.io.outcome.marked.toBoolean) marked += 1
          }
          val expected = ArrayBuffer[BigInt]()
          def offer(beat: Seq[Int], last: Boolean, mark: Boolean): Unit = {
            val word = beat.zipWithIndex.map { case (b, k) => BigInt(b) << (8 * k) }.sum
            dut.io.input.valid #= true
            dut.io.input.data #= word
            dut.io.input.mty #= 0
            dut.io.input.first #= true
            dut.io.input.last #= last
            dut.io.mark #= mark
            dut.clockDomain.waitSampling()
            if (!mark) expected += word
            dut.io.input.valid #= false
            dut.clockDomain.waitSampling(random.nextInt(3))
          }
          for (n <- 0 until 600) {
            val begun = Iterator.continually(packet(random)).filter(p => p.bytes.size > bytes && !p.cut).next()
            offer(begun.bytes.take(bytes), last = false, mark = true)
            offer(Seq.fill(bytes)(random.nextInt(256)), last = n % 2 == 0, mark = false)
          }
          dut.clockDomain.waitSampling(10)
          assert(left.size == 1200 && marked > 150)
          assert(left.indices.filter(_ % 2 == 1).map(left) == expected)
        }
    }
}
