// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import meridian.{RomSim, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import spinal.core._
import spinal.core.sim._

class MacTableTest extends AnyFunSuite {

  /** vid None: any VLAN. */
  case class Key(port: Int, address: Long, vid: Option[Int])

  /** What a table of these entries answers. */
  case class Model(entries: Map[Key, Int] = Map.empty) {
    def lookup(port: Int, address: Long, vid: Int): Option[Int] =
      entries.get(Key(port, address, Some(vid))).orElse(entries.get(Key(port, address, None)))
  }

  case class Query(port: Int, address: Long, vid: Int)
  case class Command(operation: MacOperation.E, key: Key, value: Int = 0)

  /** A table with both clients asking all the time, every answer checked against the model.
    *
    * @param queries what the clients ask
    */
  class Bench(dut: MacTable, p: ShellParam, random: Random, queries: () => Query) {
    var model = Model()
    var changed = Model() // after the command at hand, should it succeed
    var cycles, hits, longest = 0
    private val expected = Seq.fill(2)(mutable.Queue.empty[(Query, Set[Option[Int]])])
    private val asked = Array.fill(2)(Option.empty[Query])
    private val cd = dut.clockDomain

    def reset(): Unit = {
      cd.assertReset()
      dut.io.command.valid #= false
      dut.io.hashKey.word.valid #= false
      dut.io.hashKey.start #= false
      dut.io.lookup.foreach(_.query.valid #= false)
      sleep(50)
      cd.deassertReset()
      model = Model()
      changed = model
      expected.foreach(_.clear())
      for (client <- 0 until 2) asked(client) = None
    }

    /** One cycle; gives the answer to a command, if there is one. */
    def cycle(): Option[(MacStatus.E, Int)] = {
      cd.waitSampling()
      cycles += 1
      val answer = if (dut.io.answer.valid.toBoolean) {
        val value = dut.io.answer.value
        Some((dut.io.answer.status.toEnum, value.index.toInt + (if (value.isGroup.toBoolean) 256 else 0)))
      } else None
      for ((status, _) <- answer) {
        if (status == MacStatus.done || status == MacStatus.exists) model = changed
        changed = model
      }
      for ((lookup, client) <- dut.io.lookup.zipWithIndex) {
        val ready = dut.io.ready.toBoolean
        expected(client) += asked(client).fold((Query(0, 0, 0), Set.empty[Option[Int]])) { q =>
          val found = Set(model, changed).map(_.lookup(q.port, q.address, q.vid))
          (q, if (ready) found else Set(None))
        }
        if (expected(client).size > MacTable.latency) {
          val (query, allowed) = expected(client).dequeue()
          val result = lookup.result
          assert(result.valid.toBoolean == allowed.nonEmpty)
          if (allowed.nonEmpty) {
            val got = Option.when(result.hit.toBoolean)(
              result.value.index.toInt + (if (result.value.isGroup.toBoolean) 256 else 0)
            )
            assert(allowed.contains(got), s"client $client, cycle $cycles: $query gave $got, allowed is $allowed")
            if (got.nonEmpty) hits += 1
          }
        }
        asked(client) = Option.when(random.nextInt(16) != 0)(queries())
        lookup.query.valid #= asked(client).nonEmpty
        for (q <- asked(client)) {
          lookup.query.port #= q.port
          lookup.query.address #= q.address
          lookup.query.vid #= q.vid
        }
      }
      answer
    }

    def waitReady(): Int = {
      val start = cycles
      while (!dut.io.ready.toBoolean) {
        cycle()
        assert(cycles - start <= p.macEntries / 2 + 2, "never ready")
      }
      cycles - start
    }

    def run(command: Command): (MacStatus.E, Int) = {
      assert(dut.io.command.ready.toBoolean)
      dut.io.command.valid #= true
      dut.io.command.operation #= command.operation
      dut.io.command.query.port #= command.key.port
      dut.io.command.query.address #= command.key.address
      dut.io.command.query.vid #= command.key.vid.getOrElse[Int](random.nextInt(4096))
      dut.io.command.anyVlan #= command.key.vid.isEmpty
      dut.io.command.value.index #= command.value % 256
      dut.io.command.value.isGroup #= command.value >= 256
      changed = command.operation match {
        case MacOperation.add    => Model(model.entries + (command.key -> command.value))
        case MacOperation.remove => Model(model.entries - command.key)
        case _                   => model
      }
      val start = cycles
      assert(cycle().isEmpty)
      dut.io.command.valid #= false
      var answer = cycle()
      while (answer.isEmpty) {
        assert(cycles - start <= MacTable.commandCycles(p), "no answer")
        answer = cycle()
      }
      longest = longest max (cycles - start - 1)
      assert(dut.io.count.toInt == model.entries.size)
      answer.get
    }

    def expect(command: Command): Unit = {
      val before = model.entries
      val held = before.get(command.key)
      val (status, value) = run(command)
      val wanted = command.operation match {
        case MacOperation.add if held.nonEmpty               => MacStatus.exists
        case MacOperation.add if before.size >= p.macEntries => MacStatus.full
        case MacOperation.add                                => MacStatus.done
        case _ => if (held.nonEmpty) MacStatus.done else MacStatus.notFound
      }
      assert(status == wanted, s"$command with ${before.size} entries")
      for (old <- held) assert(value == old, s"$command")
    }
  }

