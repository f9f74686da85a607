// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.Pdr
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._

/** Any requests of both ports while they have room, and completions of those that are under way in any order. */
class CompletionRoomProof(limit: Int) extends Component {
  val dut = FormalDut(new CompletionRoom(limit))
  assumeInitial(ClockDomain.current.isResetActive)
  val ports = Seq(dut.io.descriptors, dut.io.payload)
  val open = ports.map { port =>
    for (flow <- Seq(port.asked, port.ended)) {
      anyseq(flow.valid)
      anyseq(flow.payload)
    }
    val under = RegInit(U(0, 10 bits))
    assume(!port.asked.valid || (port.hasRoom && port.asked.payload <= CompletionRoom.most))
    assume(!port.ended.valid || port.ended.payload <= under)
    val asked = port.asked.valid ? port.asked.payload | U(0, CompletionRoom.bits bits)
    val ended = port.ended.valid ? port.ended.payload | U(0, CompletionRoom.bits bits)
    under := under + asked - ended
    under
  }
  val (descriptors, payload) = (open(0), open(1))
  assert(descriptors + payload <= limit, "more completions may come than there is room for")
  assert(payload <= limit - CompletionRoom.most, "payload leaves no room for a read of descriptors")
  // Each has its turn at once.
  val moves = ports.flatMap(port => Seq(port.asked.valid, port.ended.valid)).reduce(_ || _)
  val isSteady = RegNext(!moves) init False
  private def hasTurn(port: RoomPort): Bool = port.hasRoom || (RegNext(port.hasRoom) init False)
  val free = descriptors + payload <= limit - CompletionRoom.most
  val mayHave = Seq(free || descriptors === 0, free && payload <= limit - 2 * CompletionRoom.most)
  for ((port, may) <- ports.zip(mayHave)) assert(!(isSteady && may) || hasTurn(port), "room is lost")
  // What the counters are, so that the proof goes from any cycle to the next.
  assert(dut.ofDescriptors.pull() === descriptors && dut.ofPayload.pull() === payload)
  cover(descriptors + payload === limit)
}

class CompletionRoomFormal extends AnyFunSuite {
  test("no more completions may come than there is room for, and a read of descriptors has its part, in any run") {
    Pdr.induction(new CompletionRoomProof(32), steps = 3, cycles = 16)
    Pdr.induction(new CompletionRoomProof(CompletionRoom.ofBlock - CompletionRoom.ofBuffers), steps = 3, cycles = 40)
  }
}
