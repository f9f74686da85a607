// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.{LongTest, Pdr}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any requests while their port has room, and completions of those that are under way in any order. */
class CompletionRoomProof(hasMemory: Boolean, hasCommands: Boolean = false) extends Component {
  import CompletionRoom.{limit, most, ofBufferRead}
  val dut = FormalDut(new CompletionRoom(hasMemory, hasCommands))
  assumeInitial(ClockDomain.current.isResetActive)
  val ports = Seq(dut.io.descriptors -> most, dut.io.payload -> most, dut.io.buffers -> ofBufferRead) ++
    Option(dut.io.memory).map(_ -> most) ++ Option(dut.io.commands).map(_ -> most)
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
  val Seq(descriptors, payload, buffers) = open.take(3)
  val options = open.drop(3) // of memory-mapped queues and of commands, if there are any
  private def atLeast(used: UInt, least: Int) = (used < least) ? U(least, 10 bits) | used
  val all = options.foldLeft(descriptors + payload + buffers)(_ + _)
  val taken = options
    .map(atLeast(_, most))
    .foldLeft(atLeast(descriptors, most) + payload + atLeast(buffers, ofBufferRead))(_ + _)
  assert(all <= limit, "more completions may come than there is room for")
  assert(taken <= limit, "a read of descriptors has not its part")
  // Each has its turn within as many cycles, if nothing moves meanwhile and in the cycles before.
  private val round = if (hasMemory) 8 else 4
  val moves = ports.flatMap { case (port, _) => Seq(port.asked.valid, port.ended.valid) }.reduce(_ || _)
  val still = Reg(UInt(4 bits)) init 0 // cycles
  still := moves ? U(0, 4 bits) | (still + (!still.andR).asUInt)
  private def hadTurn(port: RoomPort): Bool = {
    val recent = Reg(Bits(round - 1 bits)) init 0
    recent := recent(round - 3 downto 0) ## port.hasRoom
    port.hasRoom || recent.orR
  }
  val may = Seq(
    taken <= limit - most || descriptors === 0,
    taken <= limit - most,
    taken <= limit - ofBufferRead || buffers === 0
  ) ++ options.map(taken <= limit - most || _ === 0)
  for (((port, _), may) <- ports.zip(may)) {
    assert(!(still >= round && may) || hadTurn(port), "room is lost")
    assert(!port.hasRoom || may, "a port has room that another has")
  }
  // What the counters and turns are, so that the proof goes from any cycle to the next.
  val turn = dut.turn.pull()
  private val (ofPayload, ofCommands) = (turn(1 downto 0) === 2, turn(1 downto 0) === 0)
  private val turns = Seq(turn(1 downto 0) === 1, if (hasCommands) ofPayload else !turn(0), turn === 3) ++
    (if (hasMemory) Seq(turn === turn.maxValue) else Nil) ++ (if (hasCommands) Seq(ofCommands) else Nil)
  for (((port, _), isIts) <- ports.zip(turns)) assert(!port.hasRoom || isIts)
  for ((counter, of) <- (Option(dut.ofMemory) ++ Option(dut.ofCommands)).zip(options)) assert(counter.pull() === of)
  assert(dut.ofDescriptors.pull() === descriptors && dut.ofPayload.pull() === payload)
  assert(dut.ofBuffers.pull() === buffers)
  cover(all === limit)
}

class CompletionRoomFormal extends AnyFunSuite {
  test("no more completions may come than there is room for, and a read of descriptors has its part, in any run") {
    Pdr.induction(new CompletionRoomProof(hasMemory = false), steps = 6, cycles = 80)
  }

  test("no more completions may come than there is room for with memory-mapped queues") {
    Pdr.induction(new CompletionRoomProof(hasMemory = true), steps = 10, cycles = 80)
  }

  test("no more completions may come than there is room for with commands of the card's own logic") {
    Pdr.induction(new CompletionRoomProof(hasMemory = false, hasCommands = true), steps = 6, cycles = 80)
  }

  test("no more completions may come than there is room for with memory-mapped queues and commands", LongTest) {
    Pdr.induction(new CompletionRoomProof(hasMemory = true, hasCommands = true), steps = 10, cycles = 80)
  }
}
