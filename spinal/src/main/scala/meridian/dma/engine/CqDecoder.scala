// SPDX-License-Identifier: Apache-2.0
package meridian.dma.engine

import meridian.dma.descriptor.PushChunk
import meridian.dma.pcie.{CompletionHeader, CqBeat, RequestDescriptor, RequestKind}
import meridian.dma.{DmaParam, HostAccess}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** Takes the requests of the host apart: reads and writes of BAR0 and BAR2 become one access for each double word, in order.
  * Writes of BAR4, the window of pushed frames, become chunks of up to 32 bytes, and reads of it give zeros.
  *
  * A request that has to be answered gives exactly one header to the encoder, before its accesses: the encoder answers it
  * when it has as many values as the header says. Reads of other BARs or of functions that are not there, and I/O, locked
  * and atomic requests, are unsupported. Writes to what is not there, messages and what the block has discontinued end
  * here. If the block discontinues a write behind its first beat, the beats before are written. A double word that is
  * written in part has no effect and pulses `partial`; one without any byte is passed over.
  *
  * The next request is taken when the last access of this one is. A write of one word takes 4 cycles and what the access
  * takes, and so does a read; a
  * write of the window takes a cycle a beat and 2 more, as one that ends here.
  */
class CqDecoder(p: DmaParam) extends Component {
  val io = new Bundle {
    val cq = slave(Stream(Fragment(CqBeat())))
    val header = master(Stream(CompletionHeader()))
    val access = master(Stream(HostAccess()))
    val partial = master(Flow(HostAccess()))
    val push = p.pushSlots > 0 generate master(Flow(PushChunk())) // of writes of BAR4
    val busy = p.pushSlots > 0 generate in(Bool()) // an access is under way, which such a write must not overtake
  }

  private def isPosted(kind: UInt): Bool = RequestKind.posted.map(kind === _).orR

  val descriptor = Reg(Bits(128 bits))
  val firstBe, lastBe = Reg(Bits(4 bits))
  val tph = Reg(Bits(11 bits))
  val request = RequestDescriptor(descriptor)

  // What has come of the payload and is not yet passed on, the next double word lowest.
  val payload = Reg(Bits(256 bits))
  val enables = Reg(Bits(32 bits))
  val words = Reg(Bits(8 bits))
  val last = Reg(Bool())

  val offset = Reg(UInt(HostAccess.offsetBits bits))
  val left = Reg(UInt(11 bits)) // double words to be read
  val toMemory, reads, served, posted, isBar2, isPush = Reg(Bool()) // of the descriptor, a cycle later
  val enabled = enables(3 downto 0)

  private val busy = if (p.pushSlots > 0) io.busy else False
  io.cq.ready := False
  io.header.valid := False
  io.header.request := descriptor
  io.header.unsupported := !served
  io.header.firstBe := firstBe
  io.header.lastBe := lastBe
  io.header.tph := tph
  io.access.valid := False
  io.access.access.function := request.function
  io.access.access.offset := offset.resized
  io.access.access.write := !reads
  io.access.access.data := payload(31 downto 0)
  io.access.upper := offset >> 18
  io.access.isBar2 := isBar2
  io.partial.valid := False
  io.partial.payload := io.access.payload
  if (p.pushSlots > 0) {
    io.push.valid := False
    io.push.function := request.function
    io.push.place := offset(17 downto 3)
    io.push.words := payload.subdivideIn(64 bits)
    // A place that is no multiple of 8 has no word of the window.
    for (i <- 0 until 4)
      io.push.whole(i) := words(2 * i, 2 bits).andR && enables(8 * i, 8 bits).andR && !offset(2)
    // A read is one of a place in BAR0 where nothing is.
    when(isPush)(io.access.access.offset(17 downto 12) := 63)
    when(isPush)(io.access.upper := 0)
  }

