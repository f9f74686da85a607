// SPDX-License-Identifier: Apache-2.0
package meridian.filter.rss

import meridian.{RomSim, ShellParam}
import meridian.filter._
import meridian.frame.FrameWord
import meridian.meta.{FrameHash, HashType, RxMeta}
import meridian.settings.{HashKeyWrite, IndirectionWrite}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._

import scala.collection.mutable
import scala.util.Random

/** From the bytes of a frame to hash and queue, for a function the test chooses. */
class RssPath(p: ShellParam) extends Component {
  val io = new Bundle {
    val beat = slave(Flow(Fragment(FrameWord(p.hostBytes, RxMeta(p)))))
    val header = master(Flow(RxHeader(p)))
    val function = in(p.functionType()) // a cycle after the header
    val hash = out(FrameHash())
    val queue = out(p.queueType())
    val hashKey = slave(Flow(HashKeyWrite(p)))
    val indirection = slave(Flow(IndirectionWrite(p)))
  }
  val header = new HeaderExtract(p)
  val rss = new Rss(p)
  header.io.beat << io.beat
  header.io.header >> io.header
  rss.io.function := io.function
  rss.io.input := header.io.hashInput
  rss.io.hashKey << io.hashKey
  rss.io.indirection << io.indirection
  io.hash := rss.io.hash
  io.queue := rss.io.queue
}

class RssTest extends AnyFunSuite {
  for (bytes <- Seq(32, 64))
    test(s"random frames get the model's hash, queue and header without a bubble, $bytes bytes a beat") {
      val p = ShellParam(hostBytes = bytes, functions = 6)
      RomSim.config.compile(new RssPath(p)).doSim(seed = 11) { dut =>
        println("seed 11")
        val random = new Random(11)
        dut.clockDomain.forkStimulus(4)
        dut.io.beat.valid #= false
        dut.io.hashKey.valid #= false
        dut.io.indirection.valid #= false
        dut.io.function #= 0
        dut.clockDomain.waitSampling(4)

        val keys = Array.fill(6)(Rss.defaultKey.toArray)
        val table = Array.fill(6, 128)(0)
        // Of every function another: OpenNIC's, one with the bits of Microsoft's that mean nothing to it, then these.
        val orders = Array(0, 1, 0xffff0002, 3 | random.nextInt(0x10000) << 16, 5 | random.nextInt() << 16, 0xcccc0001)
        for (function <- 1 until 6) {
          dut.io.hashKey.valid #= true
          dut.io.hashKey.function #= function
          dut.io.hashKey.word #= Rss.orderWord
          dut.io.hashKey.data #= (random.nextInt() & 0xfff8 | orders(function)) & 0xffffffffL
          dut.clockDomain.waitSampling()
          if (function > 1) for (word <- 0 until 10) {
            keys(function)(word) = random.nextInt().toLong & 0xffffffffL
            dut.io.hashKey.valid #= true
            dut.io.hashKey.function #= function
            dut.io.hashKey.word #= word
            dut.io.hashKey.data #= keys(function)(word)
            dut.clockDomain.waitSampling()
          }
          dut.io.hashKey.valid #= false
          for (i <- 0 until 128) {
            table(function)(i) = random.nextInt(2048)
            dut.io.indirection.valid #= true
            dut.io.indirection.function #= function
            dut.io.indirection.index #= i
            dut.io.indirection.queue #= table(function)(i)
            dut.clockDomain.waitSampling()
          }
          dut.io.indirection.valid #= false
        }

        case class Sent(bytes: Array[Int], port: Int, headerAt: Long)
        val frames = mutable.Queue[Sent]()
        var cycle = 0L
        var checked = 0
        val kinds = mutable.Set[HashType.E]()
        val results = mutable.Queue[(Long, Array[Int], Int)]() // cycle of the hash, frame, function
        def hashOf(frame: Array[Int], function: Int): Long = {
          val key = keys(function).toSeq
          if ((orders(function) & 1) == 1) RxFrames.microsoft(frame, key, orders(function))
          else RxFrames.hash(frame, key)
        }
        def checkHash(frame: Array[Int], function: Int): Unit = {
          assert(dut.io.hash.value.toLong == hashOf(frame, function), s"hash of frame $checked")
          val kind = RxFrames.hashType(frame, orders(function))
          assert(dut.io.hash.kind.toEnum == kind, s"kind of hash of frame $checked")
          kinds += dut.io.hash.kind.toEnum
        }
        dut.clockDomain.onSamplings {
          cycle += 1
          for ((at, frame, function) <- results.headOption if at == cycle) {
            checkHash(frame, function)
          }
          for ((at, frame, function) <- results.headOption if at == cycle - 1) {
            results.dequeue()
            val index = (hashOf(frame, function) & 127).toInt
            assert(dut.io.queue.toInt == table(function)(index), s"queue of frame $checked")
            checked += 1
            for ((at, frame, function) <- results.headOption if at == cycle) checkHash(frame, function)
          }
          if (dut.io.header.valid.toBoolean) {
            val sent = frames.dequeue()
            assert(cycle == sent.headerAt, "the header comes in the cycle after the beat that completes it")
            assert(dut.io.header.address.toBigInt == RxFrames.address(sent.bytes))
            assert(dut.io.header.vid.toInt == RxFrames.vid(sent.bytes))
            assert(dut.io.header.vlan.toBoolean == RxFrames.tagged(sent.bytes))
            assert(dut.io.header.port.toInt == sent.port && dut.io.header.length.toInt == sent.bytes.length)
            val function = random.nextInt(6)
            dut.io.function #= function
            results.enqueue((cycle + 1 + Rss.hashLatency, sent.bytes, function))
          }
        }

        val total = 3000
        for (n <- 0 until total) {
          val length = if (n < total / 2) 60 + random.nextInt(6) else 60 + random.nextInt(200)
          val frame = RxFrames.random(random, Seq.fill(6)(random.nextInt(256)), length)
          val port = random.nextInt(4)
          val beats = frame.grouped(bytes).toSeq
          val completes = beats.size.min((82 + bytes - 1) / bytes) - 1
          for ((beat, i) <- beats.zipWithIndex) {
            dut.io.beat.valid #= true
            dut.io.beat.last #= i == beats.size - 1
            val padded = beat.toSeq ++ Seq.fill(bytes - beat.length)(random.nextInt(256))
            dut.io.beat.fragment.data #= padded.zipWithIndex.map { case (byte, b) => BigInt(byte) << (8 * b) }.sum
            dut.io.beat.fragment.mty #= bytes - beat.size
            dut.io.beat.fragment.meta.port #= port
            dut.io.beat.fragment.meta.length #= length
            if (i == completes) frames.enqueue(Sent(frame, port, cycle + 2))
            dut.clockDomain.waitSampling()
          }
          if (n % 7 == 0) {
            dut.io.beat.valid #= false
            dut.clockDomain.waitSampling(1 + random.nextInt(3))
          }
        }
        dut.io.beat.valid #= false
        dut.clockDomain.waitSampling(20)
        assert(checked == total)
        assert(kinds.size == HashType.elements.size, kinds)
      }
    }

