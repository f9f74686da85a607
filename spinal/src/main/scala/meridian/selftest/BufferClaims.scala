// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import meridian.promise.Promise
import meridian.queue.CreditQuery
import spinal.core._
import spinal.lib._

/** The answer to a question for buffers. */
case class BufferAnswer(neededBits: Int) extends Bundle {
  val granted = Bool()
  val needed = UInt(neededBits bits) // buffers taken, if granted
}

/** Buffers of a queue that go back to the count of free ones. */
case class BufferReturn(p: ShellParam, neededBits: Int) extends Bundle {
  val queue = p.queueType()
  val amount = UInt(neededBits bits)
}

/** Takes receive buffers for planned frames before they may go. No frame goes without, and no buffer is lost: what is
  * taken for a frame that does not go is given back, unless its queue has lost its buffers meanwhile.
  *
  * Frames go in the order planned. Questions are asked ahead for up to `depth` frames. If one is denied, its frame is for
  * the next queue in turn, the buffers of frames behind it go back, and until it has some nothing else is asked for: so
  * a single free buffer is enough for a frame.
  *
  * When `run` falls no further frame is offered, in the same cycle. What was taken is given back, and each planned frame
  * that did not go is counted by `cut`.
  *
  * Latency: `latency` + 3 cycles from a plan to its frame. Throughput: one frame a cycle, if depth is that latency or
  * more. A denied question costs about latency + 4 cycles,
  * and one for each frame behind it. A frame may go in the cycle in which its queue is drained, not later.
  *
  * @param latency cycles from a question to its answer
  * @param depth   frames planned ahead; a power of two
  */
class BufferClaims(p: ShellParam, latency: Int, neededBits: Int, depth: Int) extends Component {
  require(isPow2(depth) && depth >= 2, s"depth is $depth: choose a power of two from 2 on")
  val io = new Bundle {
    val run = in Bool ()
    val first, last = in(p.queueType())
    val plan = slave(Stream(PlannedFrame(p)))
    val query = master(Stream(CreditQuery(p)))
    val answer = slave(Flow(BufferAnswer(neededBits))) // latency cycles after query fires
    val drained = slave(Flow(p.queueType())) // this queue has no buffers any more
    val giveBack = master(Stream(BufferReturn(p, neededBits))) // not in a cycle with drained

    val frame = master(Stream(PlannedFrame(p))) // the oldest, if it has its buffers
    val next = out(p.queueType()) // queue of the frame behind it
    val nextValid = out Bool ()
    val idle = out Bool ()
    val denied = out Bool () // a pulse a question
    val cut = master(Flow(UInt(log2Up(depth) + 1 bits)))
  }
  val indexBits = log2Up(depth)
  val queue = Vec.fill(depth)(Reg(p.queueType()))
  val length = Vec.fill(depth)(Reg(p.lengthType()))
  val needed = Vec.fill(depth)(Reg(UInt(neededBits bits)))
  val held = Vec.fill(depth)(RegInit(False)) // has its buffers
  val dead = Vec.fill(depth)(Reg(Bool())) // its queue was drained after the question

  // Places of the ring, with a bit that tells full from empty: to go next, first without buffers, to be asked, free.
  val head, granted, asked, free = Reg(UInt(indexBits + 1 bits)) init 0
  def at(pointer: UInt): UInt = pointer.dropHigh(1).asUInt

  object State extends SpinalEnum { val asks, settles, returns = newElement() }
  val state = RegInit(State.asks)
  val careful = RegInit(False) // one question at a time
  val all = RegInit(False) // what has buffers goes back as well
  val place = Reg(UInt(indexBits + 1 bits)) // where giving back has come

  // Plans.
  val full = RegInit(False)
  io.plan.ready := io.run && !full && !all
  val freeNext = free + U(io.plan.fire)
  when(io.plan.fire) {
    queue(at(free)) := io.plan.payload.queue
    length(at(free)) := io.plan.length
    held(at(free)) := False
  }