  // Bytes from the first to the last that are asked for (PCIe 2.3.1.1, "Data Return for Read Requests").
  val skipped =
    PriorityMux(Seq(firstBe(0), firstBe(1), firstBe(2), firstBe(3), True), Seq(0, 1, 2, 3, 0).map(U(_, 2 bits)))
  val single = request.dwords === 1
  val ending = single ? firstBe | lastBe
  val spared = PriorityMux(Seq(ending(3), ending(2), ending(1), ending(0), True), Seq(0, 1, 2, 3, 3).map(U(_, 2 bits)))
  val byteCount = RegNext((request.dwords @@ U(0, 2 bits)) - skipped - spared)
  val dwords = RegNext(request.dwords)
  val lowerAddress = RegNext((request.address(4 downto 0) @@ skipped))
  io.header.byteCount := toMemory ? byteCount | U(4, 13 bits)
  io.header.lowerAddress := toMemory ? lowerAddress | U(0, 7 bits)
  io.header.dwords := served ? dwords | U(0, 11 bits)

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val look, decide, header, reading, writing, more, pushing, skip = new State

    idle.whenIsActive {
      io.cq.ready := True
      descriptor := io.cq.data(127 downto 0)
      firstBe := io.cq.firstBe
      lastBe := io.cq.lastBe
      tph := io.cq.tph
      payload := B(0, 128 bits) ## io.cq.data(255 downto 128)
      enables := B(0, 16 bits) ## io.cq.byteEnable(31 downto 16)
      words := B(0, 4 bits) ## io.cq.keep(7 downto 4)
      last := io.cq.last
      when(io.cq.fire) {
        when(io.cq.sop && !(io.cq.discontinue && isPosted(RequestDescriptor(io.cq.data).kind)))(goto(look))
          .elsewhen(!io.cq.last)(goto(skip))
      }
    }
    look.whenIsActive {
      val isWindow = if (p.pushSlots > 0) request.bar === 4 else False
      val here = p.exists(request.function) && (request.bar === 0 || request.bar === 2 || isWindow)
      isPush := isWindow
      isBar2 := request.bar(1)
      val read = request.kind === RequestKind.memoryRead
      reads := read
      toMemory := read || request.kind === RequestKind.lockedRead
      posted := isPosted(request.kind)
      served := here && (read && request.dwords =/= 0 || request.kind === RequestKind.memoryWrite)
      left := request.dwords
      // The BAR's size says which bits of the address are in it.
      for (i <- 0 until HostAccess.offsetBits)
        offset(i) := (if (i < 2) False else request.address(i - 2) && request.aperture > i)
      goto(decide)
      when(isWindow && here && request.kind === RequestKind.memoryWrite && !busy)(goto(pushing))
    }
    decide.whenIsActive {
      when(!posted)(goto(header))
        .elsewhen(served && isPush)(when(!busy)(goto(pushing)))
        .elsewhen(served)(goto(writing))
        .elsewhen(last)(goto(idle))
        .otherwise(goto(skip))
    }
    header.whenIsActive {
      io.header.valid := True
      when(io.header.ready) {
        when(served)(goto(reading))
          .elsewhen(last)(goto(idle))
          .otherwise(goto(skip))
      }
    }
    reading.whenIsActive {
      io.access.valid := True
      when(io.access.ready) {
        offset := offset + 4
        left := left - 1
        when(left === 1) {
          when(last)(goto(idle)) otherwise goto(skip)
        }
      }
    }
    writing.whenIsActive {
      val whole = enabled === 15
      val present = words(0)
      io.access.valid := present && whole
      io.partial.valid := present && !whole && enabled =/= 0
      when(!present) {
        when(last)(goto(idle)) otherwise goto(more)
      } elsewhen (io.access.ready || !whole) {
        payload := payload |>> 32
        enables := enables |>> 4
        words := words |>> 1
        offset := offset + 4
      }
    }
    pushing.whenIsActive {
      if (p.pushSlots > 0) io.push.valid := True
      offset := offset + (words(7 downto 4).orR ? U(32, 6 bits) | U(16, 6 bits)) // its first beat has the descriptor
      when(last)(goto(idle)) otherwise takeMore()
    }
    def takeMore(): Unit = {
      io.cq.ready := True
      payload := io.cq.data
      enables := io.cq.byteEnable
      words := io.cq.keep
      last := io.cq.last
      goto(more)
      when(io.cq.fire) {
        when(!io.cq.discontinue)(when(isPush)(goto(pushing)) otherwise goto(writing))
          .elsewhen(io.cq.last)(goto(idle))
          .otherwise(goto(skip))
      }
    }
    more.whenIsActive(takeMore())
    skip.whenIsActive {
      io.cq.ready := True
      when(io.cq.fire && io.cq.last)(goto(idle))
    }
  }
}
