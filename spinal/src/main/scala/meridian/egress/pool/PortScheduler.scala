// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import spinal.core._
import spinal.lib._

/** How the classes of a port share it. */
case class PortWeights(e: PoolParam) extends Bundle {
  val strict = Bits(e.classes bits) // the class goes before all lower ones, and before all that are not strict
  val weight = Vec(UInt(8 bits), e.classes) // of a class that is not; 0: gets what is left
}

object PortScheduler {

  /** Bytes that a class gets a round for each unit of its weight. */
  val unit = 256

  /** Bytes that a group of functions gets a round of its class. */
  val quantum = 2048
}

/** Chooses whose frame goes next at a port.
  *
  * The highest urgent class that has a frame goes first, then the highest strict one; neither pays for it. The others share
  * what is left by deficit round robin: a class is served while its credit is above 0, and pays each frame when its length is known, so it may owe. When no class that waits
  * has credit, each of them gets weight * unit. Those of weight 0 are served if no other waits, as if all had weight 1. The
  * groups of functions in a class share it in the same way, with equal weights.
  *
  * A class that is blocked is not chosen, and gets no credit; a frame begun goes on. Settings, blocked and urgent count a
  * cycle later, when a frame is chosen, and credit is given before there is room for it.
  *
  * A class of weight w waits for 1 + maxFrame / (w * unit) rounds at most, rounded up, if no strict or urgent class has frames; in
  * a round each other class sends its weight * unit and a frame at most. The same holds for a group with quantum.
  *
  * Latency: 2 cycles from a list with frames to start, and one for each credit that has to be given. Throughput: with the
  * reader a frame in 6 cycles.
  */
class PortScheduler(e: PoolParam, unit: Int = PortScheduler.unit, quantum: Int = PortScheduler.quantum)
    extends Component {
  val io = new Bundle {
    val some = in Bits (e.lists bits)
    val someOf = in Bits (e.classes bits) // see FrameLists
    val blocked, urgent = in Bits (e.classes bits)
    val weights = in(PortWeights(e))
    val go = in Bool () // there is room for a frame
    val list = out(e.listType()) // from start to end
    val start = out Bool ()
    val end = slave(Flow(e.lengthType())) // bytes of the frame, at the end
    val begun = master(Flow(ClassBytes(e)))
    val idle = out Bool ()
  }
  private val creditBits = 1 + log2Up(((255 * unit) max e.maxFrame) + 256)
  private def credit() = SInt(creditBits bits)
  private def highest(bits: Bits): UInt = OHToUInt(OHMasking.last(bits))
  private def isPositive(credit: SInt): Bool = !credit.msb && credit.dropHigh(1).orR

  object State extends SpinalEnum { val classes, groups, starts, reads = newElement() }
  val state = RegInit(State.classes)
  val trafficClass = Reg(e.classType()) init 0
  val group = Reg(e.groupType()) init 0
  val isFree = RegInit(False) // it pays nothing
  io.list := trafficClass @@ group

  /** After reset the credits of groups are cleared, those of a class a cycle. */
  val cleared = Reg(UInt(log2Up(e.classes) + 1 bits)) init 0
  val ready = cleared === e.classes
  when(!ready)(cleared := cleared + 1)
  io.idle := state === State.classes

  val classes = new Area {
    val credits = Vec.fill(e.classes)(Reg(credit()) init 0)
    val positive = Reg(Bits(e.classes bits)) init 0
    val shares = Vec(io.weights.weight.map(w => RegNext(Mux(w === 0, U(1, 8 bits), w)) init 1))

    // Each kind of choice is made as if it were the one, and the one is picked last: so the way through LUTs is short.
    private def may(classes: Bits): Bits = io.someOf & (RegNext(classes & ~io.blocked) init 0)
    val urgent = may(io.urgent)
    val strict = may(io.weights.strict)
    val others = may(~io.weights.strict)
    val isWeighted = Vec(io.weights.weight.map(_ =/= 0)).asBits
    val weighted = may(~io.weights.strict & isWeighted)
    val isUrgentNow = urgent.orR
    val isFreeNow = isUrgentNow || strict.orR
    val byWeight = weighted.orR
    val highestServed = Mux(byWeight, highest(weighted & positive), highest(others & positive))
    val someServed = Mux(byWeight, (weighted & positive).orR, (others & positive).orR)
    val choosing = state === State.classes && ready
    val gives = choosing && others.orR && !isFreeNow && !someServed
    when(choosing) {
      trafficClass := Mux(isFreeNow, Mux(isUrgentNow, highest(urgent), highest(strict)), highestServed).resized
      isFree := isFreeNow
      when((isFreeNow || someServed) && io.go)(state := State.groups)
    }
    // A class of weight 0 shares only while none with a weight waits.
    val paid = -io.end.payload.intoSInt.resize(creditBits bits)
    for ((credit, c) <- credits.zipWithIndex) {
      val gets = gives && Mux(byWeight, weighted(c), others(c))
      val pays = io.end.valid && !isFree && trafficClass === c
      val share = (shares(c) * unit).intoSInt.resize(creditBits bits)
      val sum = credit + Mux(io.end.valid, paid, share)
      when(gets || pays) {
        credit := sum
        positive(c) := isPositive(sum)
      }
    }
  }

  val groups = new Area {
    private val groupBits = 1 + log2Up((quantum max e.maxFrame) + 256)
    private def groupCredit() = SInt(groupBits bits)
    val rows = Mem(Vec(groupCredit(), e.groups), e.classes)
    val row = rows.readAsync(trafficClass)
    val waits = io.some.subdivideIn(e.groups bits)(trafficClass)
    val served = waits & Vec(row.map(isPositive)).asBits
    val next = CombInit(row)
    val writes = CombInit(io.end.valid)
    when(state === State.groups) {
      group := OHToUInt(OHMasking.first(served)).resized
      when(served.orR)(state := State.starts) otherwise {
        writes := True
        for ((credit, g) <- next.zipWithIndex) when(waits(g))(credit := row(g) + quantum)
      }
    }
    when(io.end.valid)(next(group) := row(group) - io.end.payload.intoSInt.resized)
    when(!ready)(next.foreach(_ := 0))
    rows.write(Mux(ready, trafficClass, cleared.resized), next, writes || !ready)
  }

  io.start := state === State.starts
  when(io.start)(state := State.reads)
  when(io.end.valid)(state := State.classes)
  io.begun.valid := io.end.valid
  io.begun.trafficClass := trafficClass
  io.begun.bytes := io.end.payload
}
