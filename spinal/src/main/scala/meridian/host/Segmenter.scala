// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.queue.FlushPoint
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

object Segmenter {

  /** Bytes of the longest headers: a tag, IPv4 and TCP with all options. */
  val mostHeader = 18 + 60 + 60
}

/** Cuts large frames of the host into segments (TSO of TCP, USO of UDP), if their descriptors and queues say so. What
  * follows sees ordinary frames, whose checksums are then filled in.
  *
  * Each segment has the frame's headers, which may be Ethernet, one 802.1Q tag, IPv4 with options or IPv6 without extension
  * headers, and TCP with options or UDP. These fields are changed: the lengths of IP and UDP, the identification of IPv4,
  * which grows by one, the sequence number of TCP, FIN and PSH, which only the last segment keeps, and CWR, which only the
  * first keeps (RFC 3168). How long the packet is, its IP header says. If the stream ends before, the segment that it ends
  * in is an error frame, and the last one; if it ends with an error, segments with bytes of its last beat are error frames.
  *
  * What is not cut ends as one error frame of one beat behind it, with meta.refused, whose data say how many beats that was:
  * they have used the DMA engine's stream. It is a frame that cannot be cut, as it is no such packet, or a fragment, its
  * headers or lengths contradict each other, it has no payload, or is to have fewer bytes in a segment than
  * H2cRequest.leastSegment, or leastInTunnel if it has outer headers; or beats behind the one in which the packet ends.
  *
  * Latency: none for other frames. A frame that is cut takes 6 cycles a beat of its headers first, and 6 more; then a segment
  * takes a beat a cycle and two cycles more. Back-pressure passes through; nothing is stored but the headers and a beat.
  *
  * `flush` asks when every frame begun before has left; `flushed` answers with a pulse.
  */
class Segmenter(p: ShellParam) extends Component {
  val io = new Bundle {
    val h2c = slave(FrameStream(p.hostBytes, H2cMeta(p)))
    val frames = master(FrameStream(p.hostBytes, H2cMeta(p)))
    val flush = in Bool ()
    val flushed = out Bool ()
    val idle = out Bool ()
  }
  val bytes = p.hostBytes
  val placeBits = log2Up(bytes)
  val headerBeats = (Segmenter.mostHeader + bytes - 1) / bytes
  val beatBits = log2Up(headerBeats)

  /** A byte of the headers, by its place in the frame. */
  def place() = UInt(placeBits + beatBits bits)

  val headers = Mem(Bits(8 * bytes bits), 1 << beatBits)
  val starts = RegNextWhen(io.h2c.last, io.h2c.fire) init True

  // The beat of the stream whose bytes come next, from `from` on.
  val held = new Area {
    val valid = RegInit(False)
    val data = Reg(Bits(8 * bytes bits))
    val last, error, zero = Reg(Bool())
    val over = Reg(Bool()) // the stream has ended, and all bytes are used
    val mty = Reg(UInt(placeBits bits))
    val from = Reg(UInt(placeBits bits))
    def end: UInt = U(bytes, placeBits + 1 bits) - mty
    def take(): Unit = {
      data := io.h2c.data
      last := io.h2c.last
      mty := io.h2c.mty
      error := io.h2c.meta.error
      zero := io.h2c.meta.zero
      over := False
    }
    def word(at: Int): Bits = data(16 * at, 8 bits) ## data(16 * at + 8, 8 bits)
    val words = Vec((0 until bytes / 2).map(word))
  }

  // The frame that is cut.
  val queue = Reg(p.queueType())
  val outer = Reg(Bool())
  val request = Reg(Bits(H2cRequest.bits(p) bits))
  val most = request(H2cRequest.segmentBytes.high downto H2cRequest.segmentBytes.low).asUInt
  val beat = Reg(UInt(beatBits bits)) // of the headers, which is held
  val dropped = Reg(UInt(log2Up((1 << 16) / bytes + 1) bits)) // beats that are in no segment

