// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import meridian.RomSim
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import spinal.core.sim._

/** The table filled to its last slots, where almost every new entry has to make others move. */
class MacTableUpdateTest extends AnyFunSuite {
  private val shape = MacTableShape(ways = 4, depth = 8, keyBits = 16, scopeBits = 6, valueBits = 8, entries = 31)

  test("entries are found while they move, and a refused one changes nothing") {
    RomSim.config.compile(new MacTableHarness(shape)).doSim(1) { dut =>
      val random = new Random(1)

      /** A key for any scope has no scope of its own. */
      def drawKey(): Int = random.nextInt(0x10000) match {
        case key if (key >> (shape.keyBits - 1)) != 0 => key & (0x8000 | ((1 << shape.addressBits) - 1))
        case key                                      => key
      }
      val cd = dut.clockDomain
      var held = Map.empty[Int, Int]
      var changed = held
      var full, longest, fullest = 0
      val asked = mutable.Queue.empty[(Int, Set[Option[Int]])]
      dut.io.command.valid #= false
      dut.io.hold #= false
      dut.io.row.valid #= false
      cd.forkStimulus(10)
      SimTimeout(10L * 2000000)
      sleep(100)
      cd.waitSamplingWhere(shape.depth + 2)(dut.io.ready.toBoolean)
      for (_ <- 0 until 2) dut.writeRows(Seq.fill(MacHash.rowCount(shape))(BigInt(shape.rowBits, random)))

      def cycle(): Option[(MacStatus.E, Int)] = {
        cd.waitSampling()
        val answer = Option.when(dut.io.answer.valid.toBoolean)(
          (dut.io.answer.status.toEnum: MacStatus.E, dut.io.answer.value.toInt)
        )
        for ((status, _) <- answer) {
          if (status == MacStatus.done || status == MacStatus.exists) held = changed
          changed = held
        }
        val key = dut.io.key.toInt
        asked += key -> Set(held.get(key), changed.get(key))
        if (asked.size > MacTableHarness.latency) {
          val (key, allowed) = asked.dequeue()
          val got = Option.when(dut.io.hit.toBoolean)(dut.io.value.toInt)
          assert(allowed.contains(got), f"$key%04x gave $got, allowed $allowed")
        }
        val keys = held.keys.toIndexedSeq
        val present = keys.nonEmpty && random.nextInt(8) != 0
        dut.io.key #= (if (present) keys(random.nextInt(keys.size)) else drawKey())
        answer
      }

      def run(operation: MacOperation.E, key: Int, value: Int): MacStatus.E = {
        dut.io.command.valid #= true
        dut.io.command.operation #= operation
        dut.io.command.slot.key #= key
        dut.io.command.slot.value #= value
        changed = if (operation == MacOperation.add) held + (key -> value) else held - key
        cycle()
        dut.io.command.valid #= false
        var cycles = 1
        var answer = cycle()
        while (answer.isEmpty) {
          assert(cycles < shape.commandCycles, "no answer")
          cycles += 1
          answer = cycle()
        }
        longest = longest max cycles
        answer.get._1
      }

      for (_ <- 0 until 3000) {
        if (held.size < shape.entries) {
          if (run(MacOperation.add, drawKey(), random.nextInt(256)) == MacStatus.full) {
            full += 1
            val victim = random.shuffle(held.keys.toSeq).head
            assert(run(MacOperation.remove, victim, 0) == MacStatus.done)
          }
        } else {
          assert(run(MacOperation.add, (0 until 0x8000).find(!held.contains(_)).get, 0) == MacStatus.full)
          for (victim <- random.shuffle(held.keys.toSeq).take(1 + random.nextInt(6)))
            assert(run(MacOperation.remove, victim, 0) == MacStatus.done)
        }
        fullest = fullest max held.size
        assert(dut.io.count.toInt == held.size)
      }
      info(s"$full adds found no room, longest command $longest cycles, at most $fullest entries")
      assert(full > 0 && longest > shape.commandCycles / 2 && fullest >= shape.entries - 2)
    }
  }
}
