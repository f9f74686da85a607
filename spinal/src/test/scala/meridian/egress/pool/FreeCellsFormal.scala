// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.{LongTest, Pdr}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The free cells with any user that takes what is on offer and gives what it has. Any one cell is followed. */
class FreeCellsProof(cells: Int) extends Component {
  val dut = FormalDut(new FreeCells(cells))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  for (signal <- Seq(io.take, io.keep, io.undo, io.give.valid)) anyseq(signal)
  anyseq(io.give.payload)
  val one = anyconst(UInt(dut.bits bits))

  // Where the cell is: taken for the open frame, or in use. Otherwise it is free.
  val open, used = RegInit(False)
  val opens = Reg(UInt(dut.bits + 1 bits)) init 0 // cells of the open frame
  val uses = Reg(UInt(dut.bits + 1 bits)) init 0 // and in use
  val taken = Mux(io.undo, U(0), opens) + io.take.asUInt
  val first = Reg(UInt(dut.bits bits)) // of the open frame
  val cell = Mux(io.undo, first, io.cell)
  when(io.take && (io.undo || opens === 0))(first := cell)
  val takes = io.take && cell === one
  val gives = io.give.valid && io.give.payload === one
  assume(!gives || used)
  assume(!io.give.valid || uses =/= 0)
  when(takes)(assert((!open || io.undo) && !used, "a cell is taken twice"))
  opens := Mux(io.keep, U(0), taken)
  uses := uses + Mux(io.keep, taken, U(0)) - io.give.valid.asUInt
  when(io.undo)(open := False)
  when(takes)(open := True)
  when(io.keep) {
    open := False
    used := used && !gives || open && !io.undo || takes
  } elsewhen (gives)(used := False)

  // After the filling, each cell is free, open or in use.
  val whole = Reg(UInt(dut.bits + 2 bits)) init 0
  when(whole =/= cells)(whole := whole + 1)
  assume(whole === cells || !io.give.valid)
  when(whole === cells)(assert(io.free + opens + uses === cells, "cells are lost or made"))
  val back = RegInit(False) setWhen gives
  cover(takes && back && uses === cells - 1)
  cover(io.undo && opens === cells - 1)
  cover(io.undo && takes && io.keep)
}

class FreeCellsFormal extends AnyFunSuite {
  test("no cell is taken twice, and free, open and used cells are all, for any run") {
    Pdr.prove(new FreeCellsProof(4))
  }
  test("the proof notices a cell that is lost when a frame is taken back", LongTest) {
    Pdr.catches(new FreeCellsProof(4), "(io_undo ? kept : ", "(io_undo ? (kept + 3'b001) : ", cycles = 20)
  }
}
