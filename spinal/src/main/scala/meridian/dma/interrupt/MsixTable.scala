// SPDX-License-Identifier: Apache-2.0
package meridian.dma.interrupt

import meridian.dma.{DmaParam, InterruptRequest, RegPort}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** A message of a vector, which is a write of 4 bytes. */
case class MsixMessage() extends Bundle {
  val function = DmaParam.functionType()
  val vector = UInt(5 bits)
  val address = UInt(64 bits)
  val data = Bits(32 bits)
}

object MsixTable {

  /** Where software finds the two in BAR0 of a PF and of a VF; the pending bits take 8 bytes. */
  val pfTable = 0x30000
  val pfPending = 0x34000
  val vfTable = 0x4000
  val vfPending = 0x4800

  /** Where [[MsixTable]] has the pending bits at its port. */
  val pendingAt = 0x800
  val pendingBytes = 8
}

/** The MSI-X table and the pending bits of all functions (PCI Express Base Specification, "MSI-X Capability and Table
  * Structures"), which the integrated block leaves to its user (PG213, "MSI-X External").
  *
  * An interrupt that is asked for sets its vector's pending bit. The message is sent, and the bit cleared, when the
  * vector is not masked, its function is allowed to, and the sender takes it; so what is asked for never waits for RQ,
  * and is sent once if it is asked for again meanwhile. A vector that the table has not is not looked at. A message
  * whose pending bit is cleared is shown as pending until it has left the sender.
  *
  * One operation at a time: 2 cycles for an access, which comes first, but not twice while others wait, and so waits 5
  * more at most; 2 for an interrupt and 3 more for its message, which is on RQ 5 cycles after it was asked for if
  * nothing is under way, and 7 cycles after the vector is unmasked or its function allowed. Functions have their turns
  * one by one, and so have the vectors of each. The turn behind an interrupt is its function's, unless others wait:
  * then each second turn at least is theirs, in their order, however the sender's readiness falls. A message takes up
  * to 7 cycles in all, more than 35 million a second while nobody accesses the table, and 11 cycles while somebody does
  * all the time.
  *
  * `drain` takes 2 cycles: it clears a function's pending bits, and while PCIe resets it masks its vectors. Address and
  * data stay, as PCIe leaves them undefined. A VF that is taken away loses its pending bits and has its vectors masked
  * in the same way, in 2 cycles. While others wait, such VFs have at most every second turn. After reset all vectors are
  * masked, and the first access waits until all words are zero, a cycle for each vector.
  */
class MsixTable(p: DmaParam) extends Component {
  val io = new Bundle {
    val port = slave(RegPort()) // offset: of the table, or from pendingAt on of the pending bits
    val request = slave(Stream(InterruptRequest())) // of vectors
    val allowed = in Bits (p.functions bits) // MSI-X is enabled and not masked, and the function may access memory
    val inReset = in Bits (p.functions bits) // of PCIe
    val exists = in Bits (p.functions bits)
    val drain = slave(Stream(DmaParam.functionType()))
    val message = master(Stream(MsixMessage())) // offered only when ready
    val sent = slave(Flow(MsixMessage())) // what the sender still has
    val idle = out Bool () // no function has a turn to come
  }

  val functionBits = log2Up(p.functions)
  val vectorBits = log2Up(p.vectors)
  val words = Mem(Bits(96 bits), p.vectors << functionBits) // address, data
  val masks, pendings = Mem(Bits(p.vectors bits), 1 << functionBits)
  val lasts = Mem(Bits(p.vectors bits), 1 << functionBits) // vectors behind the one that was sent last
  val wants = RegInit(B(0, p.functions bits)) // functions that may have a vector that is pending and not masked