  // Questions: one staged, and as many under way as the answer takes cycles.
  val question = RegInit(False)
  val questionAt = Reg(UInt(indexBits bits))
  io.query.valid := question
  val questionQueue = Reg(p.queueType())
  val questionLength = Reg(p.lengthType())
  io.query.payload.queue := questionQueue
  io.query.length := questionLength
  case class Asked() extends Bundle {
    val valid = Bool()
    val index = UInt(indexBits bits)
  }
  val under = Vec.fill(latency)(Reg(Asked()))
  for (stage <- under) stage.valid.init(False)
  under(0).valid := io.query.fire
  under(0).index := questionAt
  for (i <- 1 until latency) under(i) := under(i - 1)
  val underWay = under.map(_.valid).orR
  when(io.query.fire)(question := False)
  val mayAsk = state === State.asks && io.run && !all && asked =/= free && (!question || io.query.fire) &&
    (!careful || !question && !underWay && asked === granted)
  when(mayAsk) {
    question := True
    questionAt := at(asked)
    questionQueue := queue(at(asked))
    questionLength := length(at(asked))
    asked := asked + 1
  }

  // What drains a queue counts before a question of the same cycle, and before its answer.
  val hit = Vec(queue.map(q => io.drained.valid && io.drained.payload === q))
  val lost = RegInit(False) // a frame that had its buffers has them no more
  lost := Vec((0 until depth).map(i => hit(i) && held(i))).orR
  for (i <- 0 until depth) when(hit(i)) {
    held(i) := False
    dead(i) := True
  }
  when(io.query.fire)(dead(questionAt) := False)

  val answered = under.last
  val got = io.answer.granted && !dead(answered.index) && !hit(answered.index)
  val denial = answered.valid && !got && state === State.asks && io.run
  io.denied := answered.valid && !io.answer.granted
  when(answered.valid) {
    needed(answered.index) := io.answer.needed
    held(answered.index) := got
    when(got && state === State.asks) {
      granted := granted + 1
      careful := False
    }
  }
  when(denial)(state := State.settles)
  // In two steps, while nothing is asked: the frame is for the next queue.
  val turns = RegNext(RegNext(denial, False), False)
  val turned = RegNext(queue(at(granted)))
  when(turns)(queue(at(granted)) := (turned === io.last) ? io.first | (turned + 1))
  // A question that nobody has taken is not asked after all.
  when(state === State.settles) {
    when(question && !io.query.fire)(question := False)
    when(!question && !underWay) {
      state := State.returns
      place := all ? head | granted
    }
  }
  val returning = place =/= asked
  val again = all && !RegNext(all, False) // those before place go back as well
  io.giveBack.valid := state === State.returns && returning && held(at(place)) && !again
  io.giveBack.payload.queue := queue(at(place))
  io.giveBack.amount := needed(at(place))
  Promise(!io.giveBack.fire || !io.drained.valid, "buffers go back to a queue in the cycle in which it is drained")
  when(state === State.returns) {
    when(again)(state := State.settles) elsewhen (returning) {
      when(!held(at(place)) || io.giveBack.ready) {
        held(at(place)) := False
        place := place + 1
      }
    } otherwise {
      state := State.asks
      careful := True
      asked := all ? head | granted
      when(all)(granted := head)
      all := !io.run
    }
  }
  val quiet = asked === head && !question && !underWay
  when(state === State.asks) {
    when(!quiet && (lost || all || !io.run))(state := State.settles)
    when(quiet && io.run)(all := False)
    when(quiet && !io.run)(careful := False)
  }
  when(lost || !io.run)(all := True)

  // The oldest.
  io.frame.valid := head =/= granted && held(at(head)) && !all && io.run
  io.frame.payload.queue := queue(at(head))
  io.frame.length := length(at(head))
  val second = head + 1
  io.next := queue(at(second))
  io.nextValid := second =/= granted && head =/= granted
  when(io.frame.fire) {
    held(at(head)) := False
    head := second
  }

  val over = !io.run && state === State.asks && quiet && head =/= free
  io.cut.valid := over
  io.cut.payload := free - head
  free := freeNext
  when(over)(free := head)
  full := freeNext - head >= depth
  io.idle := RegNext(state === State.asks && quiet && head === freeNext) init True
}
