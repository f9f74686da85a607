// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.completion.CompletionRow.{IrqState, Mode}
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random
import spinal.core.sim._

/** Completion rings while RQ or the port of interrupts takes nothing: [[CompletionReference]] follows each. */
class CompletionStallTest extends AnyFunSuite {
  import RingEvent._

  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16)
  val bound = 16 // cycles, of a doorbell: as CompletionEngine says
  // Frames are sent without credit here, and wait for their descriptors as long as RQ stands still.
  lazy val compiled =
    SimConfig.compile(CompletionReference.visible(new C2hEngine(p, firstTag = 24, frameWait = 1000000)))

  class Bench(dut: C2hEngine, seed: Int) {
    val h = new C2hHarness(dut, p, seed)
    val r = new CompletionReference(dut, h, p.queues)
    val random = new Random(seed)
    Seq(h.rowDriver, h.bellDriver).foreach(_.transactionDelay = () => 0)

    def begin(queue: Int, setting: QueueSetting, frames: Int = 0): Unit = {
      r.expect(setting)
      h.begin(queue, setting)
      send(queue, frames)
    }
    def send(queue: Int, frames: Int): Unit = for (_ <- 0 until frames) {
      h.post(queue, 1)
      h.send(queue, 32 + random.nextInt(200))
    }

    /** All rings have so many unread entries, and have told all. */
    def beginAll(frames: Int)(setting: Int => QueueSetting): Unit = {
      for (queue <- 0 until p.queues) begin(queue, setting(queue), frames)
      for (queue <- 0 until p.queues) h.settle(queue)
      h.idle()
    }

    def stall(rq: Boolean = false, interrupts: Boolean = false): Unit = {
      h.host.setPace(if (rq) 0 else 1)
      h.takers(1).setFactor(if (interrupts) 0 else 1)
    }

    /** A doorbell, whose access ends when it is taken. */
    def ring(queue: Int, cidx: Int, irq: Boolean = false, mode: Int = 0, counter: Int = 0, timer: Int = 0): Unit = {
      val before = r.bells
      h.bell(queue, cidx, irq, mode, counter, timer)
      waitFor(h.cd, s"a doorbell of queue $queue", 2 * bound)(r.bells != before)
      h.cd.waitSampling(7)
    }

    /** A command: it holds the ring, finds it as it is, and writes it. */
    def command(queue: Int, setting: QueueSetting, isValid: Boolean = true): Unit = {
      look(queue, lets = false)
      val before = r.changes
      r.expect(setting, isValid)
      h.changeCompletions(queue, setting, isValid)
      waitFor(h.cd, s"a change of queue $queue", 2 * bound)(r.changes != before)
      h.engine.holdCompletion.queue.valid #= false
      h.cd.waitSampling()
    }
    def look(queue: Int, lets: Boolean = true): Unit = {
      val hold = h.engine.holdCompletion
      hold.queue.payload #= queue
      hold.queue.valid #= true
      waitFor(h.cd, s"a hold of queue $queue", 2 * bound)(hold.held.toBoolean)
      val row = hold.row.toBigInt
      val it = r.rings(queue)
      assert((row >> 92 & 0xffff) == it.pidx && (row >> 108 & 0xffff) == it.cidx && (row >> 25 & 3) == it.irqState)
      if (lets) {
        hold.queue.valid #= false
        h.cd.waitSampling()
      }
    }

    /** The ring of completions begins anew; that of buffers goes on. What was at RQ belongs to the old one. */
    def renew(queue: Int, setting: QueueSetting): Unit = {
      command(queue, setting)
      waitFor(h.cd, "what was at RQ")(!h.engine.late.toBoolean)
      val (old, fresh) = (h.ring(queue), new h.Ring)
      fresh.setting = setting
      fresh.pidx = old.pidx
      fresh.posted ++= old.posted
      h.ring(queue) = fresh
    }

    def events(queue: Int): Seq[RingEvent] = h.ring(queue).events.toSeq
    def quick(): String = {
      assert(r.longestWait <= bound, "a doorbell waits")
      s"a doorbell waited for ${r.longestWait} cycles at most"
    }
  }
  def run(name: String, seed: Int = 11)(body: Bench => Unit): Unit =
    compiled.doSim(name, seed)(dut => body(new Bench(dut, seed)))

  for ((what, rq, interrupts) <- Seq(("RQ takes nothing", true, false), ("nobody takes interrupts", false, true)))
    test(s"while $what doorbells of CIDX are taken, and each ring is told once after, as it is then") {
      run(s"stall$rq") { b =>
        b.beginAll(6)(_ => QueueSetting(mode = Mode.user, irq = true))
        b.stall(rq, interrupts)
        val before = (0 until p.queues).map(b.events(_).size)
        for (cidx <- 1 to 5; _ <- 0 until 4; queue <- b.random.shuffle((0 until p.queues).toList))
          b.ring(queue, cidx, irq = b.random.nextInt(4) == 0)
        b.h.cd.waitSampling(5000)
        for (queue <- 0 until p.queues) b.ring(queue, 5, irq = true)
        assert(b.r.merged > 200)
        b.stall()
        b.r.finish()
        for (queue <- 0 until p.queues) {
          val told = b.events(queue).drop(before(queue))
          // Those of the first doorbells, for which there was room, and then all in one.
          if (rq) assert(told.count(_ == Interrupt) <= 3 && told.size <= 8, s"queue $queue: $told")
          assert(told.takeRight(2) == Seq(Status(6, 5, 1, IrqState.triggered, 0), Interrupt), s"queue $queue")
        }
        info(b.quick())
      }
    }

  test("timers of all queues end while nothing is taken, and each is told after") {
    run("timers") { b =>
      b.beginAll(4)(_ => QueueSetting(mode = Mode.userTimer, timer = 15, irq = true))
      b.h.cd.waitSampling(2000)
      b.r.finish()
      b.stall(rq = true, interrupts = true)
      for (queue <- 0 until p.queues) b.ring(queue, 1, irq = true) // the timers start
      waitFor(b.h.cd, "the ends", 2000)(b.r.rings.forall(_.end.isEmpty))
      b.h.cd.waitSampling(3000)
      b.stall()
      b.r.finish()
      for (queue <- 0 until p.queues)
        assert(b.events(queue).takeRight(2) == Seq(Status(4, 1, 1, IrqState.triggered, 0), Interrupt))
      info(s"${b.quick()}; an end was taken ${b.r.latest} cycles late at most")
    }
  }

  test("a command ends while nothing is taken; what its ring was to tell is forgotten but for a write that is at RQ") {
    for ((rq, interrupts) <- Seq(true -> false, false -> true)) run(s"command$rq") { b =>
      val setting = QueueSetting(mode = Mode.user, irq = true)
      b.beginAll(6)(_ => setting)
      b.stall(rq, interrupts)
      for (cidx <- 1 to 4; queue <- 0 until p.queues) b.ring(queue, cidx, irq = true)
      val before = (0 until p.queues).map(b.events(_).size)
      // Queue 0 is the first that has a write at RQ or an interrupt at the port.
      b.command(5, setting)
      b.command(9, setting)
      b.h.cd.waitSampling(200)
      assert(!b.h.engine.late.toBoolean, "a command waits for other rings")
      b.command(0, setting)
      b.h.cd.waitSampling(2000)
      assert(b.h.engine.late.toBoolean == rq)
      b.stall()
      b.h.idle()
      assert(!b.h.engine.late.toBoolean)
      for (queue <- 0 until p.queues) {
        val told = b.events(queue).drop(before(queue))
        if (queue == 0 && rq) assert(told == Seq(Status(6, 1, 1, IrqState.triggered, 0)))
        else if (Set(0, 5, 9)(queue)) assert(told.isEmpty, s"queue $queue was changed")
        else assert(told.takeRight(2) == Seq(Status(6, 4, 1, IrqState.triggered, 0), Interrupt), s"queue $queue")
      }
      b.r.finish()
      info(s"${b.quick()}, and a change for ${b.r.longestChange}")
    }
  }

  test("an error is told once, with its interrupt, when there is room, and not if the ring was written meanwhile") {
    run("errors") { b =>
      val setting = QueueSetting(mode = Mode.user, irq = true)
      b.beginAll(6)(_ => setting)
      b.stall(rq = true)
      for (queue <- 0 until p.queues) b.ring(queue, 2, irq = true)
      for (queue <- 0 until p.queues) b.ring(queue, 14)
      waitFor(b.h.cd, "the errors", 200)(b.h.errors.size == p.queues)
      for (queue <- 12 until 16) b.command(queue, setting)
      val before = (0 until p.queues).map(b.events(_).size)
      b.stall()
      b.r.finish()
      for (queue <- 0 until 12) assert(b.events(queue).takeRight(2) == Seq(Status(6, 2, 1, 0, 1), Interrupt), queue)
      for (queue <- 12 until 16) assert(b.events(queue).size == before(queue))
      info(b.quick())
    }
  }

  test("a function's drain ends when RQ has taken what was there of it, and nothing of it follows") {
    run("drain") { b =>
      b.beginAll(6)(_ => QueueSetting(mode = Mode.user, irq = true))
      val own = (0 until p.queues).filter(b.h.function(_) == 0)
      b.stall(rq = true)
      for (cidx <- 1 to 3; queue <- 0 until p.queues) b.ring(queue, cidx, irq = true)
      for (queue <- own) b.command(queue, QueueSetting(), isValid = false)
      val drain = b.h.engine.drain
      drain.payload #= 0
      drain.valid #= true
      for (_ <- 0 until 500) {
        b.h.cd.waitSampling()
        assert(!drain.ready.toBoolean && b.h.engine.late.toBoolean)
      }
      val writes = b.h.host.writes.size
      b.stall()
      waitFor(b.h.cd, "the drain", 500)(drain.ready.toBoolean)
      drain.valid #= false
      val ended = b.h.host.writes.size
      assert(b.h.host.writes.drop(writes).count(_._1 == 0) == 1)
      b.r.finish()
      assert(!b.h.host.writes.drop(ended).exists(_._1 == 0))
      for (queue <- 0 until p.queues if !own.contains(queue)) assert(b.h.status(queue) == Status(6, 3, 1, 1, 0))
    }
  }

  test("two events of a ring may come in one cycle, or at any distance, while RQ takes nothing or all") {
    for (rq <- Seq(false, true)) run(s"pairs$rq") { b =>
      val timed = QueueSetting(mode = Mode.userTimer, timer = 1, irq = true)
      b.beginAll(3)(_ => timed)
      def at(when: => Boolean)(action: => Unit) = fork {
        waitFor(b.h.cd, "the moment", 4000)(when)
        action
      }
      for (kind <- 0 until 4; distance <- -14 to 14) {
        b.renew(3, timed)
        b.send(3, 3)
        b.h.settle(3)
        b.h.idle()
        b.stall(rq)
        if (rq) for (i <- 0 until 12) b.ring(4 + i, 0, irq = true) // there is no more room
        b.ring(3, 0)
        val end = b.r.rings(3).end.get
        val changes = b.r.changes
        def first = b.r.cycle >= end
        def second = b.r.cycle >= end + distance
        val rung = b.r.bells
        val other = kind match {
          case 0 => at(second)(b.h.bell(3, 2, irq = true)) // and the end of the timer
          case 1 => at(second)(b.command(3, timed))
          case 2 =>
            at(first)(b.h.bell(3, 0, irq = true))
            at(second)(b.command(3, timed))
          case 3 =>
            b.send(3, if (rq) 0 else 1)
            at(first)(b.h.bell(3, 3, irq = true))
            at(second)(b.look(3))
        }
        other.join()
        b.h.cd.waitSampling(100)
        assert(kind == 1 || b.r.bells == rung + 1)
        assert((kind == 1 || kind == 2) == (b.r.changes == changes + 1))
        b.stall()
        b.r.finish()
      }
      b.quick()
    }
  }

  for (seed <- 1 to 4)
    test(s"random doorbells, timers, commands, frames and stalls leave each ring told as it is, seed $seed") {
      run(s"random$seed", seed)(script(_, cycles = 100000))
    }

  private def script(b: Bench, cycles: Int): Unit = {
    val random = b.random
    def setting() = QueueSetting(
      entry = random.nextInt(4),
      mode = random.nextInt(6),
      counter = random.nextInt(4),
      timer = random.nextInt(8),
      irq = random.nextInt(5) != 0,
      irqState = random.nextInt(3),
      fullUpdate = random.nextInt(4) == 0
    )
    b.beginAll(0)(_ => setting())
    val stalls = fork {
      while (b.r.cycle < cycles) {
        b.stall(rq = random.nextInt(3) == 0, interrupts = random.nextInt(3) == 0)
        b.h.cd.waitSampling(50 + random.nextInt(if (random.nextBoolean()) 300 else 3000))
      }
      b.stall()
    }
    while (b.r.cycle < cycles) {
      val queue = random.nextInt(p.queues)
      val (it, ref) = (b.h.ring(queue), b.r.rings(queue))
      val inFlight = it.frames.size - it.arrived
      random.nextInt(20) match {
        case 0 if inFlight == 0                                                    => b.renew(queue, setting())
        case 1                                                                     => b.look(queue)
        case 2 | 3 | 4 | 5 if ref.valid && inFlight + ref.unread < ref.entries - 3 => b.send(queue, 1)
        case 6 if ref.valid && inFlight == 0 && random.nextInt(4) == 0 => b.ring(queue, (ref.pidx + 1) % ref.entries)
        case _ if ref.valid =>
          val read = (it.arrived % ref.entries - ref.cidx + ref.entries) % ref.entries
          b.ring(
            queue,
            (ref.cidx + random.nextInt(read + 1)) % ref.entries,
            random.nextBoolean(),
            random.nextInt(6),
            random.nextInt(4),
            random.nextInt(8)
          )
        case _ => b.renew(queue, setting())
      }
      b.h.cd.waitSampling(random.nextInt(if (random.nextInt(4) == 0) 100 else 3) + 1)
    }
    stalls.join()
    for (queue <- 0 until p.queues if b.r.rings(queue).valid) b.h.settle(queue)
    b.r.finish()
    assert(b.r.merged > 100 && b.r.changes > 100)
    info(
      s"${b.quick()}, a change for ${b.r.longestChange}; an end was taken ${b.r.latest} cycles late at most; " +
        s"${b.r.bells} doorbells, ${b.r.merged} of rings that owed, ${b.r.changes} changes, ${b.h.completions} entries"
    )
  }
}