  val filled = RegInit(U(0, functionBits + vectorBits + 1 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)

  object Operation extends SpinalEnum {
    val access, leave, drain, request, turn = newElement()
  }
  val operation = Reg(Operation())
  val function = Reg(UInt(functionBits bits))
  val vector = Reg(UInt(vectorBits bits))
  val present = Reg(Bool()) // there are such a function and such a vector
  val mask = masks.readAsync(function)
  val pending = pendings.readAsync(function)
  val last = lasts.readAsync(function)

  val access = io.port.access
  val word = access.offset(3 downto 2)
  val entry = access.offset(4, vectorBits bits)
  val isPending = access.offset >= MsixTable.pendingAt
  val unmasked = pending & ~mask
  // Of a turn: the vectors that may be sent, and the first of them or of those behind the last one.
  val found, foundLater = Reg(Bits(p.vectors bits))
  val isLater = Reg(Bool())
  val isOnly = (found & (found.asUInt - 1).asBits) === 0
  val chosen = OHMasking.first(isLater ? foundLater | found)

  val turns = RegInit(False) // a function has its turn before the next interrupt has one
  val atOnce = Reg(Bool()) // this interrupt's turn may follow it
  val storedAt = UInt(functionBits + vectorBits bits)
  storedAt := access.function.resize(functionBits) @@ entry
  val stored = words.readSync(storedAt)
  val keeps, masksNow, pendsNow, sendsNow = False
  val newMask = CombInit(mask)
  val newPending = CombInit(pending)
  words.write(
    address = fills ? filled.resize(functionBits + vectorBits) | storedAt,
    data = Vec.fill(3)(access.data.andMask(!fills)).asBits,
    enable = fills || keeps,
    mask = fills ? B(7, 3 bits) | UIntToOh(word, 3)
  )
  val place = fills ? filled(vectorBits, functionBits bits) | function
  val all = B((BigInt(1) << p.vectors) - 1, p.vectors bits)
  masks.write(place, fills ? all | newMask, fills || masksNow)
  pendings.write(place, newPending.andMask(!fills), fills || pendsNow)
  lasts.write(place, (~(chosen | (chosen.asUInt - 1).asBits)).andMask(!fills), fills || sendsNow)

  // Whose turn it is, found in two steps: the first behind the function that had it last, or the first of all.
  val ready = RegNext(wants & io.allowed) init 0
  val behind = RegInit(B(0, p.functions bits))
  val isChosen = Reg(Bool()) // a turn in this order, not one at once behind an interrupt, which would move others back
  private def first(of: Bits): UInt = OHToUInt(OHMasking.first(of))
  val choice = RegNext(((ready & behind) =/= 0) ? first(ready & behind) | first(ready))
  val isReady = RegNext(ready =/= 0) init False
  io.idle := ready === 0

  // VFs that were taken away since.
  val gone = B(0, p.functions bits) // this one is done
  gone.allowOverride()
  val leaving = RegInit(B(0, p.functions bits))
  leaving := (leaving & ~gone) | (RegNext(io.exists).init(0) & ~io.exists)
  val leaves = RegNext((leaving & ~gone) =/= 0) init False
  val leaver = RegNext(first(leaving & ~gone))
  val left = RegInit(False) // the last operation that was no access was such a one
  val accessed = RegInit(False) // the last operation was an access

  val isSent = io.sent.valid && io.sent.function === access.function
  val shown = pending | UIntToOh(io.sent.vector.resize(vectorBits), p.vectors).andMask(isSent)
  val subWord = stored.subdivideIn(32 bits)
  io.port.value := (word === 3) ? mask(entry).asBits.resize(32 bits) | subWord(word.min(U(2)).resize(2 bits))
  when(isPending)(io.port.value := shown.resize(32 bits).andMask(!access.offset(2)))
  access.ready := False
  io.request.ready := False
  io.drain.ready := False
  io.message.valid := False
  io.message.function := function.resized
  io.message.vector := vector.resized
  io.message.address := stored(63 downto 0).asUInt
  io.message.data := stored(95 downto 64)

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val work, pick, load = new State

    idle.whenIsActive {
      val hasTurn = isReady && io.message.ready
      when(!fills) {
        val othersGo = io.drain.valid || io.request.valid || hasTurn
        val othersWait = leaves || othersGo
        accessed := access.valid && !(accessed && othersWait)
        when(access.valid && !(accessed && othersWait)) {
          operation := Operation.access
          function := access.function.resized
          goto(work)
        } elsewhen (leaves && !(left && othersGo)) {
          operation := Operation.leave
          left := True
          function := leaver
          goto(work)
        } elsewhen (io.drain.valid) {
          operation := Operation.drain
          left := False
          function := io.drain.payload.resized
          goto(work)
        } elsewhen (io.request.valid && !(turns && hasTurn)) {
          operation := Operation.request
          left := False
          io.request.ready := True
          function := io.request.function.resized
          vector := io.request.vector.resized
          isChosen := False
          present := p.hasFunction(io.request.function) && io.request.vector < p.vectors
          atOnce := !(turns && isReady)
          turns := True
          goto(work)
        } elsewhen (hasTurn) {
          operation := Operation.turn
          left := False
          function := choice.resized
          isChosen := True
          turns := False
          goto(work)
        }
      }
    }
    work.whenIsActive {
      goto(idle)
      switch(operation) {
        is(Operation.access) {
          access.ready := True
          when(access.write && !isPending) {
            keeps := word =/= 3
            when(word === 3) {
              masksNow := True
              newMask(entry) := access.data(0)
              wants(function) := True
            }
          }
        }
        is(Operation.leave, Operation.drain) {
          val leavesNow = operation === Operation.leave
          io.drain.ready := !leavesNow
          newPending := 0
          pendsNow := True
          newMask := all
          masksNow := leavesNow || io.inReset(function)
          gone(function) := leavesNow
        }
        is(Operation.request) {
          pendsNow := present
          newPending(vector) := True
          when(present)(wants(function) := True)
          when(io.message.ready && present && atOnce) {
            operation := Operation.turn
            goto(work)
          }
        }
        is(Operation.turn) {
          when(isChosen)(for (f <- 0 until p.functions) behind(f) := function < f)
          found := unmasked
          foundLater := unmasked & last
          isLater := (unmasked & last) =/= 0
          when(unmasked === 0)(wants(function) := False) otherwise goto(pick)
        }
      }
    }
    pick.whenIsActive {
      goto(idle)
      when(io.allowed(function)) {
        sendsNow := True
        newPending := pending & ~chosen
        pendsNow := True
        when(isOnly)(wants(function) := False)
        vector := OHToUInt(chosen)
        storedAt := function @@ OHToUInt(chosen)
        goto(load)
      }
    }
    load.whenIsActive {
      io.message.valid := True
      goto(idle)
    }
  }
}
