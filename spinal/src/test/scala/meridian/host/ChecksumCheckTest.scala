// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

class ChecksumCheckTest extends AnyFunSuite {
  for (bytes <- Seq(32, 64))
    test(s"random packets, right and spoilt, have the model's verdicts, $bytes bytes a beat") {
      val p = ShellParam(hostBytes = bytes)
      SimConfig.compile(new ChecksumCheck(p)).doSim(seed = 41) { dut =>
        println("seed 41")
        val random = new Random(41)
        dut.clockDomain.forkStimulus(4)
        dut.io.beat.valid #= false
        dut.clockDomain.waitSampling(4)
        var cycle = 0L
        val due = mutable.Queue[(Long, Array[Int])]()
        val seen = mutable.Map[(Checksum.E, Checksum.E, L4Kind.E), Int]().withDefaultValue(0)
        dut.clockDomain.onSamplings {
          cycle += 1
          val now = due.headOption.exists(_._1 == cycle)
          assert(dut.io.verdict.valid.toBoolean == now, s"a verdict at cycle $cycle")
          if (now) {
            val frame = due.dequeue()._2
            val told = (dut.io.verdict.ip.toEnum, dut.io.verdict.l4.toEnum, dut.io.verdict.kind.toEnum)
            assert(told == IpFrames.verdict(frame), frame.map(b => f"$b%02x").mkString)
            seen(told) += 1
          }
        }
        val total = 6000
        for (n <- 0 until total) {
          val payload = if (n % 50 == 0) random.nextInt(9000) else random.nextInt(if (n % 2 == 0) 30 else 200)
          val frame = IpFrames.random(random, payload)
          val beats = frame.grouped(bytes).toSeq
          for ((beat, i) <- beats.zipWithIndex) {
            dut.io.beat.valid #= true
            dut.io.beat.last #= i == beats.size - 1
            val padded = beat.toSeq ++ Seq.fill(bytes - beat.length)(random.nextInt(256))
            dut.io.beat.fragment.data #= padded.zipWithIndex.map { case (byte, b) => BigInt(byte) << (8 * b) }.sum
            dut.io.beat.fragment.mty #= bytes - beat.size
            dut.io.beat.fragment.meta #= frame.length
            if (i == beats.size - 1) due.enqueue((cycle + 1 + ChecksumCheck.latency, frame))
            dut.clockDomain.waitSampling()
            if (random.nextInt(20) == 0) {
              dut.io.beat.valid #= false
              dut.io.beat.last #= random.nextBoolean()
              dut.clockDomain.waitSampling(1 + random.nextInt(3))
            }
          }
          dut.io.beat.valid #= false
        }
        dut.clockDomain.waitSampling(20)
        assert(due.isEmpty)
        println(seen.toSeq.map { case ((ip, l4, kind), n) => s"${kind.getName()} ${ip.getName()} ${l4.getName()} $n" })
        // A datagram that is not checked and one that is bad, over IPv4 and IPv6: every pair of verdicts that can be.
        assert(seen.size >= 12, seen)
      }
    }
}