  /** What the headers say, as their beats come. */
  val header = new Area {
    val tagged, v4, v6, tcp, udp = Reg(Bool())
    val total = Reg(UInt(16 bits)) // of IPv4, or the payload of IPv6
    val id = Reg(UInt(16 bits))
    val size = Reg(UInt(6 bits)) // of the IP header
    val l3 = tagged ? U(PacketShape.l3Start + 4, 5 bits) | U(PacketShape.l3Start, 5 bits)
    val l4 = Reg(place())
    val sequence = Reg(UInt(32 bits))
    val control = Reg(Bits(16 bits)) // TCP's data offset and flags
    val hasControl = Reg(Bool())
    val bytes = Reg(place()) // of all
    val payload = Reg(SInt(18 bits))

    /** Words of the IP header, in the first beat. */
    def ip(offset: Int): Bits = {
      val at = (PacketShape.l3Start + offset) / 2
      held.word(at + 2).andMask(isTagged) | held.word(at).andMask(!isTagged)
    }
    val isTagged = held.word(6) === 0x8100
    val kind = isTagged ? held.word(8) | held.word(6)
    def parse(): Unit = {
      val protocol = Mux(kind === 0x0800, ip(8)(7 downto 0), ip(6)(15 downto 8))
      tagged := isTagged
      v4 := kind === 0x0800 && ip(0)(15 downto 12) === 4 && ip(0)(11 downto 8).asUInt >= 5 && !ip(6)(13 downto 0).orR
      v6 := kind === 0x86dd && ip(0)(15 downto 12) === 6
      total := Mux(kind === 0x0800, ip(2), ip(4)).asUInt
      id := ip(4).asUInt
      size := Mux(kind === 0x0800, ip(0)(11 downto 8).asUInt << 2, U(40, 6 bits))
      tcp := protocol === 6
      udp := protocol === 17
      hasControl := False
    }
    val isWrong = !(v4 || v6) || !(tcp || udp)
  }

  // Fields that change, and where they are.
  val field = new Area {
    val length = header.l3 + (header.v4 ? U(2, 3 bits) | U(4, 3 bits))
    val id = header.l3 + 4
    val sequenceHigh, datagram = header.l4 + 4
    val sequenceLow = header.l4 + 6
    val control = header.l4 + 12
    def isHere(at: UInt, beat: UInt): Bool = at.resize(placeBits + beatBits).dropLow(placeBits).asUInt === beat
    def word(at: UInt): UInt = at(placeBits - 1 downto 1)
  }

  // The segment that is made.
  val segment = new Area {
    val rest = Reg(UInt(17 bits)) // payload of this segment and those behind it
    val isFirst, isLast = Reg(Bool())
    val mine = Reg(UInt(13 bits)) // its payload
    val left = Reg(UInt(13 bits)) // of it, behind the beat at hand
    val ipLength, datagram = Reg(UInt(16 bits))
    val sequence = Reg(UInt(32 bits))
    val id = Reg(UInt(16 bits))
    val beat = Reg(UInt(beatBits bits)) // of the headers
    val pure, mixed = Reg(Bool()) // the beat at hand has only headers, or their end
    val count = Reg(UInt(placeBits + 1 bits)) // payload of the beat at hand
    val ends = Reg(Bool()) // which is the last
  }
  val inBeat = header.bytes(placeBits - 1 downto 0) // of the header's end
  val wholeBeats = header.bytes.dropLow(placeBits).asUInt // of headers alone

  /** A beat on its way, without its headers. */
  case class Made() extends Bundle {
    val data = Bits(8 * bytes bits)
    val mty = UInt(placeBits bits)
    val last, error, zero, more, refused = Bool()
    val beat = UInt(beatBits bits)
    val headerLanes = Bits(bytes bits)
    val length, id, sequenceHigh, sequenceLow, control, datagram = Bool() // that field is in it
  }
  val make = Stream(Made())
  val made = make.m2sPipe()