  def simulate(p: ShellParam, seeds: Seq[Int])(body: (MacTable, Random) => Unit): Unit = {
    val compiled = RomSim.config.compile {
      val table = new MacTable(p, 2)
      MacHashModel.open(table.update.hash)
      table
    }
    for (seed <- seeds) {
      println(s"seed $seed")
      compiled.doSim(s"seed$seed", seed) { dut =>
        dut.clockDomain.forkStimulus(10)
        SimTimeout(10L * 1000000)
        body(dut, new Random(seed))
      }
    }
  }

  test("lookups under traffic are right while entries change at random") {
    val p = ShellParam(ports = 2, macEntries = 16)
    simulate(p, Seq(1, 2, 3)) { (dut, random) =>
      // Few addresses and VLANs, so that all kinds of neighbours meet.
      val addresses = Seq.fill(12)(random.nextLong() & 0xffffffffffffL)
      val vids = Seq(0, 1, 2, 4095)
      def pick[T](from: Seq[T]) = from(random.nextInt(from.size))
      val bench = new Bench(dut, p, random, () => Query(random.nextInt(2), pick(addresses), pick(vids)))
      def key() = Key(random.nextInt(2), pick(addresses), pick(None +: vids.map(Some(_))))
      bench.reset()
      bench.waitReady()
      var fullest = 0
      for (phase <- 0 until 8; _ <- 0 until 250) {
        val adding = if (phase % 2 == 0) 12 else 6
        val held = bench.model.entries.keys.toSeq
        val operation = random.nextInt(20) match {
          case n if n < adding => MacOperation.add
          case n if n < 18     => MacOperation.remove
          case _               => MacOperation.find
        }
        val one = if (held.nonEmpty && random.nextInt(3) == 0) pick(held) else key()
        bench.expect(Command(operation, one, random.nextInt(512)))
        fullest = fullest max bench.model.entries.size
        for (_ <- 0 until (if (random.nextInt(8) == 0) random.nextInt(20) else 0)) bench.cycle()
      }
      assert(fullest == p.macEntries)
      assert(bench.hits > bench.cycles / 8)
      info(s"${bench.cycles} cycles, ${bench.hits} hits, longest command ${bench.longest} cycles")
    }
  }

  /** Fills the table to the last entry, checks it, empties it. */
  def fill(dut: MacTable, p: ShellParam, random: Random, keys: Seq[Key]): Unit = {
    assert(keys.distinct.size > p.macEntries)
    val bench = new Bench(
      dut,
      p,
      random,
      () => {
        val key = keys(random.nextInt(keys.size))
        Query(key.port, key.address, key.vid.getOrElse(random.nextInt(4096)))
      }
    )
    bench.reset()
    val cleared = bench.waitReady()
    assert(cleared >= p.macEntries / 2 - 4)
    for (key <- keys.take(p.macEntries)) bench.expect(Command(MacOperation.add, key, random.nextInt(512)))
    bench.expect(Command(MacOperation.add, keys(p.macEntries)))
    val longest = bench.longest
    for (key <- random.shuffle(keys).take(50)) bench.expect(Command(MacOperation.find, key))
    for (key <- random.shuffle(keys).take(50)) bench.expect(Command(MacOperation.remove, key))
    println(s"longest command $longest cycles")
  }

  def address(bytes: Seq[Int]): Long = bytes.zipWithIndex.map { case (byte, n) => (byte & 0xffL) << (8 * n) }.sum