  /** Microsoft's "Verifying the RSS Hash Calculation": destination, source, ports, hash of the addresses, with the ports. */
  private val suite = Seq(
    ("161.142.100.80", 1766, "66.9.149.187", 2794, 0x323e8fc2L, 0x51ccc178L),
    ("65.69.140.83", 4739, "199.92.111.2", 14230, 0xd718262aL, 0xc626b0eaL),
    ("12.22.207.184", 38024, "24.19.198.95", 12898, 0xd2d0a5deL, 0x5c2b394aL),
    ("209.142.163.6", 2217, "38.27.205.30", 48228, 0x82989176L, 0xafc7327fL),
    ("202.188.127.2", 1303, "153.39.163.191", 44251, 0x5d1809c5L, 0x10e828a2L),
    ("3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x2cc18cd5L, 0x40207d3dL),
    ("ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0f0c461cL, 0xdde51bbfL),
    ("fe80::200:f8ff:fe21:67cf", 38024, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, 0x4b61e985L, 0x02d1feefL)
  )
  private val suiteKey = Seq(0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f,
    0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42,
    0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa)

  test("the hash agrees with Microsoft's verification suite") {
    val p = ShellParam(functions = 6)
    RomSim.config.compile(new RssPath(p)).doSim("suite", seed = 12) { dut =>
      dut.clockDomain.forkStimulus(4)
      dut.io.beat.valid #= false
      dut.io.indirection.valid #= false
      dut.io.function #= 5
      dut.clockDomain.waitSampling(4)
      val words = suiteKey.grouped(4).map(b => b.zipWithIndex.map { case (x, i) => x.toLong << 8 * i }.sum).toSeq
      for ((word, i) <- (words :+ 1L).zipWithIndex) {
        dut.io.hashKey.valid #= true
        dut.io.hashKey.function #= 5
        dut.io.hashKey.word #= i
        dut.io.hashKey.data #= word
        dut.clockDomain.waitSampling()
      }
      dut.io.hashKey.valid #= false
      def bytes(address: String) = java.net.InetAddress.getByName(address).getAddress.map(_ & 0xff).toSeq
      def port(number: Int) = Seq(number >> 8, number & 0xff)
      for ((to, toPort, from, fromPort, plain, withPorts) <- suite; protocol <- Seq(1, 6, 17)) {
        val addresses = bytes(from) ++ bytes(to)
        val ip =
          if (addresses.size == 8) Seq(8, 0, 0x45, 0, 0, 40, 1, 2, 0x40, 0, 64, protocol, 0, 0) ++ addresses
          else Seq(0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, protocol, 64) ++ addresses
        val frame = (Seq.fill(12)(2) ++ ip ++ port(fromPort) ++ port(toPort) ++ Seq.fill(40)(7)).take(64).toArray
        for ((beat, i) <- frame.grouped(32).toSeq.zipWithIndex) {
          dut.io.beat.valid #= true
          dut.io.beat.last #= i == 1
          dut.io.beat.fragment.data #= beat.zipWithIndex.map { case (byte, b) => BigInt(byte) << (8 * b) }.sum
          dut.io.beat.fragment.mty #= 0
          dut.io.beat.fragment.meta.port #= 0
          dut.io.beat.fragment.meta.length #= 64
          dut.clockDomain.waitSampling()
        }
        dut.io.beat.valid #= false
        dut.clockDomain.waitSampling(8)
        assert(dut.io.hash.value.toLong == (if (protocol == 1) plain else withPorts), s"$to from $from, $protocol")
        val kind = HashType.elements((if (addresses.size == 8) 1 else 4) + Seq(1, 6, 17).indexOf(protocol))
        assert(dut.io.hash.kind.toEnum == kind)
        assert(RxFrames.microsoft(frame, words) == dut.io.hash.value.toLong)
      }
    }
  }

  test("a known hash: only the lowest bit of the protocol set gives the key from bit 4 on") {
    val frame = Array.fill(60)(0)
    frame(12) = 8
    frame(14) = 0x45
    frame(23) = 1
    assert(RxFrames.hash(frame, Rss.defaultKey) == 0xed6e3141L)
  }
}