  // The bytes at hand: those of the held beat, and of the next one before them, turned so that the first one has its place.
  val turn = new Area {
    val shift = held.from - (segment.mixed ? inBeat | U(0, placeBits bits))
    val window = Vec(
      (0 until bytes).map(i => Mux(held.from > i, io.h2c.data(8 * i, 8 bits), held.data(8 * i, 8 bits)))
    ).asBits
    val turned = (0 until placeBits).foldLeft(window)((data, i) => shift(i) ? data.rotateRight(8 << i) | data)
  }

  val to = held.from +^ segment.count.resize(placeBits + 1) // behind what the beat at hand needs
  val needsNext = to > bytes
  val endsHeld = to >= bytes
  val isShort = held.over || held.last && to > held.end ||
    !held.last && needsNext && io.h2c.last && to - bytes > U(bytes, placeBits + 1 bits) - io.h2c.mty
  val hasError = held.last && held.error || !held.last && needsNext && io.h2c.last && io.h2c.meta.error

  make.valid := False
  make.data := turn.turned
  make.mty := 0
  make.last := False
  make.error := False
  make.zero := False
  make.more := False
  make.refused := False
  make.beat := segment.beat
  make.headerLanes := segment.pure ? B(bytes bits, default -> True) |
    ((U(1, bytes bits) |<< inBeat) - 1).asBits.andMask(segment.mixed)
  val inHeaders = segment.pure || segment.mixed
  make.length := inHeaders && field.isHere(field.length.resized, segment.beat)
  make.id := inHeaders && header.v4 && field.isHere(field.id.resized, segment.beat)
  make.sequenceHigh := inHeaders && header.tcp && field.isHere(field.sequenceHigh, segment.beat)
  make.sequenceLow := inHeaders && header.tcp && field.isHere(field.sequenceLow, segment.beat)
  make.control := inHeaders && header.tcp && field.isHere(field.control, segment.beat)
  make.datagram := inHeaders && header.udp && field.isHere(field.datagram, segment.beat)

  val takes = False // the stream's beat is taken here, and not passed on
  val passes = False
  val isAsked = io.h2c.valid && starts && io.h2c.meta.segments