  test("the table holds macEntries entries that are random, of addresses in a row or of VLANs in a row") {
    val p = ShellParam()
    def row(n: Int) = address(Seq(2, 0, 0, 0x12, n >> 8, n))
    simulate(p, Seq(1)) { (dut, random) =>
      fill(dut, p, random, Seq.fill(p.macEntries + 1)(Key(0, random.nextLong() & 0xffffffffffffL, None)))
      fill(dut, p, random, (0 to p.macEntries).map(n => Key(0, row(n), None)))
      fill(dut, p, random, (0 to p.macEntries).map(n => Key(0, row(0), Some(n))))
    }
  }

  test("the table holds macEntries entries when they are few") {
    val p = ShellParam(macEntries = 16)
    simulate(p, 1 to 20) { (dut, random) =>
      fill(dut, p, random, Seq.fill(17)(Key(0, random.nextLong() & 0xffffffffffffL, Some(random.nextInt(4096)))))
    }
  }

  test("a key is taken while the table is empty, and commands wait for its rows") {
    val p = ShellParam(ports = 2, macEntries = 16)
    simulate(p, Seq(1, 2, 3, 4)) { (dut, random) =>
      val keys = Seq.fill(17)(Key(random.nextInt(2), random.nextLong() & 0xffffffffffffL, None))
      def query() = {
        val key = keys(random.nextInt(keys.size))
        Query(key.port, key.address, random.nextInt(4096))
      }
      val bench = new Bench(dut, p, random, () => query())
      bench.reset()
      bench.waitReady()

      /** Writes a key; gives how many of its words were refused. */
      def write(): Int = {
        var refused = 0
        for (word <- 0 until 3) {
          val port = dut.io.hashKey
          port.word.valid #= true
          port.word.word #= word
          port.word.data #= random.nextInt() & 0xffffffffL
          port.start #= word == 2
          bench.cycle()
          port.word.valid #= false
          port.start #= false
          bench.cycle()
          if (port.refused.toBoolean) refused += 1
          bench.cycle()
          assert(!port.refused.toBoolean)
        }
        refused
      }
      def waitDrawn(): Int = {
        val start = bench.cycles
        while (dut.io.hashKey.drawing.toBoolean) {
          assert(!dut.io.command.ready.toBoolean)
          bench.cycle()
          assert(bench.cycles - start <= MacTable.drawingCycles(p))
        }
        bench.cycles - start
      }
      def slots(): Seq[BigInt] = {
        val shape = dut.shape
        for (key <- keys) yield {
          val bits = BigInt(1) << (shape.keyBits - 1) | BigInt(key.address) << p.portBits | key.port
          MacHashModel(dut.update.hash).slots(bits)
        }
      }
      val first = slots()
      assert(write() == 0)
      assert(write() == 3, "a key is not taken while rows are drawn")
      assert(waitDrawn() > MacTable.drawingCycles(p) / 2)
      assert(dut.io.hashKey.drawn.toBoolean && slots() != first)
      for (key <- keys.take(p.macEntries)) bench.expect(Command(MacOperation.add, key, random.nextInt(512)))
      val second = slots()
      assert(write() == 3, "a key is not taken while there are entries")
      for (key <- keys.take(p.macEntries)) bench.expect(Command(MacOperation.find, key))
      for (key <- keys.take(p.macEntries)) bench.expect(Command(MacOperation.remove, key))
      assert(slots() == second)
      // A word that comes with a command is refused, and one that comes while it is carried out.
      for (late <- 0 until 4) {
        dut.io.command.valid #= true
        dut.io.command.operation #= MacOperation.find
        for (_ <- 0 until late) { bench.cycle(); dut.io.command.valid #= false }
        dut.io.hashKey.word.valid #= true
        dut.io.hashKey.start #= true
        bench.cycle()
        dut.io.command.valid #= false
        dut.io.hashKey.word.valid #= false
        dut.io.hashKey.start #= false
        for (_ <- 0 until 10) { bench.cycle(); assert(!dut.io.hashKey.drawing.toBoolean) }
      }
      // A reset ends the drawing; the table works with what rows there are.
      assert(write() == 0)
      val half = MacTable.drawingCycles(p) / 2
      for (_ <- 0 until half + random.nextInt(half - 4)) bench.cycle()
      assert(dut.io.hashKey.drawing.toBoolean)
      bench.reset()
      bench.waitReady()
      assert(!dut.io.hashKey.drawing.toBoolean && slots() != second)
      for (key <- keys.take(p.macEntries)) bench.expect(Command(MacOperation.add, key, random.nextInt(512)))
    }
  }
}
