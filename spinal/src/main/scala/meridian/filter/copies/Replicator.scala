// SPDX-License-Identifier: Apache-2.0
package meridian.filter.copies

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.{RxStamp, RxTarget}
import meridian.promise.Promise
import spinal.core._
import spinal.lib._

object Replicator {

  /** Copies that may have asked for a queue before the first of them is read out. */
  val copiesAhead = 16
}

/** What goes with a beat of a copy. */
case class BeatInfo(p: ShellParam) extends Bundle {
  val last = Bool()
  val mty = UInt(log2Up(p.hostBytes) bits)
  val meta = RxTarget(p)
}

/** Stores frames for several functions once, and reads each of them out once for each function.
  *
  * A frame first reserves room for all its bytes. `reserved` answers in the same cycle, and is low if there is not
  * enough room (of `words`, in whole beats for each frame). Frames from inside the card may use half of the room only,
  * so that no function keeps out what comes from the wire. The beats then come at `write`, in the order of the
  * reservations, one beat a cycle, and are always taken.
  *
  * Once a frame is whole, its copies ask for their queues at `request`, one after another. The answers come at
  * `decision`, in order, and are always taken. Copies that are delivered leave at `frame`, with queue and length valid
  * from the first beat, one beat a cycle, without a bubble inside a copy. The room of a frame is free when its last
  * copy has been read.
  *
  * Latency: about 8 cycles from the frame's last beat to the first request, if no frame is before it. Back-pressure at
  * `frame` or `request` keeps frames stored, and in the end makes `reserved` low. It has no effect on any other input.
  *
  * @param words beats of the buffer, a power of two
  */
class Replicator(p: ShellParam, words: Int) extends Component {
  val frames = words / ((p.minFrame + p.hostBytes - 1) / p.hostBytes)
  def wordType() = UInt(log2Up(words) bits)
  def countType() = UInt(log2Up(words) + 1 bits)

  val io = new Bundle {
    val reserve = slave(Flow(CopyJob(p)))
    val reserved = out(Bool())
    val write = slave(Flow(Fragment(Bits(8 * p.hostBytes bits))))
    val stamp = p.stampsAtHost generate in(RxStamp()) // beside write
    val list = master(ListLookup(p))
    val request = master(Stream(CopyRequest(p)))
    val decision = slave(Flow(CopyDecision(p)))
    val frame = master(FrameStream(p.hostBytes, RxTarget(p, p.stampsAtHost)))
    val empty = out(Bool())
  }
  val ring = Mem(Bits(8 * p.hostBytes bits), words)
  val jobs = Mem(CopyJob(p), frames)

  val room = new Area {
    val free = Reg(countType()) init words
    val freed = Reg(countType()) init 0
    val needed = beatsOf(io.reserve.length)
    val jobWrite, jobRead = Reg(UInt(log2Up(frames) + 1 bits)) init 0
    val jobsFull = (jobWrite ^ jobRead) === frames
    val left = free.resize(p.lengthBits + 1).asSInt - needed.resize(p.lengthBits + 1).asSInt
    io.reserved := !left.msb && !jobsFull && !(io.reserve.source.inside && free < words / 2)
    val take = io.reserve.valid && io.reserved
    free := (take ? left.asUInt.resize(free.getWidth) | free) + freed
    jobs.write(jobWrite.resized, io.reserve.payload, take)
    jobWrite := jobWrite + U(take)
    io.empty := free === words
  }

  val store = new Area {
    val address = Reg(wordType()) init 0
    ring.write(address, io.write.fragment, io.write.valid)
    address := address + U(io.write.valid)
  }

  val ask = new Area {
    val whole = Reg(UInt(log2Up(frames) + 1 bits)) init 0 // stored frames whose copies are still to be asked for
    val job = Stream(UInt(log2Up(frames) bits))
    job.valid := whole =/= 0
    job.payload := room.jobRead.resized
    whole := whole + U(io.write.valid && io.write.last) - U(job.fire)
    when(job.fire)(room.jobRead := room.jobRead + 1)
    val iterator = new CopyIterator(p)
    iterator.io.job << jobs.streamReadSync(job)
    iterator.io.list <> io.list
  }

