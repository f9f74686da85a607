// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import meridian.{LongTest, RomSim, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random
import spinal.core._
import spinal.core.sim._

/** The attackers are functions that choose their multicast addresses so that another's own address finds no room. They
  * know everything about the card but the key of the hash.
  */
class MacTableAttackTest extends AnyFunSuite {
  private val shape = MacTableShape(ShellParam(ports = 4))
  private val groups = 64
  private val anyScope = BigInt(1) << (shape.keyBits - 1)

  /** The key of a multicast address on port 0, by 47 bits of it. */
  private def group(bits: BigInt): BigInt = anyScope | ((bits >> 1 << 1 | 0) & ((BigInt(1) << 47) - 1)) << 3 | 4

  class Bench(dut: MacTableHarness) {
    private val cd = dut.clockDomain
    dut.io.command.valid #= false
    dut.io.hold #= false
    dut.io.row.valid #= false
    dut.io.key #= 0
    cd.forkStimulus(10)
    sleep(100)
    cd.waitSamplingWhere(shape.depth + 2)(dut.io.ready.toBoolean)

    def run(operation: MacOperation.E, key: BigInt): MacStatus.E = {
      dut.io.command.valid #= true
      dut.io.command.operation #= operation
      dut.io.command.slot.key #= key
      dut.io.command.slot.value #= 1
      cd.waitSampling()
      dut.io.command.valid #= false
      assert(!cd.waitSamplingWhere(shape.commandCycles + 2)(dut.io.answer.valid.toBoolean), "no answer")
      dut.io.answer.status.toEnum
    }
    def add(key: BigInt): Boolean = Set[MacStatus.E](MacStatus.done, MacStatus.exists)(run(MacOperation.add, key))
    def remove(key: BigInt): Unit = assert(run(MacOperation.remove, key) == MacStatus.done)
  }

  private def simulate(body: (Bench, MacTableHarness, Random) => Unit): Unit =
    RomSim.config.compile(new MacTableHarness(shape)).doSim(1) { dut => body(new Bench(dut), dut, new Random(1)) }

  /** Multicast addresses with exactly the slots of a key, by rows that are known: sums of a value for one half of the
    * address and one for the other.
    */
  private def colliding(hash: MacHashModel, victim: BigInt, random: Random): Seq[BigInt] = {
    val base = group(BigInt(0))
    val target = (hash.slots(victim) ^ hash.slots(base)).toLong
    def part(number: Int, value: Int): Long = (hash.rows(number)(value) ^ hash.rows(number)(0)).toLong
    // Parts 1 to 4 and 5 to 9; part 0 has the port and the bit that says multicast.
    val left = new java.util.HashMap[Long, Int]
    for (n <- 0 until 1 << 20)
      left.put(target ^ (1 to 4).map(i => part(i, n >> (5 * (i - 1)) & 31)).reduce(_ ^ _), n)
    Iterator
      .from(0)
      .take(1 << 24)
      .flatMap { m =>
        val sum = (5 to 9).map(i => part(i, m >> (5 * (i - 5)) & 31)).reduce(_ ^ _)
        Option.when(left.containsKey(sum))(base | BigInt(left.get(sum)) << 5 | BigInt(m) << 25)
      }
      .take(shape.ways)
      .toSeq
  }

  test("four addresses lock out another where the key is known, and no longer when it is drawn") {
    simulate { (bench, dut, random) =>
      val known = MacHashModel(shape, shape.firstKey.get)
      val victim = anyScope | BigInt(50, random).clearBit(2)
      val chosen = colliding(known, victim, random)
      assert(chosen.size == shape.ways && chosen.forall(known.slots(_) == known.slots(victim)))
      chosen.foreach(key => assert(bench.add(key)))
      assert(!bench.add(victim), "the addresses do not collide where the key is known: the test tests nothing")
      chosen.foreach(bench.remove)
      for (_ <- 0 until 20) {
        dut.writeRows(MacHash.rows(shape, BigInt(Trivium.keyBits, random)))
        chosen.foreach(key => assert(bench.add(key)))
        assert(bench.add(victim))
        (victim +: chosen).foreach(bench.remove)
      }
    }
  }

  /** Sets of addresses that hash functions are known to be weak for. */
  private def sets(victim: BigInt, random: Random): Seq[Seq[BigInt]] = {
    def grid(parts: Seq[Int]): Seq[BigInt] = {
      val base = group(BigInt(47, random))
      for (n <- 0 until groups) yield parts.zipWithIndex.foldLeft(base) { case (key, (part, i)) =>
        val (width, at) = (6 / parts.size, 5 * part)
        val value = BigInt(n >> (width * i) & ((1 << width) - 1)) << at
        key &~ (BigInt((1 << width) - 1) << at) | value
      }
    }
    val near = victim.setBit(2)
    Seq(
      Seq.fill(groups)(group(BigInt(47, random))), // at random
      (0 until groups).map(n => group(BigInt(n) << 39)), // in a row, the last byte counting
      (0 until groups).map(n => group(BigInt(n) << 1)), // the first bytes counting
      grid(Seq(1, 2, 3, 4, 5, 6)), // two values of six parts
      grid(Seq(3, 8, 9)), // four values of three parts
      (0 until groups).map(n => near ^ (BigInt(n) << 10)), // neighbours of the victim
      (0 until 44).map(n => near.flipBit(3 + n)) // one bit apart from it
    )
  }

  private def attack(keys: Int, victims: Int): Unit = simulate { (bench, dut, random) =>
    var tries = 0
    for (_ <- 0 until keys) {
      dut.writeRows(MacHash.rows(shape, BigInt(Trivium.keyBits, random)))
      // The own addresses of 256 functions, and 192 more of those that may have them, are there as well.
      val others = Seq.fill(448)(anyScope | BigInt(50, random).clearBit(2)).distinct
      others.foreach(key => assert(bench.add(key)))
      def victim() = anyScope | BigInt(50, random).clearBit(2)
      for (chosen <- sets(victim(), random)) {
        assert(chosen.distinct.size == chosen.size && chosen.forall(_.testBit(2)))
        chosen.foreach(key => assert(bench.add(key), "a group finds no room"))
        for (_ <- 0 until victims) {
          val own = Iterator.continually(victim()).find(!others.contains(_)).get
          assert(bench.add(own), f"$own%x finds no room")
          bench.remove(own)
          tries += 1
        }
        chosen.foreach(bench.remove)
      }
      others.foreach(bench.remove)
    }
    info(s"$tries tries")
  }

  test("no chosen addresses lock out another: ten thousand tries")(attack(keys = 15, victims = 100))

  test("no chosen addresses lock out another: a million tries", LongTest)(attack(keys = 360, victims = 400))
}
