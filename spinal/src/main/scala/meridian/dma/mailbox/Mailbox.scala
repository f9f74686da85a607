// SPDX-License-Identifier: Apache-2.0
package meridian.dma.mailbox

import meridian.dma.context.CsrTable
import meridian.dma.{DmaParam, RegPort}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** The mailbox's interrupt of a function. */
case class MailboxInterrupt() extends Bundle {
  val function = DmaParam.functionType()
  val vector = UInt(5 bits)
}

/** A message of 128 bytes each way between a VF and its PF, with acknowledge bits and an interrupt a function (PG302,
  * "Mailbox"). A function sees its own only; a PF chooses among its VFs by the target register.
  *
  * A message stays as it was sent until the other side has received it: writes to the window are ignored meanwhile, and so
  * is another send. Thus a VF has one event waiting at its PF, no more.
  *
  * An access takes 6 cycles, a command up to 8, and while the messages of a function in reset are forgotten up to 65 more. After
  * reset the first access waits until all words are zero, 64 cycles for each function.
  */
class Mailbox(p: DmaParam) extends Component {
  val io = new Bundle {
    val port = slave(RegPort()) // offset: in the function's window
    val forget = slave(Stream(DmaParam.functionType()))
    val interrupt = master(Flow(MailboxInterrupt()))
  }

  val functions = 1 << log2Up(p.functions)
  val bits = log2Up(p.functions)
  val messages = Mem(Bits(32 bits), 64 * functions) // of a function: 32 words to its PF, then 32 from it
  val map = Mem(Bits(24 bits), DmaParam.mapped) // queues of functions, which software keeps here, too
  val settings = Mem(Bits(6 bits), functions) // interrupt's vector, then its enable
  val toPf, toVf, acknowledged = RegInit(B(0, functions bits)) // of each VF: a message is under way, or was received
  val targets = Vec.fill(p.pfs)(RegInit(U(0, 12 bits)))
  val senders = (0 until p.pfs).map(pf => new SenderQueue(p.vfs(pf) max 1).setName(s"senders$pf"))

  val access = io.port.access
  val function = access.function
  val word = access.offset(12 downto 2)
  private def at(offset: Int): Bool = word === offset / 4
  private def within(offset: Int, words: Int): Bool = word >= offset / 4 && word < offset / 4 + words

  // What the access is about, a cycle after it has come, and a cycle later the VF and its state.
  val isPf = RegNext(function < DmaParam.firstVf)
  val ofPf = RegNext(Vec((0 until p.pfs).map(function === _)).asBits)
  val target = RegNext(targets(function.resize(log2Up(p.pfs) max 1)))
  val isIn = RegNext(within(0x800, 32))
  val isOut = RegNext(within(0xc00, 32))
  val isMap = RegNext(within(0xd00, DmaParam.mapped))
  val isAck = RegNext(within(0x20, 8))
  val isRegister = Seq(0x00, 0x04, 0x08, 0x0c, 0x10, 0x14, 0x18).map(offset => RegNext(at(offset)))
  val Seq(isStatus, isCommand, isVector, isTarget, isEnable, isVersion, isUserBar) = isRegister
  val parents = RegNext(p.parent(target.resize(8 bits)).andMask(target < 256))
  val vf = RegNext(isPf ? target.resize(bits) | function.resize(bits))
  val hasVf = RegNext(!isPf, False) || (RegNext(isPf, False) && (parents & RegNext(ofPf)).orR)
  val inOut = RegNext(isPf === isOut) // the window is of messages from the PF
  val full = RegNext(inOut ? toVf(vf) | toPf(vf))

