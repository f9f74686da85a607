// SPDX-License-Identifier: Apache-2.0
package meridian.dma.command

import meridian.dma.DmaParam
import meridian.dma.pcie._
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import spinal.core.sim._
import spinal.lib.sim._

/** Commands while all around them changes at random: queues and their functions, who may access memory, drains, resets of
  * the logic, the paces of RQ and of the logic, sizes that the host allows, and answers that fail. Each command has a place
  * in memory of its own, so a request tells whose it is.
  */
class CommandRandomTest extends AnyFunSuite {
  private val host = 0xfff00000L // the first commands cross 4 GiB
  private val span = 0x20000L

  /** A command, and what is known of it. */
  private class Given(
      val id: Int,
      val c2h: Boolean,
      val queue: Int,
      val address: Long,
      val data: Seq[Byte],
      val isBad: Boolean
  ) {
    var (at, end) = (-1L, -1L)
    var functions = Set[Int]()
    var isHeard = true
    var failed = false
    def tag: Int = id & 255
  }

  private class World(dut: CommandEngine, p: DmaParam, seed: Int, maxPayload: Int, maxRead: Int) {
    private val random = new Random(seed)
    private val h = new CommandHarness(dut, p, seed, 1.0f, maxPayload, maxRead)
    private val port = dut.io.port
    private def chance(one: Int): Boolean = random.nextInt(one) == 0
    private var cycle = 0L
    private val all = Seq(false, true).map(_ -> mutable.ArrayBuffer[Given]()).toMap
    private val waits = Seq(false, true).map(_ -> mutable.Queue[Given]()).toMap // not given yet
    private val under = Seq(false, true).map(_ -> mutable.Queue[Given]()).toMap
    // Of a queue who owns it, and since when.
    private val now = mutable.Map[(Int, Boolean), Option[Int]]()
    private val changed = mutable.Map[(Int, Boolean), Long]().withDefaultValue(-1)
    private val masterChanged = mutable.Map[Int, Long]().withDefaultValue(-1)
    private val masters = mutable.Set(0 until p.functions: _*)
    private val lastChange = mutable.Map(false -> -1L, true -> -1L)
    private val drained = mutable.Set[Int]()
    private val bad = mutable.Set[Long]()
    private var (failures, successes, stale) = (0, 0, 0)
    private var (staleReads, lastStale) = (0, 0L)

    private def base(c2h: Boolean): Long = host + (if (c2h) 0x100000000L else 0)
    private def of(c2h: Boolean, address: Long): Given = all(c2h)(((address - base(c2h)) / span).toInt)

    private def asks(c2h: Boolean, function: Int, address: Long): Unit = {
      val it = of(c2h, address)
      assert(it.end < 0 || !it.isHeard || (!c2h && it.failed), s"command ${it.id} of $c2h has ended and asks")
      assert(!drained(function), s"function $function is drained and asks")
      it.functions += function
      assert(it.functions.size == 1, s"command ${it.id} has functions ${it.functions}")
      val isNow = now.getOrElse(it.queue -> c2h, None).contains(function)
      if (cycle > changed(it.queue -> c2h) + 8 && !isNow) {
        stale += 1
        if (!c2h) {
          staleReads = if (lastStale == changed(it.queue -> c2h)) staleReads + 1 else 1
          lastStale = changed(it.queue -> c2h)
          assert(staleReads <= 2, "more reads are asked for behind a change than wait for RQ")
        }
        if (c2h) assert(h.isLate, s"command ${it.id} writes behind its queue's change, and nothing is late")
      }
    }
    h.host.onWrite = (function, address, _) => asks(c2h = true, function, address)
    private val failing = Seq(Answer.Unsupported, Answer.Poisoned, Answer.TimedOut)
    h.host.answerOf = address => if (bad(address & ~511L)) failing(random.nextInt(3)) else Answer.Data
    private var seen = 0
    h.cd.onSamplings {
      cycle += 1
      dut.io.room.hasRoom #= cycle % 4 == 0
      if (h.host.reads.size > seen) {
        for ((function, address) <- h.host.reads.drop(seen)) asks(c2h = false, function, address)
        seen = h.host.reads.size
      }
    }
    StreamMonitor(port.read, h.cd) { _ => if (!port.reset.toBoolean) begin(false) }
    private var first = true
    StreamMonitor(port.write, h.cd) { beat =>
      if (first && !port.reset.toBoolean) begin(true)
      first = beat.last.toBoolean
    }
    private def begin(c2h: Boolean): Unit = {
      val it = waits(c2h).dequeue()
      it.at = cycle
      under(c2h).enqueue(it)
    }

