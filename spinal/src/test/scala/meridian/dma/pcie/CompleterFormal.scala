// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.dma.engine.CqDecoder
import meridian.dma.DmaParam
import meridian.{Pdr, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any requests, of up to 5 double words that are read, and registers that take any time. */
class CqDecoderProof extends Component {
  val dut = FormalDut(new CqDecoder(DmaParam(vfs = Seq(1, 0, 0, 0), queues = 16)))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  Proof.drive(io.cq)
  anyseq(io.header.ready)
  anyseq(io.access.ready)
  anyseq(io.busy)
  val starts = Proof.starts(io.cq)
  val arriving = RequestDescriptor(io.cq.data)
  assume(!io.cq.valid || io.cq.sop === starts)
  assume(!(io.cq.valid && starts) || arriving.dwords <= 5)

  val isPosted = RequestKind.posted.map(arriving.kind === _).orR
  val owed = RegInit(False) // an answer
  val tag = Reg(Bits(8 bits))
  val left = RegInit(U(0, 11 bits)) // words that are still to be read
  val waited = Reg(UInt(3 bits)) init 0
  when(io.cq.fire && starts) {
    assert(!owed, "a request is not answered before the next one")
    assert(left === 0, "words are not read before the next request")
    owed := !isPosted
    tag := arriving.tag
    waited := 0
  }
  when(io.header.valid) {
    assert(owed, "an answer that nobody waits for")
    assert(RequestDescriptor(io.header.request).tag === tag)
    assert(io.header.unsupported === (io.header.dwords === 0))
    when(io.header.ready) {
      owed := False
      left := io.header.dwords
    }
  }
  when(owed && !io.header.valid) {
    waited := waited + 1
    assert(waited <= 2, "an answer waits for something")
  }
  when(io.access.valid && !io.access.write) {
    assert(left =/= 0 && !owed, "a word is read that was not asked for")
    when(io.access.ready)(left := left - 1)
  }
  cover(io.header.fire && io.header.unsupported)
  cover(io.access.fire && !io.access.write && left === 1)
  cover(io.access.fire && io.access.write)
}

/** Any headers of up to 5 double words, any values, and a block that takes completions at any time. */
class CcEncoderProof extends Component {
  val dut = FormalDut(new CcEncoder)
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  Proof.drive(io.header)
  Proof.drive(io.value)
  anyseq(io.cc.ready)
  assume(!io.header.valid || io.header.unsupported === (io.header.dwords === 0))
  assume(!io.header.valid || io.header.dwords <= 5)

  val busy, unsupported = RegInit(False) // a request is not wholly answered
  val tag = Reg(Bits(8 bits))
  val left = Reg(UInt(11 bits)) init 0 // words that are still to be answered
  val values = Reg(UInt(11 bits)) init 0 // that have come and not been sent
  val starts = Proof.starts(io.cc)
  val dwords = io.cc.data(42 downto 32).asUInt
  val stalled = RegNext(io.cc.isStall) init False
  assert(!stalled || io.cc.valid, "a completion has a gap")
  when(io.cc.valid)(assert(busy, "a completion without a request"))
  when(io.cc.fire && starts) {
    assert(io.cc.data(71 downto 64) === tag)
    assert((io.cc.data(45 downto 43) === 1) === unsupported)
    assert(dwords === values && dwords <= left, "not the words that have come")
    assert(unsupported || dwords =/= 0)
    values := 0
    left := left - dwords
    when(left === dwords)(busy := False)
  }
  when(io.value.fire)(values := values + 1)
  when(io.header.fire) {
    assert(!busy && left === 0 && starts, "the answer before is not whole")
    busy := True
    unsupported := io.header.unsupported
    tag := RequestDescriptor(io.header.request).tag
    left := io.header.dwords
  }
  cover(io.cc.fire && unsupported)
  cover(io.cc.fire && starts && !unsupported && left =/= dwords) // one of two
}

class CompleterFormal extends AnyFunSuite {
  test("each request that is not posted gives one header with its tag, soon, and a posted one none, for any run") {
    Pdr.prove(new CqDecoderProof, reduce = true)
  }
  test("each header gives completions with its tag for as many words as it says, or one that refuses, 24 cycles") {
    Pdr.bounded(new CcEncoderProof, cycles = 24, seconds = 60)
  }
}
