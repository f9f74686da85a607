// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.C2hMeta
import meridian.qdma.{C2hPins, C2hStatusPins, CmptPins}
import meridian.queue.FlushPoint
import meridian.settings.QueueSwitchWrite
import spinal.core._
import spinal.lib._

/** Hands frames to the C2H stream of the QDMA IP, and one completion a frame to its completion stream.
  *
  * `frames.meta.length` must be the true length: the IP stops for good at a length that does not match the beats. Bytes
  * after the end of a frame go out as zero, so that no host sees what another's frame left behind. `ctrl_len`, `ctrl_qid`
  * and `ctrl_ecc` hold from the first beat to the last; `mty` is 0 before the last. `tcrc` is 0: the IP compares it only
  * into an error register, and neither forwards nor drops by it.
  *
  * A completion carries the running number of its frame among all the IP accepted, the first being 1, and may reach the
  * IP before the last beat does: the IP holds it back.
  *
  * A queue's completions have 8 bytes, or 16 if `switches` says so; every queue has to be written after a reset.
  *
  * The completion leaves ChecksumCheck.latency + 3 cycles after the frame's last beat, with the verdicts on its checksums.
  *
  * Latency 1 cycle, one beat a cycle, no bubble between frames. Both directions of every handshake are registered. A
  * stalled completion channel stops the data once `completionDepth` completions wait.
  */
class C2hEgress(p: ShellParam, completionDepth: Int = 32) extends Component {
  val io = new Bundle {
    val frames = slave(FrameStream(p.hostBytes, C2hMeta(p)))
    val c2h = master(Stream(C2hPins(p.hostBytes)))
    val cmpt = master(Stream(CmptPins()))
    val status = slave(Flow(C2hStatusPins()))
    val switches = slave(Flow(QueueSwitchWrite(p)))

    /** Pulses for the counters: a frame taken by the IP, dropped by it, or met by a bad descriptor. */
    val accepted, dropped, failed = out Bool ()

    /** Asks when every frame taken before it, and its completion, has been taken by the IP; `flushed` answers with a
      * pulse.
      */
    val flush = in Bool ()
    val flushed = out Bool ()
  }

  val completion = new Completion(p, completionDepth)
  completion.io.cmpt >> io.cmpt
  completion.io.switches << io.switches
  val check = new ChecksumCheck(p)
  completion.io.verdicts << check.io.verdict

  // Not for the last beat alone: which beat is the last is known late, and whether one is taken reaches far back.
  val frames = io.frames.haltWhen(!completion.io.entries.ready)
  val meta = io.frames.meta
  val rest = meta.length(log2Up(p.hostBytes) - 1 downto 0) // bytes in the last beat, 0 for a full one

  val pins = C2hPins(p.hostBytes)
  for ((to, i) <- pins.tdata.subdivideIn(8 bits).zipWithIndex) {
    val beyond = if (i == p.hostBytes - 1) True else rest <= i
    val pad = io.frames.last && rest =/= 0 && beyond
    to := io.frames.data(8 * i, 8 bits).andMask(!pad)
  }
  pins.tcrc := 0
  pins.tlast := io.frames.last
  pins.mty := Mux(io.frames.last, U(0) - rest, U(0)).resized
  pins.ctrl_marker := False
  pins.ctrl_port_id := 0
  pins.ctrl_len := meta.length
  pins.ctrl_qid := meta.queue
  pins.ctrl_has_cmpt := True
  pins.ctrl_ecc := CtrlEcc(CtrlEcc.word(pins))
  io.c2h << frames.translateWith(pins).s2mPipe().m2sPipe()

  check.io.beat.valid := frames.fire
  check.io.beat.last := frames.last
  check.io.beat.fragment.data := frames.fragment.data
  check.io.beat.fragment.mty := frames.fragment.mty
  check.io.beat.fragment.meta := meta.length

  val packet = RegInit(U(1, 16 bits))
  val entry = completion.io.entries
  entry.valid := frames.fire && frames.last
  entry.payload.queue := meta.queue
  entry.payload.length := meta.length
  entry.payload.packet := packet
  entry.payload.hash := meta.hash
  entry.payload.stripped := meta.stripped
  entry.payload.tci := meta.tci
  when(entry.fire)(packet := packet + 1)

  val flushing = new Area {
    val frames = new FlushPoint(3)
    frames.io.end := io.c2h.fire && io.c2h.tlast
    val completions = new FlushPoint(log2Up(completionDepth) + 2)
    completions.io.end := io.cmpt.fire
    for (point <- Seq(frames, completions)) point.io.begin := entry.fire
    io.flushed := FlushPoint.all(io.flush, frames, completions)
  }

  io.accepted := RegNext(io.c2h.fire && io.c2h.tlast) init False
  // The IP reports each descriptor of a frame; only the last of them ends a frame.
  io.dropped := RegNext(io.status.valid && io.status.last && io.status.drop) init False
  io.failed := RegNext(io.status.valid && io.status.last && io.status.error) init False
}