  val filled = RegInit(U(0, log2Up(64 * functions max DmaParam.mapped) + 1 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)
  val forgets = Reg(UInt(7 bits)) init 0 // words of the function in reset that are zero
  val forgetsNow = False

  val writesMessage, writesMap, writesSettings = False
  val stored = messages.readSync(vf @@ inOut @@ word(4 downto 0))
  val mapIndex = (word - 0xd00 / 4).resize(8 bits)
  val mapped = map.readSync(mapIndex)
  messages.write(
    address = fills ? filled(log2Up(64 * functions) - 1 downto 0) | (forgetsNow ?
      (io.forget.payload.resize(bits) @@ forgets(5 downto 0)) | (vf @@ inOut @@ word(4 downto 0))),
    data = access.data.andMask(writesMessage),
    enable = fills || forgetsNow || writesMessage
  )
  map.write(
    address = fills ? filled(7 downto 0) | mapIndex,
    data = access.data(23 downto 0).andMask(!fills),
    enable = fills || writesMap
  )
  val whose = Reg(UInt(bits bits)) // settings that are looked at
  val setting = settings.readAsync(whose)
  val newSetting = isVector ? (setting(5) ## access.data(4 downto 0)) | (access.data(0) ## setting(4 downto 0))
  settings.write(
    address = fills ? filled(bits - 1 downto 0) | (forgetsNow ? io.forget.payload.resize(bits) | whose),
    data = newSetting.andMask(writesSettings),
    enable = fills || forgetsNow || writesSettings
  )

  // Status of the function.
  val waits = RegNext((Vec(senders.map(_.io.waits)).asBits & ofPf).orR)
  val oldest = RegNext(
    senders.zipWithIndex.map { case (s, pf) => s.io.first.asBits.andMask(ofPf(pf)) }.reduceBalancedTree(_ | _)
  )
  private def ofParent(vfBits: Bits, pf: Int): Bits = {
    val mask = p.vfsOf(pf).foldLeft(BigInt(0))((m, vf) => m.setBit(vf))
    vfBits & B(mask, functions bits)
  }
  val acknowledges = RegNext(
    (0 until p.pfs).map(pf => ofParent(acknowledged, pf).andMask(ofPf(pf))).reduceBalancedTree(_ | _)
  )
  val anyAcknowledge = RegNext(acknowledges.orR)
  val ackWord = RegNext(acknowledges.resize(256 bits).subdivideIn(32 bits)(word(2 downto 0)))
  val vfToPf = RegNext(toPf(vf))
  val vfToVf = RegNext(toVf(vf) && hasVf)
  val status = isPf ? (B(0, 20 bits) ## oldest.andMask(waits) ## B(0, 1 bits) ## anyAcknowledge ## vfToVf ## waits) |
    (B(0, 30 bits) ## vfToPf ## vfToVf)
  val hasMessage = isPf ? waits | vfToVf

  val value = Reg(Bits(32 bits))
  io.port.value := value
  access.ready := False
  io.forget.ready := False
  io.interrupt.valid := False
  io.interrupt.function := whose.resized
  io.interrupt.vector := setting(4 downto 0).asUInt
  for (queue <- senders) {
    queue.io.add.valid := False
    queue.io.add.payload := function
    queue.io.remove.valid := False
    queue.io.remove.payload := vf.resized
    queue.io.clear := False
  }
  val itsPf = RegNext(p.parent(function)) // of a VF
  val parentNumber = OHToUInt(itsPf)

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val first, second, look, done, receive, afterReceive, send, tell, forget = new State
    val tells = Reg(Bool())

    idle.whenIsActive {
      forgets := 0
      whose := function.resized
      when(!fills) {
        when(io.forget.valid)(goto(forget)) elsewhen (access.valid)(goto(first))
      }
    }
    first.whenIsActive(goto(second))
    second.whenIsActive(goto(look))
    look.whenIsActive(goto(done))
    done.whenIsActive {
      value := 0
      when(isStatus)(value := status)
      when(isVector)(value := setting(4 downto 0).resized)
      when(isTarget && isPf)(value := target.asBits.resized)
      when(isEnable)(value := setting(5).asBits.resized)
      when(isVersion && !isPf)(value := B(CsrTable.vfVersion(p), 32 bits))
      when(isUserBar && !isPf)(value := B(CsrTable.vfUserBar, 32 bits))
      when(isAck && isPf)(value := ackWord)
      when(isMap && isPf)(value := mapped.resized)
      when((isIn || isOut) && hasVf)(value := stored.andMask(isOut || full))
      goto(tell)
      tells := False
      when(access.write) {
        writesMessage := isOut && hasVf && !full
        writesMap := isMap && isPf
        writesSettings := isVector || isEnable
        tells := isEnable && hasMessage
        when(isTarget)(for (pf <- 0 until p.pfs) when(ofPf(pf))(targets(pf) := access.data(11 downto 0).asUInt))
        when(isAck) {
          for (f <- 0 until functions; pf <- 0 until p.pfs if p.vfsOf(pf).contains(f))
            when(ofPf(pf) && word(2 downto 0) === f / 32 && access.data(f % 32))(acknowledged(f) := False)
        }
        when(isCommand && hasVf) {
          when(access.data(1))(goto(receive)) elsewhen (access.data(0))(goto(send))
        }
      }
    }
    receive.whenIsActive {
      when(isPf) {
        toPf(vf) := False
        for ((queue, pf) <- senders.zipWithIndex) queue.io.remove.valid := ofPf(pf)
      } elsewhen (toVf(vf)) {
        toVf(vf) := False
        acknowledged(vf) := True
      }
      goto(afterReceive)
    }
    afterReceive.whenIsActive {
      // The queue has moved up: is there another?
      when(isPf && setting(5))(io.interrupt.valid := (Vec(senders.map(_.io.waits)).asBits & ofPf).orR)
      goto(tell)
      when(access.data(0))(goto(send))
    }
    send.whenIsActive {
      tells := False
      when(isPf) {
        tells := !toVf(vf)
        toVf(vf) := True
        whose := vf
      } otherwise {
        tells := !toPf(vf)
        toPf(vf) := True
        whose := parentNumber.resized
        for ((queue, pf) <- senders.zipWithIndex) queue.io.add.valid := itsPf(pf) && !toPf(vf)
      }
      goto(tell)
    }
    tell.whenIsActive {
      io.interrupt.valid := tells && setting(5)
      access.ready := True
      goto(idle)
    }
    forget.whenIsActive {
      forgetsNow := True
      forgets := forgets + 1
      when(forgets === 63) {
        io.forget.ready := True
        val number = io.forget.payload.resize(bits)
        toPf(number) := False
        toVf(number) := False
        acknowledged(number) := False
        for ((queue, pf) <- senders.zipWithIndex) {
          queue.io.remove.valid := True
          queue.io.remove.payload := io.forget.payload
          when(io.forget.payload === pf) {
            queue.io.clear := True
            targets(pf) := 0
            for (f <- p.vfsOf(pf)) {
              acknowledged(f) := False
              toPf(f) := False // it would wait for ever, as the PF's list of senders is empty now
            }
          }
        }
        goto(idle)
      }
    }
  }
}