  val copies = StreamFifo(CopyDecision(p), Replicator.copiesAhead, latency = 1)
  val limit = new Area {
    val ahead = Reg(UInt(log2Up(Replicator.copiesAhead) + 1 bits)) init 0
    val request = ask.iterator.io.request
    io.request << request.haltWhen(ahead === Replicator.copiesAhead)
    ahead := ahead + U(io.request.fire) - U(copies.io.pop.fire)
  }
  copies.io.push.valid := io.decision.valid
  copies.io.push.payload := io.decision.payload

  // One beat of a copy, where it is read from and what is said of it.
  val read = new Area {
    val copy = copies.io.pop.m2sPipe()
    // A copy is stored with the tag that it may lose behind.
    val stored = copies.io.pop.target.length + Mux(copies.io.pop.target.strip, U(4), U(0))
    val beats = RegNextWhen(beatsOf(stored), copies.io.pop.ready)
    val start = Reg(wordType()) init 0
    val offset = Reg(wordType()) init 0
    val last = offset === (beats - 1).resized
    val address = Stream(wordType())
    address.valid := copy.valid && copy.deliver
    address.payload := start + offset
    copy.ready := !copy.deliver || (address.ready && last)
    when(address.fire)(offset := (offset + 1).andMask(!last))
    val done = copy.fire && copy.last
    when(done)(start := start + beats.resized)
    room.freed := beats.resize(room.freed.getWidth).andMask(done)

    val mty = RegNextWhen((~(stored - 1)).resize(log2Up(p.hostBytes)), copies.io.pop.ready)
    val said = BeatInfo(p)
    said.last := last
    said.mty := mty.andMask(last)
    said.meta := copy.target
    val beat = ring.streamReadSync(address, said)
    // Whether a copy goes next is known late in a cycle: it must not reach back to the addresses and their counters.
    val frame = FrameStream(p.hostBytes, RxTarget(p, p.stampsAtHost))
    frame.arbitrationFrom(beat)
    frame.last := beat.linked.last
    frame.fragment.data := beat.value
    frame.fragment.mty := beat.linked.mty
    frame.fragment.meta.assignSomeByName(beat.linked.meta)

    /** When each stored frame came. */
    val came = p.stampsAtHost generate new Area {
      val memory = Mem(RxStamp(), frames)
      val write, read = Reg(UInt(log2Up(frames) bits)) init 0
      val whole = io.write.valid && io.write.last
      memory.write(write, io.stamp, whole)
      when(whole)(write := write + 1)
      when(done)(read := read + 1)
      frame.fragment.meta.stamp := memory.readSync(read, address.ready)
    }
    io.frame << frame.s2mPipe()
  }

  // What was reserved and has not been written, and what was asked and has not been answered.
  val promises = new Area {
    val beats = Mem(countType(), frames)
    beats.write(room.jobWrite.resized, room.needed.resize(beats.width), room.take)
    val written = Reg(UInt(log2Up(frames) + 1 bits)) init 0
    val inFrame = Reg(countType()) init 0
    when(io.write.valid) {
      inFrame := inFrame + 1
      when(io.write.last) {
        inFrame := 0
        written := written + 1
      }
    }
    val whole = inFrame === beats.readAsync(written.resized) - 1
    Promise(!io.write.valid || written =/= room.jobWrite, "a frame is written that has no room")
    Promise(!io.write.valid || io.write.last === whole, "a frame has another number of beats than its room")

    case class Asked() extends Bundle {
      val some, last = Bool()
      val function = p.functionType()
      val length = p.lengthType()
    }
    val questions = Mem(Asked(), Replicator.copiesAhead)
    val asked, answered = Reg(UInt(log2Up(Replicator.copiesAhead) + 1 bits)) init 0
    val question = Asked()
    question.assignSomeByName(io.request.payload)
    questions.write(asked.resized, question, io.request.fire)
    asked := asked + U(io.request.fire)
    answered := answered + U(io.decision.valid)
    val of = questions.readAsync(answered.resized)
    val (decision, target) = (io.decision.payload, io.decision.target)
    val length = target.length +^ Mux(target.strip, U(4), U(0))
    Promise(!io.decision.valid || asked =/= answered, "a decision that was not asked for")
    Promise(!io.decision.valid || decision.last === of.last && length === of.length, "a decision is of another copy")
    Promise(!io.decision.valid || !of.some || target.function === of.function, "a decision is of another function")
    Promise(!io.decision.valid || !decision.deliver || of.some, "a copy is delivered to nobody")
  }

  def beatsOf(length: UInt): UInt = (length +^ (p.hostBytes - 1)) >> log2Up(p.hostBytes)
}
