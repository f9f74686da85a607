// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.Proof
import spinal.core._
import spinal.core.formal._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** What AXI4 (ARM IHI 0022) asks of a master, as far as the PS port can offend against it. */
object AxiRules {

  /** Whole words, incrementing, inside a line of 128 bytes, and so inside a page of 4 KiB. */
  def burst(ax: Axi4Ax): Bool = {
    val last = ax.addr(PsAxi.lineBytesLog2 - 1 downto 3) +^ ax.len
    ax.size === 3 && ax.burst === B"01" && last < PsAxi.lineBeats
  }
  def burst(ax: Stream[_ <: Axi4Ax]): Bool = !ax.valid || burst(ax.payload)

  /** Counts up and down; what is outstanding. */
  def outstanding(begun: Bool, ended: Bool, bits: Int = 6): UInt = {
    val count = Reg(UInt(bits bits)) init 0
    count := count + U(begun) - U(ended)
    count
  }
}

/** Memory that answers reads: in any order of ids, at any time, each burst with the beats it asked for. All bursts of
  * an id are `beats` long.
  */
class ReadMemory(ar: Stream[Axi4Ar], r: Stream[Axi4R], beats: UInt) extends Area {
  anyseq(ar.ready)
  anyseq(r.valid)
  anyseq(r.payload)
  assume(Proof.holds(r))
  val open = AxiRules.outstanding(ar.fire, r.fire && r.last)
  val beat = Reg(cloneOf(beats)) init 0
  when(r.fire)(beat := Mux(r.last, U(0), beat + 1))
  assume(r.last === (beat === beats - 1))
  when(open === 0)(assume(!r.valid))
}

/** The order of write data: each burst on W is the next one on AW, or the one on offer there, and as long.
  *
  * @param depth addresses that may be ahead of their data
  */
class WriteOrder(aw: Stream[Axi4Aw], w: Stream[Axi4W], depth: Int) extends Area {
  val addresses = Vec(Reg(Axi4Aw(aw.config)), depth)
  val count = Reg(UInt(log2Up(depth + 1) bits)) init 0
  val beat = Reg(UInt(8 bits)) init 0
  val pops = w.fire && w.last
  when(w.fire)(beat := Mux(w.last, U(0), beat + 1))
  when(pops)(for (i <- 0 until depth - 1) addresses(i) := addresses(i + 1))
  when(aw.fire)(addresses((count - U(pops)).resize(log2Up(depth) bits)) := aw.payload)
  count := count + U(aw.fire) - U(pops)
  assume(count < depth)

  /** Address of the data on offer. */
  val address = Mux(count =/= 0, addresses(0), aw.payload)
  when(w.valid) {
    assert(count =/= 0 || aw.valid, "data has its address")
    assert(w.last === (beat === address.len), "last is on the last beat")
  }
}