  val control = new StateMachine {
    val pass = new State with EntryPoint
    val load, parse, measure, begin, plan, cut, refuse, drain = new State
    val captures = new Area {
      val at = Reg(UInt(2 bits))
      val place = at.mux(0 -> field.sequenceHigh, 1 -> field.sequenceLow, default -> field.control)
    }
    val capture, decide = new State

    pass.whenIsActive {
      passes := !isAsked && !made.valid
      when(isAsked && !made.valid) {
        queue := io.h2c.meta.queue
        outer := io.h2c.meta.outer
        request := io.h2c.meta.request
        beat := 0
        goto(load)
      }
    }
    load.whenIsActive {
      takes := True
      captures.at := 0
      when(io.h2c.valid) {
        held.take()
        headers.write(beat, io.h2c.data)
        when(beat === 0)(goto(parse)) otherwise goto(capture)
      }
    }
    parse.whenIsActive {
      header.parse()
      goto(measure)
    }
    measure.whenIsActive {
      header.l4 := (header.l3 +^ header.size).resized
      goto(capture)
    }
    capture.whenIsActive {
      val value = held.words(field.word(captures.place))
      when(field.isHere(captures.place, beat)) {
        switch(captures.at) {
          is(0)(header.sequence(31 downto 16) := value.asUInt)
          is(1)(header.sequence(15 downto 0) := value.asUInt)
          default {
            header.control := value
            header.hasControl := True
          }
        }
      }
      captures.at := captures.at + 1
      header.bytes := header.l4 + 8
      when(captures.at === 2)(goto(decide))
    }
    // A cycle for where the headers end, and one for what that means.
    val measured = RegInit(False)
    decide.whenIsActive {
      when(!measured) {
        measured := True
        val size = header.tcp ? (header.control(15 downto 12).asUInt << 2) | U(8, 6 bits)
        header.bytes := header.l4 + size
        val before = header.v4 ? (header.size +^ size) | size.resize(7)
        header.payload := header.total.intoSInt.resize(18) - before.intoSInt.resize(18)
      } otherwise {
        measured := False
        val known = !header.tcp || header.hasControl
        val ends = known && header.bytes <= ((beat +^ 1) << placeBits)
        val isWrong = header.isWrong || most < H2cRequest.leastSegment ||
          outer && most < H2cRequest.leastInTunnel || held.last && held.zero ||
          header.tcp && header.hasControl && header.control(15 downto 12).asUInt < 5 ||
          known && header.payload <= 0
        held.valid := inBeat =/= 0
        held.from := inBeat
        segment.rest := header.payload.asUInt.resized
        segment.isFirst := True
        segment.sequence := header.sequence
        segment.id := header.id
        dropped := (beat +^ 1).resized
        when(isWrong || held.last && (!ends || inBeat === 0) || !ends && beat === headerBeats - 1) {
          when(held.last)(goto(refuse)) otherwise goto(drain)
        } elsewhen (ends) {
          goto(begin)
        } otherwise {
          beat := beat + 1
          goto(load)
        }
      }
    }
    // Its headers may change when those of the one before have left.
    begin.whenIsActive {
      segment.isLast := segment.rest <= most
      segment.mine := (segment.rest <= most) ? segment.rest.resize(13) | most
      when(!made.valid || made.ready)(goto(plan))
    }
    plan.whenIsActive {
      val l4Bytes = segment.mine +^ (header.bytes - header.l4)
      segment.datagram := l4Bytes.resized
      segment.ipLength := (l4Bytes + (header.v4 ? header.size | U(0, 6 bits))).resized
      segment.beat := 0
      segment.pure := wholeBeats =/= 0
      segment.mixed := wholeBeats === 0
      if (bytes > PacketShape.l3Start + 28) first(wholeBeats === 0) else first(False)
      goto(cut)
    }
    def first(now: Bool): Unit = {
      val room = U(bytes, placeBits + 1 bits) - inBeat
      segment.count := now ? least(segment.mine, room) | U(0, placeBits + 1 bits)
      segment.ends := now && segment.mine <= room
      segment.left := segment.mine - (now ? least(segment.mine, room) | U(0, placeBits + 1 bits))
    }
    def least(a: UInt, b: UInt): UInt = (a < b) ? a.resize(placeBits + 1) | b.resize(placeBits + 1)

    cut.whenIsActive {
      val needs = !segment.pure
      val has = held.valid && (!needsNext || held.last || io.h2c.valid)
      make.valid := !needs || has
      make.last := needs && (segment.ends || isShort)
      make.mty := (U(bytes, placeBits + 1 bits) - (segment.mixed ? inBeat | U(0, placeBits bits)) - segment.count)
        .resize(placeBits)
        .andMask(make.last)
      make.error := needs && (isShort || hasError)
      // The frame is over, and so is its stream, or what is left of that is dropped.
      val isOver = segment.isLast || isShort
      val isTaken = held.last || needsNext && io.h2c.last
      when(isOver && isTaken)(make.more := False) otherwise (make.more := True)
      // A beat is held before its bytes are needed.
      val refill = needs && !held.valid
      val keeps = make.last && isOver && !needsNext // what is behind the frame is not looked at here
      val moves = make.fire && needs && endsHeld && !keeps
      takes := refill || moves && !held.last
      when(refill) {
        held.take()
        held.from := 0
        held.valid := io.h2c.valid
      }
      when(make.fire) {
        segment.beat := segment.beat + 1
        val isMixedNext = segment.pure && segment.beat + 1 === wholeBeats
        segment.pure := segment.pure && !isMixedNext
        segment.mixed := isMixedNext && inBeat =/= 0
        val room = isMixedNext ? (U(bytes, placeBits + 1 bits) - inBeat) | U(bytes, placeBits + 1 bits)
        when(needs || isMixedNext) {
          segment.count := least(segment.left, room)
          segment.ends := segment.left <= room
          segment.left := segment.left - least(segment.left, room)
        }
        when(needs) {
          held.from := to.resized
          when(endsHeld && !keeps) {
            held.valid := held.last || io.h2c.valid
            when(held.last)(held.over := True) otherwise held.take()
          }
        }
        when(make.last) {
          // The last one may end in a beat of headers, which are put in later.
          when(!segment.isLast && !isShort) {
            segment.rest := segment.rest - segment.mine
            segment.isFirst := False
            segment.sequence := segment.sequence + segment.mine
            segment.id := segment.id + 1
          }
          dropped := 0
          when(!isOver)(goto(begin)) elsewhen (isTaken)(goto(pass)) otherwise goto(drain)
        }
      }
    }
    drain.whenIsActive {
      takes := True
      when(io.h2c.valid)(dropped := dropped + 1)
      when(io.h2c.valid && io.h2c.last)(goto(refuse))
    }
    refuse.whenIsActive {
      make.valid := True
      make.data := dropped.asBits.resized
      make.last := True
      make.error := True
      make.refused := True
      make.zero := held.last && held.zero
      make.more := False
      make.headerLanes := 0
      when(make.ready)(goto(pass))
    }
  }

