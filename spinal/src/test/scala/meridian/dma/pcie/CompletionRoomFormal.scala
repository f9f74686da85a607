// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.Pdr
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any requests while their port has room, and completions of those that are under way in any order. */
class CompletionRoomProof extends Component {
  import CompletionRoom.{limit, most, ofBufferRead}
  val dut = FormalDut(new CompletionRoom)
  assumeInitial(ClockDomain.current.isResetActive)
  val ports = Seq(dut.io.descriptors -> most, dut.io.payload -> most, dut.io.buffers -> ofBufferRead)
  val open = ports.map { case (port, least) =>
    for (flow <- Seq(port.asked, port.ended)) {
      anyseq(flow.valid)
      anyseq(flow.payload)
    }
    val under = RegInit(U(0, 10 bits))
    assume(!port.asked.valid || (port.hasRoom && port.asked.payload <= least))
    assume(!port.ended.valid || port.ended.payload <= under)
    val asked = port.asked.valid ? port.asked.payload | U(0, CompletionRoom.bits bits)
    val ended = port.ended.valid ? port.ended.payload | U(0, CompletionRoom.bits bits)
    under := under + asked - ended
    under
  }
  val Seq(descriptors, payload, buffers) = open
  private def atLeast(used: UInt, least: Int) = (used < least) ? U(least, 10 bits) | used
  val all = descriptors + payload + buffers
  val taken = atLeast(descriptors, most) + payload + atLeast(buffers, ofBufferRead)
  assert(all <= limit, "more completions may come than there is room for")
  assert(taken <= limit, "a read of descriptors has not its part")
  // Each has its turn within four cycles, if nothing moves meanwhile and in the cycles before.
  val moves = ports.flatMap { case (port, _) => Seq(port.asked.valid, port.ended.valid) }.reduce(_ || _)
  val still = Reg(UInt(3 bits)) init 0 // cycles
  still := moves ? U(0, 3 bits) | (still + (!still.andR).asUInt)
  private def hadTurn(port: RoomPort): Bool = {
    val recent = Reg(Bits(3 bits)) init 0
    recent := recent(1 downto 0) ## port.hasRoom
    port.hasRoom || recent.orR
  }
  val may = Seq(
    taken <= limit - most || descriptors === 0,
    taken <= limit - most,
    taken <= limit - ofBufferRead || buffers === 0
  )
  for (((port, _), may) <- ports.zip(may)) {
    assert(!(still >= 4 && may) || hadTurn(port), "room is lost")
    assert(!port.hasRoom || may, "a port has room that another has")
  }
  // What the counters and turns are, so that the proof goes from any cycle to the next.
  val turn = dut.turn.pull()
  for (((port, _), isIts) <- ports.zip(Seq(turn === 1, !turn(0), turn === 3))) assert(!port.hasRoom || isIts)
  assert(dut.ofDescriptors.pull() === descriptors && dut.ofPayload.pull() === payload)
  assert(dut.ofBuffers.pull() === buffers)
  cover(all === limit)
}

class CompletionRoomFormal extends AnyFunSuite {
  test("no more completions may come than there is room for, and a read of descriptors has its part, in any run") {
    Pdr.induction(new CompletionRoomProof, steps = 6, cycles = 80)
  }
}
