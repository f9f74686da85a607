// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.DmaParam
import meridian.dma.descriptor.{RingDone, RingEpoch}
import meridian.dma.pcie._
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._
import spinal.lib.fsm._

/** What of a transfer to the card is one burst. */
case class CardPart() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch()
  val function = DmaParam.functionType()
  val failed, malformed = Bool() // it has no bytes, see MemoryTransfer
  val last = Bool() // of its transfer
  val address = UInt(64 bits)
  val bytes = UInt(10 bits)

  def rows: UInt = ((address(4 downto 0) +^ bytes +^ U(31)) >> 5).resize(5 bits)
}

object CardPart {
  val limit = 512 // bytes, at multiples of which of the card's memory parts end
  val rows = limit / 32
}

/** Transfers to the card: reads the host's memory and writes the card's, a part of up to 512 bytes after the other, in the
  * order of the transfers. Up to 4 parts are read ahead. A part is written when it has come wholly, so a slow host holds up
  * no burst, and what has failed writes nothing. The next burst begins when the one before is answered.
  *
  * A transfer has ended when its last part is answered. The first part that fails, in the host's memory or in the card's,
  * ends it with an error, and the ring is stopped before the next part is looked at. No read or burst begins for a queue
  * that has been changed or stopped, up to 2 cycles ago; a read that was asked for may leave later, a burst that has begun goes on.
  */
class CardWriter(p: DmaParam) extends Component {
  private val ahead = 4 // parts
  val io = new Bundle {
    val transfer = slave(Stream(MemoryTransfer()))
    val read = master(Stream(ReadCommand())) // may be taken back
    val beat = slave(Stream(Fragment(ReadBeat()))) // always taken
    val axi = master(Axi4WriteOnly(MemoryTransfer.axi))
    val queues = out Vec (DmaParam.queueType(), 2)
    val epochs = in Vec (RingEpoch(), 2) // of these queues now
    val done = master(Stream(RingDone()))
    val function = in(DmaParam.functionType())
    val busy = out Bool () // a burst of this function has begun
    val late = out Bool () // one of a queue from before its change
    val quiet = out Bool ()
  }

  // Reading.
  val kept = io.transfer.m2sPipe()
  val rest = Reg(MemoryTransfer())
  val bytes = Reg(UInt(10 bits))
  val endsTransfer = Reg(Bool())
  val asked = RegInit(U(0, log2Up(ahead + 1) bits)) // parts that have not been written
  io.queues(0) := rest.queue
  val isReading = RegNext(io.epochs(0) === rest.epoch)
  val part = Stream(CardPart())
  val hasBytes = !rest.failed
  part.valid := False
  part.payload.queue := rest.queue
  part.epoch := rest.epoch
  part.function := rest.function
  part.failed := rest.failed
  part.malformed := rest.malformed
  part.last := endsTransfer
  part.address := rest.card
  part.bytes := bytes
  io.read.valid := False
  io.read.function := rest.function
  io.read.address := rest.host
  io.read.bytes := bytes.resized
  io.read.place := rest.card(4 downto 0)
  kept.ready := False
  val isCutting = False

  val cut = new StateMachine {
    val idle = new State with EntryPoint
    val look, ask = new State

    idle.whenIsActive {
      kept.ready := True
      rest := kept.payload
      when(kept.valid)(goto(look))
    }
    look.whenIsActive {
      isCutting := True
      val room = U(CardPart.limit, 10 bits) - rest.card(8 downto 0)
      endsTransfer := rest.failed || rest.length <= room
      bytes := (rest.length <= room) ? rest.length.resize(10 bits) | room
      when(asked =/= ahead)(goto(ask))
    }
    ask.whenIsActive {
      isCutting := True
      when(!isReading)(goto(idle)) otherwise {
        io.read.valid := hasBytes
        when(io.read.ready || !hasBytes) {
          part.valid := True
          rest.length := rest.length - bytes
          rest.host := rest.host + bytes
          rest.card := rest.card + bytes
          when(endsTransfer)(goto(idle)) otherwise (goto(look))
        }
      }
    }
  }
  val parts = part.queue(ahead) // there is room

