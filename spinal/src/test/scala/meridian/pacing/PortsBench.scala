// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.ShellParam
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** The pacer with the transmit buffers of the ports behind the one stream: a frame whose port is full holds up all that
  * follow. Each port sends `speed` bytes a cycle, preamble and gap included, of whole frames. What the pacer sees of a
  * buffer is some cycles old.
  */
class PortsBench(p: ShellParam, dut: Pacer, random: Random, trip: Int = 500) extends PacerBench(p, dut, random, trip) {
  private case class Beat(port: Int, bytes: Int, paced: Boolean, last: Boolean)
  private class Port {
    val frames = mutable.Queue[(Int, Boolean)]() // beats, paced; whole ones
    var beats, paced, writing = 0
    var budget = 0.0
    var bytes = 0L // that went out, with all that a frame costs on the wire
    var left = 0
    val seen = mutable.Queue.fill(8)(0)
  }
  val speed = Array.fill(p.ports)(12.5) // 25 Gb/s
  private val ports_ = Array.fill(p.ports)(new Port)
  private val filter = mutable.Queue[Beat]()
  private var current: Option[(Int, Int, Int)] = None // queue, bytes left of the frame, and of segments behind it
  private var unpaced = Set[Int]()
  var segment = 1514 // bytes of a frame that is cut, with its headers
  var refuses = Set[Int]() // queues whose frames are refused: a beat stands for each
  private var taken = 0 // bytes of the frame at hand
  var drops = Set[Int]() // ports that drop all that comes
  var stalled = 0 // cycles in which a frame of a paced queue waited at the head of the stream for its port

  /** Cycles of the wire that each port was busy, in bytes. */
  def wire: Seq[Long] = ports_.map(_.bytes).toSeq

  /** A queue of a public driver: the DMA engine fetches from it whenever its turn comes. */
  def flood(queue: Int, function: Int)(size: => Int): Unit = {
    val q = queues(queue)
    q.function = function
    q.size = () => size
    q.granted = Long.MaxValue
    unpaced += queue
    granted += queue
  }

  override protected def engine(): Unit = if (under < PortsBench.readAhead) super.engine()

  override protected def beat(): Unit = {
    arrive()
    for ((port, i) <- ports_.zipWithIndex) {
      drain(port, i)
      port.seen += port.paced
      dut.io.buffered(i) #= port.seen.dequeue()
    }
    store()
    dut.io.frames.valid #= false
    if (current.isEmpty && stream.nonEmpty) {
      val (queue, size) = stream.dequeue()
      under -= size
      taken = size
      current = Some(if (refuses(queue)) (queue, p.hostBytes, 0) else first(queue, size))
    }
    for ((queue, left, rest) <- current if filter.size < 40) {
      val now = left min p.hostBytes
      val (function, last) = (queues(queue).function, now == left)
      filter += Beat(ports(function), now, !unpaced(queue), last)
      dut.io.frames.valid #= true
      dut.io.frames.last #= last
      dut.io.frames.mty #= p.hostBytes - now
      dut.io.frames.meta.queue #= queue
      dut.io.frames.meta.zero #= false
      bytes(function) += now
      if (p.segmentation) {
        dut.io.frames.meta.more #= rest > 0
        dut.io.frames.meta.refused #= refuses(queue)
        if (refuses(queue)) dut.io.frames.data #= taken / p.hostBytes
      }
      if (last) frames(function) += 1
      current = if (last) Option.when(rest > 0)(first(queue, rest)) else Some((queue, left - now, rest))
    }
  }

  /** A frame longer than any that is sent comes as segments. */
  private def first(queue: Int, size: Int): (Int, Int, Int) = {
    val now = if (size > p.maxFrame) size min segment else size
    if (p.segmentation) (queue, now, size - now) else (queue, size, 0)
  }

  private def store(): Unit = for (beat <- filter.headOption) {
    val port = ports_(beat.port)
    if (drops(beat.port)) filter.dequeue()
    else if (port.beats < p.txBufferBytes / p.hostBytes - 2) {
      filter.dequeue()
      port.beats += 1
      port.writing += 1
      if (beat.paced) port.paced += 1
      if (beat.last) {
        port.frames += ((port.writing, beat.paced))
        port.writing = 0
      }
    } else if (beat.paced) stalled += 1
  }

  private def drain(port: Port, index: Int): Unit = {
    if (port.frames.isEmpty) port.budget = 0
    else port.budget += speed(index)
    while (port.frames.nonEmpty && port.budget >= p.hostBytes) {
      val (beats, paced) = port.frames.head
      port.beats -= 1
      if (paced) port.paced -= 1
      port.bytes += p.hostBytes
      port.budget -= p.hostBytes
      if (beats == 1) {
        port.frames.dequeue()
        port.budget -= PortsBench.overhead
        port.bytes += PortsBench.overhead
      } else port.frames(0) = (beats - 1, paced)
    }
  }
}

object PortsBench {

  /** FCS, preamble and gap of a frame. */
  val overhead = 24

  /** Bytes that the DMA engine asks the host for before they may go on. */
  val readAhead = 32 * 1024
}
