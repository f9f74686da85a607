// SPDX-License-Identifier: Apache-2.0
package meridian.dma.completion

import meridian.dma.DmaParam
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** Timers that are started and stopped at random, in a simulation that skips the cycles of which it is told that they are
  * quiet.
  */
class TimerListTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16)
  lazy val compiled = SimConfig.compile {
    val dut = new TimerList(p)
    dut.now.simPublic()
    dut
  }

  /** @param longest  cycles of the longest timer
    * @param pause    cycles between commands, on average
    * @param skips    whether quiet cycles are skipped
    */
  def run(longest: Int, pause: Int, skips: Boolean, seed: Int): Unit =
    compiled.doSim(s"timers_${longest}_$skips", seed) { dut =>
      val random = new Random(seed)
      val ends = mutable.Map[Int, Long]() // of the timers that run
      var (told, skipped, known, since) = (0, 0L, 0, 0) // since: cycles since a command or a skip
      val never = 0xffffffffL
      dut.clockDomain.forkStimulus(10)
      dut.io.command.valid #= false
      dut.io.mayCome #= false
      dut.io.expired.ready #= false
      dut.io.skip #= 1
      dut.clockDomain.waitSampling(40)
      var before = (0L, Seq.empty[Long])
      for (_ <- 0 until 30000) {
        sleep(1)
        val quiet = dut.io.quietCycles.toLong
        val now = dut.now.toLong
        // It was found in the cycle before.
        if (quiet == never) assert(before._2.isEmpty, "a timer runs")
        else if (quiet != 0) {
          assert(before._2.nonEmpty && quiet <= before._2.min - before._1, s"$quiet, but the soonest ends sooner")
          if (quiet == before._2.min - before._1) known += 1
        }
        for (end <- ends.values) assert(now - end < 4 * p.queues + 80, "an end is told late")
        val taken = random.nextInt(4) == 0
        val commands = since >= 4 && !taken && random.nextInt(pause) == 0
        val queue = random.nextInt(p.queues)
        val runs = random.nextInt(3) != 0
        val cycles = 1 + random.nextInt(longest)
        val maySkip = skips && !commands && since > 4 && quiet > 32 && random.nextInt(4) == 0
        val skip = if (maySkip) (quiet min 5000) - 16 else 1
        dut.io.skip #= skip
        dut.io.expired.ready #= taken
        dut.io.mayCome #= commands
        dut.io.command.valid #= commands
        dut.io.command.payload.queue #= queue
        dut.io.command.payload.run #= runs
        dut.io.command.payload.cycles #= cycles
        sleep(1)
        val isTold = dut.io.expired.valid.toBoolean && taken
        val of = dut.io.expired.payload.toInt
        before = (now, ends.values.toSeq)
        dut.clockDomain.waitSampling()
        if (isTold) {
          assert(ends.contains(of) && ends(of) <= now, s"the timer of $of is told before its end")
          ends -= of
          told += 1
        }
        if (commands && runs) ends(queue) = now + cycles
        if (commands && !runs) ends -= queue
        since = if (commands || skip > 1) 0 else since + 1
        skipped += skip - 1
      }
      assert(told > 40 && known > 40 && (!skips || skipped > 30000), s"$told ends, $known known, $skipped skipped")
    }

  test("an end is told, not before its time and soon after it, and no quiet cycle has one")(run(300, 20, false, 1))
  test("an end of long timers is told in time in a simulation that skips quiet cycles")(run(20000, 30, true, 2))
  test("an end of short timers is told in time in a simulation that skips quiet cycles")(run(1000, 100, true, 3))
}
