// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.ShellParam
import meridian.filter.{RxFilter, TxFilter}
import meridian.frame.{FrameStream, FrameWord, PriorityMerge}
import meridian.host.H2cMeta
import meridian.meta.{C2hMeta, TxMeta}
import meridian.qdma.TmStatusPins
import meridian.queue._
import meridian.regs.HostRegs
import meridian.selftest.SelfTest
import spinal.core._
import spinal.lib._

/** The self-test among the blocks of the host side: where its frames join and leave the others'.
  *
  * Towards the host it adds a cycle to every frame, and to the questions for buffers a multiplexer; from the host a
  * multiplexer. A message of the IP on descriptors waits while buffers go back, one cycle each.
  */
class HostSelfTest(
    p: ShellParam,
    regs: HostRegs,
    queues: QueueTable,
    credit: QueueCredit,
    rxFilter: RxFilter,
    txFilter: TxFilter
) extends Area {
  val test = new SelfTest(p)
  test.io.bus << regs.io.selfTest
  test.io.functions := regs.io.flags
  test.io.functionReset := regs.io.functionReset
  test.io.enforce := regs.io.enforce
  test.io.range.valid := queues.io.range.fire
  test.io.range.payload := queues.io.range.payload
  test.io.queuesIdle := queues.io.idle
  test.io.owner <> queues.io.owner(3)
  test.io.rx << rxFilter.io.record
  test.io.rxCopies << rxFilter.io.copyRecord
  test.io.tx << txFilter.io.record
  def idle: Bool = test.io.idle

  case class MergedBeat() extends Bundle {
    val word = FrameWord(p.hostBytes, C2hMeta(p))
    val ofTest = Bool()
  }
  val merge = new PriorityMerge(MergedBeat(), SelfTest.testAfter)
  val begun, ofRx, ofTest = Bool()
  private def marked(frames: Stream[Fragment[FrameWord[C2hMeta]]], test: Boolean) = {
    val beat = Fragment(MergedBeat())
    beat.last := frames.last
    beat.fragment.word := frames.fragment
    beat.fragment.ofTest := Bool(test)
    frames.translateWith(beat)
  }

  /** Joins received frames and those of the test, which go in the gaps, or after testAfter received ones. */
  def c2h(rx: Stream[Fragment[FrameWord[C2hMeta]]], egress: Stream[Fragment[FrameWord[C2hMeta]]]): Unit = {
    merge.io.first << marked(rx, test = false)
    merge.io.firstThere := rx.valid
    merge.io.second << marked(test.io.c2h, test = true)
    val frames = FrameStream(p.hostBytes, C2hMeta(p))
    val out = merge.io.out
    frames.arbitrationFrom(out)
    frames.last := out.last
    frames.fragment := out.fragment.word
    egress << frames
    begun := rx.fire && rx.last
    ofRx := out.fire && out.last && !out.fragment.ofTest
    ofTest := out.fire && out.last && out.fragment.ofTest
  }

  /** Answers when every frame that has begun until then has left the merge. */
  def flushed(ask: Bool): Bool = {
    val received, tested = new FlushPoint(3)
    received.io.begin := begun
    received.io.end := ofRx
    tested.io.begin := test.io.begun
    tested.io.end := ofTest
    FlushPoint.all(ask, received, tested)
  }

  /** Questions for buffers: those of received frames first, and of the test only while they count. */
  def claims(rx: CreditLookup): Unit = {
    val take = credit.io.take
    val mayAsk = regs.io.enforce && !rx.query.valid
    val asks = test.io.query.valid && mayAsk
    test.io.query.ready := mayAsk
    take.query.valid := rx.query.valid || asks
    take.query.payload := Mux(rx.query.valid, rx.query.payload, test.io.query.payload)
    rx.granted.valid := Delay(rx.query.valid, QueueCredit.latency, init = False)
    rx.granted.payload := take.granted.payload
    test.io.answer.valid := Delay(asks, QueueCredit.latency, init = False)
    test.io.answer.granted := take.granted.payload
    test.io.answer.needed := credit.io.needed
  }

  /** What the IP says of descriptors, and buffers that go back as if it had said so. */
  def status(messages: Stream[TmStatusPins]): Flow[TmStatusPins] = {
    val back = test.io.giveBack
    val released = queues.io.released
    val news = messages.haltWhen(released.valid || regs.io.switches.valid || back.valid).toFlow
    back.ready := !released.valid
    val counted = Flow(TmStatusPins())
    counted.valid := news.valid || back.fire
    counted.payload := news.payload
    when(back.valid) {
      counted.qen := True
      counted.c2h := True
      counted.mm := False
      counted.qinv := False
      counted.qid := back.payload.queue
      counted.avl := back.amount.resized
    }
    credit.io.status << counted
    val gone = news.c2h && !news.mm && (news.qinv || !news.qen)
    test.io.drained.valid := news.valid && gone || released.valid
    test.io.drained.payload := released.valid ? released.payload | news.qid
    news
  }

  /** Shows the checker what comes from the host. It decides there which frames end behind the offload. */
  def h2c(
      came: Stream[Fragment[FrameWord[H2cMeta]]],
      take: Bool,
      frames: Stream[Fragment[FrameWord[TxMeta]]],
      filter: Stream[Fragment[FrameWord[TxMeta]]]
  ): Unit = {
    test.io.h2c << came.toFlowFire
    take := test.io.take
    filter << frames.throwWhen(frames.meta.taken)
  }
}