  // With its headers.
  val shown = new Area {
    val header = headers.readAsync(made.beat)
    def put(value: Bits): Bits = value(7 downto 0) ## value(15 downto 8)
    val flags = Segmenter.this.header.control &
      ~(B(0x0009, 16 bits).andMask(!segment.isLast) | B(0x0080, 16 bits).andMask(!segment.isFirst))
    val changes = Seq(
      (made.length, field.length.resize(placeBits), segment.ipLength.asBits),
      (made.id, field.id.resize(placeBits), segment.id.asBits),
      (made.sequenceHigh, field.sequenceHigh.resize(placeBits), segment.sequence(31 downto 16).asBits),
      (made.sequenceLow, field.sequenceLow.resize(placeBits), segment.sequence(15 downto 0).asBits),
      (made.control, field.control.resize(placeBits), flags),
      (made.datagram, field.datagram.resize(placeBits), segment.datagram.asBits)
    )
    val words = for (w <- 0 until bytes / 2) yield {
      val hits = changes.map { case (here, at, _) => here && field.word(at) === w }
      val kept = header(16 * w, 16 bits).andMask(!hits.orR)
      (kept +: changes.zip(hits).map { case ((_, _, value), hit) => put(value).andMask(hit) }).reduce(_ | _)
    }
    val lanes = words.flatMap(word => Seq(word(7 downto 0), word(15 downto 8)))
    val data = Vec(lanes.zipWithIndex.map { case (lane, i) =>
      Mux(made.headerLanes(i), lane, made.data(8 * i, 8 bits))
    }).asBits
  }

  made.ready := io.frames.ready
  io.frames.valid := made.valid || passes && io.h2c.valid
  io.h2c.ready := takes || passes && io.frames.ready
  io.frames.payload := io.h2c.payload
  when(made.valid) {
    io.frames.last := made.last
    io.frames.data := shown.data
    io.frames.mty := made.mty
    io.frames.meta.queue := queue
    io.frames.meta.request := request
    io.frames.meta.request(H2cRequest.ipChecksum.low) := header.v4
    io.frames.meta.request(H2cRequest.l4Checksum.low) := True
    io.frames.meta.error := made.error
    io.frames.meta.zero := made.zero
    io.frames.meta.more := made.more
    io.frames.meta.refused := made.refused
    io.frames.meta.outer := outer
  }
  // A frame that passes is none, whatever its queue may ask for meanwhile.
  io.frames.meta.segments.allowOverride() := made.valid

  val flushing = new FlushPoint(2)
  flushing.io.begin := io.h2c.fire && starts
  flushing.io.end := io.frames.fire && io.frames.last && !io.frames.meta.more
  flushing.io.flush := io.flush
  io.flushed := flushing.io.flushed
  io.idle := flushing.io.idle && control.isActive(control.pass)
}
