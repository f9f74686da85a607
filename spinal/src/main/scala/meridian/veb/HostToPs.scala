// SPDX-License-Identifier: Apache-2.0
package meridian.veb

import meridian.ShellParam
import meridian.frame._
import meridian.mac.PsFirst
import meridian.meta.{PsRxMeta, TxCopy}
import spinal.core._
import spinal.lib._

/** Stores frames of functions for the PS of a port in a buffer of their own (p.vebBufferBytes), and joins them with
  * those of the wire. A frame that finds no room is lost, and reported at `lost` with its last beat.
  *
  * The frames of the wire go first whenever a frame begins, so one of them waits for at most one from inside, whatever
  * the host sends. Frames from inside are padded to the smallest frame of the wire and have no timestamp.
  *
  * Latency: 1 cycle for frames of the wire; 5 cycles of ps and the phase of the clocks from a copy's last beat.
  * Throughput: one beat a cycle, no bubble between frames of the wire. Back-pressure at rx never reaches `copy`.
  */
class HostToPs(p: ShellParam, port: Int, hostCd: ClockDomain, psCd: ClockDomain) extends Component {
  val io = new Bundle {

    /** Host clock. */
    val copy = slave(Flow(Fragment(TxCopy(p))))
    val lost = out Bool ()

    /** Ps clock. */
    val wire = slave(FrameStream(p.psBytes, PsRxMeta(p)))
    val rx = master(FrameStream(p.psBytes, PsRxMeta(p)))
    val idle = out Bool ()
  }
  val words = p.vebBufferBytes / p.hostBytes
  val buffer = new PacketBuffer(p.hostBytes, p.vebBufferBytes, HardType(new NoData), words, hostCd, psCd)

  val host = hostCd on new Area {
    val dropper = new FrameDropper(p.hostBytes, HardType(new NoData))
    dropper.io.input.valid := io.copy.valid && io.copy.toPs && io.copy.port === port
    dropper.io.input.last := io.copy.last
    dropper.io.input.data := io.copy.data
    dropper.io.input.mty := io.copy.mty
    dropper.io.drop := io.copy.drop
    dropper.io.up := buffer.io.up
    buffer.io.push << dropper.io.push
    buffer.io.abort := dropper.io.abort
    buffer.io.drop := False
    io.lost := dropper.io.lost
  }

  val ps = psCd on new Area {
    val downsizer = new FrameDownsizer(p.hostBytes, p.psBytes, PsRxMeta(p))
    val stored = buffer.io.pop
    downsizer.io.input.arbitrationFrom(stored)
    downsizer.io.input.last := stored.last
    downsizer.io.input.data := stored.data
    downsizer.io.input.mty := stored.mty
    val meta = downsizer.io.input.meta
    meta.length := stored.length.max(p.minFrame)
    meta.timestamp.assignFromBits(B(0, widthOf(meta.timestamp) bits))
    meta.timestampValid := False
    meta.inside := True
    meta.bulk := False // bounded more narrowly for where it comes from
    val padder = new FramePadder(p.psBytes, p.minFrame, PsRxMeta(p))
    padder.io.input << downsizer.io.output
    val merge = new PsFirst(io.rx.fragmentType)
    merge.io.ps << io.wire
    merge.io.host << padder.io.output
    // That the DMA cannot take a beat is known late: it must not reach the pointers of the buffers.
    io.rx << merge.io.chosen.m2sPipe().s2mPipe()
    io.idle := buffer.io.idle && !padder.io.output.valid && !io.rx.valid
  }
}
