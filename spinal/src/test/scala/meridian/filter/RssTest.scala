// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.frame.FrameWord
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
    test(s"hash, queue and header of random frames, $bytes bytes a beat, no bubble") {
      val p = ShellParam(hostBytes = bytes, functions = 6)
      SimConfig.compile(new RssPath(p)).doSim(seed = 11) { dut =>
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
        for (function <- 1 until 6) {
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
        def checkHash(frame: Array[Int], function: Int): Unit = {
          assert(dut.io.hash.value.toLong == RxFrames.hash(frame, keys(function).toSeq), s"hash of frame $checked")
          assert(dut.io.hash.kind.toEnum == RxFrames.hashType(frame), s"kind of hash of frame $checked")
          kinds += dut.io.hash.kind.toEnum
        }
        dut.clockDomain.onSamplings {
          cycle += 1
          for ((at, frame, function) <- results.headOption if at == cycle) {
            checkHash(frame, function)
          }
          for ((at, frame, function) <- results.headOption if at == cycle - 1) {
            results.dequeue()
            val index = (RxFrames.hash(frame, keys(function).toSeq) & 127).toInt
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
            results.enqueue((cycle + 3, sent.bytes, function))
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
        assert(kinds.size == 4, kinds)
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
