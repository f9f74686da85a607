// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.regs.counters._
import spinal.core.sim._

import scala.collection.mutable

/** 64-bit counters beyond 32 bits, read word by word by all who can reach them, one between the words of another. */
class CounterReadersTest extends RegsSuite {
  private val thePs = -1 // as a reader; the others are functions

  /** A counter: who reads it, where its low word is for each, and how it gets a value. */
  private case class Counter(readers: Seq[Int], at: Int => BigInt, set: BigInt => Unit)

  private val pfs = 0 until p.pfs
  private val vf = 5
  private def ofBoth(bar2: Int)(reader: Int): BigInt = if (reader == thePs) bar2 - 0x100000 else bar2
  private val counters = Seq[(String, Setup => Counter)](
    ("ring of the PS", s => Counter(thePs +: pfs, ofBoth(0x10c088), s.dut.ringBytes #= _)),
    (
      "port",
      s => {
        val (at, sum) = PortCounters.offsets.find(_._2.name == "rx_good_bytes").get
        assert(sum.count == 1, "one place of the memory")
        Counter(thePs +: pfs, ofBoth(0x108000 + at), s.dut.card.counters(0).rx.bank.memory.setBigInt(sum.first, _))
      }
    ),
    (
      "port by ticks",
      s => {
        val (at, sum) = PortCounters.cmacOffsets.find(_._2.name == "rx_good_bytes").get
        Counter(pfs, _ => 0x8000 + at, s.dut.card.counters(0).rx.growth.setBigInt(sum.first, _))
      }
    ),
    ("single event", s => Counter(pfs, _ => 0x112000, s.dut.host.events.counts(0) #= _)),
    (
      "function",
      s => {
        val at = FunctionCounters.base + 8 * FunctionCounters.rxBytes
        Counter(
          vf +: pfs,
          reader => if (reader == vf) at else 0x200000 + 0x1000 * vf + at,
          s.dut.host.counters.rx.bytes.memory.setBigInt(vf, _)
        )
      }
    )
  )

  for (((name, make), i) <- counters.zipWithIndex)
    run(s"both words of a counter of a $name are of one moment for each reader, whatever others read", 31 + i) { s =>
      import s._
      bar2.read(0x200000) // all memories of counters are cleared by then
      ps.read(0x8000)
      val counter = make(s)
      val begun = mutable.Map[Int, (BigInt, BigInt)]() // by reader: the counter's value then, and the low word
      var overtaken = 0
      for (_ <- 0 until 150) {
        val value = BigInt(64, random)
        counter.set(value)
        dut.psClock.waitSampling(3)
        val reader = counter.readers(random.nextInt(counter.readers.size))
        def read(offset: Int): BigInt =
          if (reader == thePs) ps.read(counter.at(reader) + offset) else bar2.read(counter.at(reader) + offset, reader)
        begun.remove(reader) match {
          case None =>
            val low = read(0)
            assert(low == (value & 0xffffffffL), s"low word, reader $reader")
            begun(reader) = (value, low)
          case Some((before, low)) =>
            assert(((read(4) << 32) | low) == before, s"both words, reader $reader")
            if (begun.nonEmpty) overtaken += 1
        }
      }
      assert(overtaken > 30)
    }
}
