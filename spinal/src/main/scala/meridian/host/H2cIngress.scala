// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.qdma.H2cPins
import meridian.settings.QueueSwitchWrite
import spinal.core._
import spinal.lib._

/** Takes frames from the H2C stream of the QDMA IP. It relies only on the stream itself: `tuser_mdata` comes from the
  * descriptor, which the host wrote, and is passed on as a request. Metadata and queue are those of the first beat.
  *
  * If the stream does what it must not do, the frame in which it does so becomes an error frame, and the stream is
  * never stalled for it. These errors are `tuser_err`, empty bytes before the last beat, more empty bytes than a beat
  * has, a change of the queue inside a frame, and a beat of zero bytes that is not a frame of its own.
  *
  * Latency: 1 cycle. Throughput: one beat a cycle, no bubble between frames. Back-pressure passes through.
  */
class H2cIngress(p: ShellParam) extends Component {
  val io = new Bundle {
    val h2c = slave(Stream(H2cPins(p.hostBytes)))
    val switches = p.segmentation generate slave(Flow(QueueSwitchWrite(p)))
    val frames = master(FrameStream(p.hostBytes, H2cMeta(p)))
  }

  val pins = io.h2c.payload
  val first = RegInit(True)
  val queue = Reg(p.queueType())
  val request = Reg(Bits(H2cRequest.bits(p) bits))
  val broken = Reg(Bool())

  val whole = first && pins.tlast
  val tooEmpty = if (p.hostBytes < 64) pins.tuser_mty >= p.hostBytes else False
  val fault = pins.tuser_err ||
    !pins.tlast && pins.tuser_mty =/= 0 ||
    !pins.tuser_zero_byte && tooEmpty ||
    !first && pins.tuser_qid =/= queue ||
    pins.tuser_zero_byte && !whole
  val error = fault || !first && broken

  when(io.h2c.fire) {
    first := pins.tlast
    broken := error
    when(first) {
      queue := pins.tuser_qid
      request := pins.tuser_mdata.resized
    }
  }

  val frames = FrameStream(p.hostBytes, H2cMeta(p))
  frames.arbitrationFrom(io.h2c)
  frames.last := pins.tlast
  frames.data := pins.tdata
  frames.mty := pins.tuser_mty.resize(widthOf(frames.mty)).andMask(pins.tlast && !pins.tuser_zero_byte)
  frames.meta.queue := Mux(first, pins.tuser_qid, queue)
  frames.meta.request := Mux(first, pins.tuser_mdata.resize(H2cRequest.bits(p)), request)
  frames.meta.error := error
  frames.meta.zero := pins.tuser_zero_byte && whole
  val piped = frames.m2sPipe()
  if (p.segmentation) {
    frames.meta.segments := frames.meta.request(H2cRequest.segmentBytes.high downto H2cRequest.segmentBytes.low).orR
    frames.meta.more := False
    frames.meta.refused := False
    frames.meta.outer := !frames.meta.request(H2cRequest.insertVlan.low) &&
      frames.meta.request(H2cRequest.vlanTci.high downto H2cRequest.vlanTci.low).orR
    val allowed = Mem(Bool(), p.queues)
    allowed.write(io.switches.queue.resized, io.switches.transmitSegments, io.switches.valid)
    val mayAsk = allowed.readSync(frames.meta.queue.resized, frames.fire, readUnderWrite = readFirst)
    io.frames.arbitrationFrom(piped)
    io.frames.payload := piped.payload
    io.frames.meta.segments.allowOverride() := piped.meta.segments && mayAsk
    io.frames.meta.outer.allowOverride() := piped.meta.outer && mayAsk
  } else io.frames << piped
}
