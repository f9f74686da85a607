// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import meridian.host.{Cycles, FrameSource, StreamSink}
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable

class FramePadderTest extends AnyFunSuite {
  for (width <- Seq(8, 32, 64)) {
    lazy val built = SimConfig.compile(new FramePadder(width, 60, HardType(UInt(16 bits))))

    test(s"$width bytes: frames come out whole, with zeros up to 60 bytes and behind their end") {
      for ((pace, i) <- paces.zipWithIndex) built.doSim(s"frames$i", 500 + i) { dut =>
        val cd = clocked(dut)
        val source = new FrameSource(dut.io.input, cd)
        val sent = mutable.Queue[(Array[Byte], Int)]()
        val beat = mutable.ArrayBuffer[Byte]()
        var frames = 0
        val sink = new StreamSink(dut.io.output, cd)({ word =>
          val (frame, meta) = sent.head
          assert(word.fragment.meta.toInt == meta)
          beat ++= toBytes(word.fragment.data.toBigInt, width)
          if (word.last.toBoolean) {
            val right = frame.toSeq.padTo(60, 0.toByte)
            assert(beat.dropRight(word.fragment.mty.toInt) == right, s"a frame of ${frame.length} bytes")
            assert(beat.drop(right.size).forall(_ == 0))
            beat.clear()
            sent.dequeue()
            frames += 1
          } else assert(word.fragment.mty.toInt == 0)
        })
        source.pace(paces((i + 1) % paces.size))
        sink.pace(pace)
        for (n <- 0 until 400) {
          val frame = randomBytes(if (n < 140) 1 + n else 1 + simRandom.nextInt(200))
          sent.enqueue((frame, n))
          source.send(frame)((meta, _) => meta #= n)
        }
        waitFor(cd, "the last frame")(frames == 400)
      }
    }

    test(s"$width bytes: frames of 60 bytes and more follow each other without a bubble") {
      built.doSim("speed", 510) { dut =>
        val cd = clocked(dut)
        val cycles = new Cycles(cd)
        val source = new FrameSource(dut.io.input, cd)
        val at = mutable.ArrayBuffer[Long]()
        new StreamSink(dut.io.output, cd)(_ => at += cycles.now)
        for (n <- 0 until 50) source.send(randomBytes(60 + n))((meta, _) => meta #= n)
        waitFor(cd, "the last beat")(at.size == (60 until 110).map(n => (n + width - 1) / width).sum)
        assert(at.last - at.head == at.size - 1)
      }
    }
  }
}
