// SPDX-License-Identifier: Apache-2.0
package meridian.filter.vlan

import meridian.ShellParam
import meridian.meta.{TxDecision, TxVerdict}
import spinal.core._
import spinal.lib._

/** A beat that waits for the decision on its frame. */
case class TxWord(p: ShellParam) extends Bundle {
  val data = Bits(8 * p.hostBytes bits)
  val mty = UInt(log2Up(p.hostBytes) bits)
  val error = Bool() // final with last
  val zero = Bool()
}

/** A beat as it may go out, with the decision on its frame. */
case class TxBeat(p: ShellParam) extends Bundle {
  val data = Bits(8 * p.hostBytes bits)
  val mty = UInt(log2Up(p.hostBytes) bits)
  val over = Bool() // with this beat the frame is longer than the largest one
  val error = Bool() // final with last
  val zero = Bool()
  val decision = TxDecision(p)
}

/** Joins beats with decisions, and inserts an 802.1Q tag behind the addresses of the frames that get one and are sent.
  * Such a frame gets one more beat if its last beat has no room for 4 bytes.
  *
  * Latency: 1 cycle. Throughput: one beat a cycle, no bubble between frames. Both directions of the handshake are
  * registered.
  */
class VlanInsert(p: ShellParam) extends Component {
  val io = new Bundle {
    val words = slave(Stream(Fragment(TxWord(p))))
    val decisions = slave(Stream(TxDecision(p)))
    val beats = master(Stream(Fragment(TxBeat(p))))
  }
  val word = io.words.payload
  val first = RegInit(True)
  val held = RegNextWhen(io.decisions.payload, io.decisions.fire)
  val decision = Mux(first, io.decisions.payload, held)
  val known = !first || io.decisions.valid
  val insert = decision.tag.insert && decision.verdict === TxVerdict.sent

  val beats = Stream(Fragment(TxBeat(p)))
  val spilt = RegInit(False) // all of the last word is out but its last bytes
  val spills = word.last && insert && word.mty.dropLow(2) === 0 && !spilt
  beats.valid := io.words.valid && known
  io.words.ready := beats.ready && known && !spills
  io.decisions.ready := io.words.fire && first
  when(io.words.fire)(first := word.last)
  when(beats.fire)(spilt := spills)

  val carry = RegNextWhen(word.data.takeHigh(32), beats.fire)
  val tci = decision.tag.tci
  val tag = tci(7 downto 0) ## tci(15 downto 8) ## B(0x0081, 16 bits) // the first byte on the wire below
  val shifted = word.data.dropHigh(32) ## carry
  val tagged = word.data.dropHigh(32).dropLow(96) ## tag ## word.data.take(96)
  beats.last := word.last && !spills
  beats.data := Mux(insert, Mux(first && !spilt, tagged, shifted), word.data)
  beats.mty := word.mty
  when(insert)(beats.mty := (word.mty - 4).andMask(word.last && !spills))
  beats.error := word.error
  beats.zero := word.zero
  beats.decision := decision

  /** Beats of the frame before this one; stops where nothing more depends on it. */
  val length = new Area {
    val fullBeats = p.maxFrame / p.hostBytes
    val rest = p.maxFrame % p.hostBytes
    val before = Reg(UInt(log2Up(fullBeats + 2) bits)) init 0
    val atLimit = before === fullBeats
    val beyond = before === fullBeats + 1
    when(beats.fire) {
      when(beats.last)(before := 0) elsewhen (!beyond)(before := before + 1)
    }
    beats.over := beyond || atLimit && (if (rest == 0) True else !beats.last || beats.mty < p.hostBytes - rest)
  }

  io.beats << beats.s2mPipe().m2sPipe()
}