    private def give(c2h: Boolean): Unit = {
      val id = all(c2h).size
      val size = random.nextInt(20) match {
        case 0     => 20000 + random.nextInt(45536)
        case 1 | 2 => 1 + random.nextInt(5000)
        case 3     => 0
        case 4     => 1 + random.nextInt(4)
        case _     => 1 + random.nextInt(300)
      }
      val address = base(c2h) + span * id + random.nextInt(5000)
      val queue = random.nextInt(6)
      val data = h.randomBytes(size)
      val differs = c2h && chance(12)
      val isBad = size == 0 || differs || (!c2h && chance(10))
      val it = new Given(id, c2h, queue, address, data, isBad)
      all(c2h) += it
      waits(c2h).enqueue(it)
      if (c2h) {
        val beats = (size + 31) / 32
        val given =
          if (!differs) data
          else if (chance(2) && beats > 1) data.take(32 * (1 + random.nextInt(beats - 1)))
          else data.padTo(32 * beats + 100, 1.toByte)
        h.write(queue, address, given, it.tag, says = size)
      } else {
        h.memory.write(address, data)
        if (isBad && size > 0) bad += (address + random.nextInt(size)) & ~511L
        h.read(queue, address, size, it.tag)
      }
    }

    /** Changes of both directions, perhaps in one cycle. */
    private def change(which: Seq[(Int, Boolean, Option[Int])]): Unit = {
      for ((queue, c2h, owner) <- which) {
        val flow = dut.io.changes(if (c2h) 1 else 0)
        flow.valid #= true
        flow.queue #= queue
        flow.now.enable #= owner.isDefined
        flow.now.function #= owner.fold(random.nextInt(p.functions))(it => it)
        now(queue -> c2h) = owner
        changed(queue -> c2h) = cycle
        for (function <- owner) drained -= function
      }
      h.cd.waitSampling()
      dut.io.changes.foreach(_.valid #= false)
    }
    private val banned = mutable.Set[Int]() // while it drains
    private def anOwner: Option[Int] = if (chance(6)) None else Some(random.nextInt(p.functions)).filterNot(banned)

    private def event(): Unit = random.nextInt(40) match {
      case 0 =>
        val queue = random.nextInt(6)
        random.nextInt(3) match {
          case 0 => change(Seq((queue, false, anOwner)))
          case 1 => change(Seq((queue, true, anOwner)))
          case 2 => change(Seq((queue, false, anOwner), (random.nextInt(6), true, anOwner)))
        }
      case 1 if chance(2) =>
        val function = random.nextInt(p.functions)
        val on = !masters(function) || !chance(4)
        if (on != masters(function)) masterChanged(function) = cycle
        if (on) masters += function else masters -= function
        h.setMaster(function, on)
      case 2 => h.host.setPace(Seq(0f, 0.1f, 0.5f, 1f, 1f)(random.nextInt(5)))
      case 3 => h.setTaking(Seq(0f, 0.3f, 1f, 1f)(random.nextInt(4)))
      case 4 => h.host.holds = chance(3)
      case 5 if chance(3) =>
        val function = random.nextInt(p.functions)
        for (((queue, c2h), owner) <- now.toSeq if owner.contains(function)) change(Seq((queue, c2h, None)))
        dut.io.drain.payload #= function
        dut.io.drain.valid #= true
        h.host.setPace(if (chance(2)) 1f else 0.2f)
        h.host.holds = false
        banned += function
        waitFor(h.cd, "the drain")(dut.io.drain.ready.toBoolean && dut.io.drain.valid.toBoolean)
        dut.io.drain.valid #= false
        banned -= function
        assert(!h.host.open.exists(_.function == function), "a read is under way")
        drained += function
      case 6 if chance(6) => reset()
      case 7 =>
        dut.io.maxPayload #= random.nextInt(Integer.numberOfTrailingZeros(maxPayload / 128) + 1)
        dut.io.maxReadRequest #= random.nextInt(Integer.numberOfTrailingZeros(maxRead / 128) + 1)
      case _ => h.cd.waitSampling(1 + random.nextInt(8))
    }

    private def reset(): Unit = {
      h.forget()
      h.setReset(true)
      h.cd.waitSampling(16 + random.nextInt(20))
      for (c2h <- Seq(false, true)) {
        (under(c2h) ++ waits(c2h)).foreach(_.isHeard = false)
        under(c2h).clear()
        waits(c2h).clear()
      }
      first = true
      h.answers.clear()
      h.written.clear()
      h.setReset(false)
    }

    private def mayFail(it: Given): Boolean = {
      def isCertain = now.getOrElse(it.queue -> it.c2h, None).exists { function =>
        changed(it.queue -> it.c2h) < it.at - 8 && masters(function) && masterChanged(function) < it.at - 8
      }
      it.isBad || !isCertain
    }
    private def hears(it: Given, failed: Boolean): Unit = {
      it.end = cycle
      it.failed = failed
      if (failed) failures += 1 else successes += 1
      assert(!failed || mayFail(it), s"command ${it.id} of ${it.c2h} has failed")
      assert(failed || !it.isBad, s"command ${it.id} of ${it.c2h} has not failed")
    }
    private def contents(it: Given): Seq[Byte] = h.memory.read(it.address, it.data.size)
    private def look(): Unit = {
      for (answer <- h.answers) {
        val it = under(false).dequeue()
        assert(answer.tag == it.tag)
        hears(it, answer.failed)
        assert(if (answer.failed) it.data.startsWith(answer.bytes) else it.data == answer.bytes, s"read ${it.id}")
      }
      h.answers.clear()
      for ((tag, failed) <- h.written) {
        val it = under(true).dequeue()
        assert(tag == it.tag)
        hears(it, failed)
        if (!failed) assert(contents(it) == it.data, s"write ${it.id}")
      }
      h.written.clear()
    }
    h.cd.onSamplings(look())

    private def finish(): Unit = {
      h.host.setPace(1f)
      h.setTaking(1f)
      h.host.holds = false
      waitFor(h.cd, "all commands")(Seq(false, true).forall(c2h => under(c2h).isEmpty && waits(c2h).isEmpty))
      h.idle()
      for (it <- all(true)) {
        val is = contents(it)
        for ((byte, i) <- is.zipWithIndex) assert(byte == 0 || byte == it.data(i), s"write ${it.id}, byte $i")
        for (around <- Seq(h.memory.read(it.address - 64, 64), h.memory.read(it.address + it.data.size, 64)))
          assert(around.forall(_ == 0), s"beside write ${it.id}")
      }
    }
    def run(count: Int): Unit = {
      for (queue <- 0 until 6) change(Seq((queue, false, Some(queue)), (queue, true, Some(queue))))
      while (all(false).size < count) {
        if (h.pending < 20) for (_ <- 0 until 1 + random.nextInt(4)) give(chance(2))
        event()
      }
      finish()
      info(s"$successes succeeded, $failures failed, $stale requests behind a change")
    }
  }

  for (extended <- Seq(true, false)) {
    val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16, commands = true, extendedTags = extended)
    lazy val compiled = SimConfig.compile(new CommandEngine(p, if (extended) 80 else 20, timeOut = 60000))
    test(s"commands end as they should while all changes at random, with ${p.commandTags} tags") {
      for (seed <- 0 until 6) {
        val (maxPayload, maxRead) = (128 << seed % 4, 128 << seed % 6)
        compiled.doSim(s"random${p.commandTags}-$seed", seed)(dut =>
          new World(dut, p, 100 + seed, maxPayload, maxRead).run(400)
        )
      }
    }
  }
}
