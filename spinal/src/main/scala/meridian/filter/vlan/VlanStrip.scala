// SPDX-License-Identifier: Apache-2.0
package meridian.filter.vlan

import meridian.ShellParam
import meridian.frame.{FrameStream, FrameWord}
import meridian.meta.{C2hMeta, RxTarget}
import spinal.core._
import spinal.lib._

/** Removes the 802.1Q tag (bytes 12 to 15) from the frames that are to lose it. All other frames pass unchanged.
  *
  * `next` is the beat behind the one at `in`, if it belongs to the same frame and is there. A beat of a frame that
  * loses its tag waits for the next one, and takes its first 4 bytes. If these were all bytes of the frame's last beat,
  * that beat disappears.
  *
  * Latency: 0 cycles. Throughput: one beat a cycle, with no bubble but that of a beat that disappears. Back-pressure
  * passes through.
  */
class VlanStrip(p: ShellParam) extends Component {
  val io = new Bundle {
    val in = slave(FrameStream(p.hostBytes, RxTarget(p, p.stampsAtHost)))
    val next = slave(Flow(Fragment(FrameWord(p.hostBytes, RxTarget(p, p.stampsAtHost)))))
    val out = master(FrameStream(p.hostBytes, C2hMeta(p, p.stampsAtHost)))
  }
  val target = io.in.fragment.meta
  val data = io.in.fragment.data
  val strip = target.strip
  val first = RegNextWhen(io.in.last, io.in.fire) init True
  val empty = RegInit(False) // the beat at hand has given away all its bytes
  // The next beat is the last and has 4 bytes at most.
  val absorbs = strip && !io.in.last && io.next.last && io.next.fragment.mty.dropLow(2).andR
  val whole = !strip || io.in.last || io.next.valid
  when(io.in.fire)(empty := absorbs)

  io.out.valid := io.in.valid && whole && !empty
  io.in.ready := empty || whole && io.out.ready
  io.out.last := io.in.last || absorbs
  val shifted = io.next.fragment.data(31 downto 0) ## data.dropLow(32)
  val firstShifted = shifted.dropLow(96) ## data(95 downto 0)
  io.out.fragment.data := Mux(strip, Mux(first, firstShifted, shifted), data)
  io.out.fragment.mty := (U(0) - target.length).resize(log2Up(p.hostBytes)).andMask(io.out.last)

  val tci = data(14 * 8, 8 bits) ## data(15 * 8, 8 bits) // the first byte on the wire above
  io.out.fragment.meta.function := target.function
  io.out.fragment.meta.queue := target.queue
  io.out.fragment.meta.length := target.length
  io.out.fragment.meta.hash := target.hash
  io.out.fragment.meta.stripped := target.told
  if (p.stampsAtHost) io.out.fragment.meta.stamp := target.stamp
  io.out.fragment.meta.tci := Mux(first, tci, RegNextWhen(tci, first && io.in.fire)).andMask(target.told)
}