  // Writing.
  case class Row() extends Bundle {
    val data = Bits(256 bits)
    val empty = UInt(5 bits)
    val last = Bool()
  }
  val rows = StreamFifo(Row(), ahead * CardPart.rows)
  rows.io.push.valid := io.beat.valid
  rows.io.push.data := io.beat.data
  rows.io.push.payload.empty := io.beat.empty
  rows.io.push.last := io.beat.last
  io.beat.ready := True
  assert(!io.beat.valid || rows.io.push.ready, "what was read has no room", FAILURE)
  val verdict = Stream(Bool()) // whether a read that has come wholly has failed
  verdict.valid := io.beat.valid && io.beat.last
  verdict.payload := io.beat.failed
  val verdicts = verdict.queue(ahead)

  val now = parts.payload
  io.queues(1) := now.queue
  val isLive = RegNext(io.epochs(1) === now.epoch)
  val row = rows.io.pop
  row.ready := False
  parts.ready := False
  verdicts.ready := False
  val isFirst = Reg(Bool())
  val sent = Reg(Bool()) // the burst's address
  val (failed, ofCard) = (Reg(Bool()), Reg(Bool()))
  io.axi.aw.valid := False
  io.axi.aw.addr := now.address(63 downto 5) @@ U(0, 5 bits)
  io.axi.aw.len := (now.rows - 1).resized
  io.axi.aw.size := 5
  io.axi.aw.burst := 1
  io.axi.w.valid := False
  io.axi.w.data := row.data
  io.axi.w.last := row.last
  val from = isFirst ? now.address(4 downto 0) | U(0, 5 bits)
  val behind = U(32, 6 bits) - row.payload.empty
  for (lane <- 0 until 32) io.axi.w.strb(lane) := from <= lane && (!row.last || behind > lane)
  io.axi.b.ready := False
  io.done.valid := False
  io.done.payload.queue := now.queue
  io.done.epoch := now.epoch
  io.done.failed := failed
  io.done.onDescriptor := now.failed
  io.done.malformed := now.malformed || ofCard
  val writes = False

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val begin, write, answer, drop, tell = new State
    val tells = Reg(Bool())

    private def leave(): Unit = {
      parts.ready := True
      goto(idle)
    }
    // The comparison is a cycle behind.
    idle.whenIsActive {
      isFirst := True
      sent := False
      ofCard := False
      when(parts.valid)(goto(begin))
    }
    begin.whenIsActive {
      failed := now.failed || verdicts.payload
      tells := isLive
      when(now.failed) {
        when(isLive)(goto(tell)) otherwise leave()
      } elsewhen (verdicts.valid) {
        verdicts.ready := True
        when(isLive && !verdicts.payload)(goto(write)) otherwise (goto(drop))
      }
    }
    write.whenIsActive {
      writes := True
      io.axi.aw.valid := !sent
      when(io.axi.aw.ready)(sent := True)
      io.axi.w.valid := row.valid
      row.ready := io.axi.w.ready
      when(row.fire) {
        isFirst := False
        when(row.last)(goto(answer))
      }
    }
    answer.whenIsActive {
      writes := True
      io.axi.aw.valid := !sent
      when(io.axi.aw.ready)(sent := True)
      io.axi.b.ready := True
      when(io.axi.b.valid) {
        failed := io.axi.b.resp(1)
        ofCard := io.axi.b.resp(1)
        when(io.axi.b.resp(1) || now.last)(goto(tell)) otherwise leave()
      }
    }
    drop.whenIsActive {
      row.ready := True
      when(row.valid && row.last) {
        when(tells)(goto(tell)) otherwise leave()
      }
    }
    tell.whenIsActive {
      io.done.valid := True
      when(io.done.ready)(leave())
    }
  }
  asked := asked + part.fire.asUInt - parts.fire.asUInt
  io.busy := writes && now.function === io.function
  io.late := writes && !isLive
  io.quiet := !kept.valid && asked === 0 && !isCutting
}
