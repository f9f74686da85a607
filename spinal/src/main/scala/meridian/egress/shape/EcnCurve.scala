// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import spinal.core._
import spinal.lib._

/** From which fill on frames of a list are marked.
  *
  * Below `min` none is, from `max` on all are. In between the probability is `slope` times the distance from min, so it is
  * slope * (max - min) just below max. With min = max there is a threshold; with max = 0 none is ever marked.
  */
case class EcnLine(fillBits: Int) extends Bundle {
  val min, max = UInt(fillBits bits)
  val slope = UInt(EcnCurve.slopeBits bits) // in 2^-21 a unit of fill, up to 1/16

  /** The mean moves by 2^-weight of the distance from it with each visit; 0: it is the fill itself. */
  val weight = UInt(EcnCurve.weightBits bits)
}

/** Access to the lines of all lists, half a line at a time: min and max, or slope and weight. */
case class EcnLineAccess(fillBits: Int, lists: Int) extends Bundle with IMasterSlave {
  val write = Bool()
  val isSlope = Bool() // of write: slope and weight
  val list = UInt(log2Up(lists) bits)
  val value = EcnLine(fillBits) // to be written
  val line = EcnLine(fillBits) // of the list

  override def asMaster(): Unit = {
    out(write, isSlope, list, value)
    in(line)
  }
}

object EcnCurve {
  val slopeBits = 17 // so that the product takes one DSP slice
  val weightBits = 4

  /** A slope of 1 << slopeFraction would be a probability of 1 a unit. */
  val slopeFraction = 21
  val probabilityBits = 16

  /** Cycles from a visit to the next of the same list: each takes its fill and works out the probability. */
  def visitCycles(lists: Int): Int = 4 * lists

  /** Cycles from a fill, or a line, to the probability that it gives, without a mean. */
  def latency(lists: Int): Int = visitCycles(lists) + 8
}

/** Decides at random which frames of a list are marked, or dropped: random early detection (RED) by the fill of the list, or
  * by its exponentially weighted mean. The mean is over time, not over frames, so it follows also while none come.
  *
  * A list is visited every EcnCurve.visitCycles. A decision is made with the probability found by its last visit, and
  * random bits of a 31-bit feedback shift register that moves by 16 bits a cycle; they are not secret. Lines, means and
  * probabilities are in LUT RAM. Lines may be set at any time; after reset none marks.
  *
  * Latency: io.mark is valid a cycle after io.query, and EcnCurve.latency cycles after a change of io.fill it is by that.
  * Throughput: a query a cycle. About 500 LUTs and a DSP slice for 16 lists.
  *
  * @param lists a power of two
  */
class EcnCurve(fillBits: Int, lists: Int) extends Component {
  require(fillBits >= 2 && fillBits <= 24, s"fillBits is $fillBits: choose 2 to 24")
  require(isPow2(lists) && lists >= 2, s"lists is $lists: choose a power of two")
  import EcnCurve._
  val io = new Bundle {
    val fill = in Vec (UInt(fillBits bits), lists)
    val settings = slave(EcnLineAccess(fillBits, lists))
    val query = slave(Flow(UInt(log2Up(lists) bits))) // the list of a frame
    val mark = out Bool ()
    val idle = out Bool () // each list that has a line is empty, and so is its mean
  }
  val fraction = (1 << weightBits) - 1 // as the largest weight, so that a mean can come near to the fill
  val count = Reg(UInt(log2Up(4 * lists) bits)) init 0
  count := count + 1
  val visited = count.dropLow(2).asUInt
  val step = count.take(2).asUInt
  private def at(n: Int): Bool = step === n % 4

  /** In the first round after reset lines are cleared, in the second means and probabilities. */
  val rounds = Reg(UInt(2 bits)) init 0
  when(count.andR && !rounds.msb)(rounds := rounds + 1)
  val clears = rounds === 0
  val settled = rounds.msb

  val lines = new Area {
    private def half(width: Int, value: UInt, isSlope: Boolean): Mem[UInt] = {
      val memory = Mem(UInt(width bits), lists)
      memory.write(
        Mux(clears, visited, io.settings.list),
        value.andMask(!clears),
        clears || io.settings.write && io.settings.isSlope === Bool(isSlope)
      )
      memory
    }
    val bounds = half(2 * fillBits, io.settings.value.max @@ io.settings.value.min, isSlope = false)
    val slopes = half(slopeBits + weightBits, io.settings.value.weight @@ io.settings.value.slope, isSlope = true)
    def of(list: UInt): EcnLine = {
      val line = EcnLine(fillBits)
      val (bound, slope) = (bounds.readAsync(list), slopes.readAsync(list))
      line.min := bound.take(fillBits).asUInt
      line.max := bound.dropLow(fillBits).asUInt
      line.slope := slope.take(slopeBits).asUInt
      line.weight := slope.dropLow(slopeBits).asUInt
      line
    }
  }
  io.settings.line := lines.of(io.settings.list)

  // A list has its turn for 4 cycles, in each of which one stage moves; what is found is written in the next one's turn.
  val mean = new Area {
    val means = Mem(UInt(fillBits + fraction bits), lists)
    val place = RegNextWhen(visited, at(0)) init 0
    val line = RegNextWhen(lines.of(visited), at(0))
    val old = RegNextWhen(means.readAsync(visited), at(0))
    val fill = RegNextWhen(io.fill(visited), at(0))
    def signed(value: UInt): SInt = value.resize(fillBits + fraction + 1).asSInt
    val distance = RegNextWhen(signed(fill << fraction) - signed(old), at(1))
    val moved = signed(old) + (distance >> line.weight)
    val on = line.max =/= 0 && settled
    val next = RegNextWhen(moved.asUInt.resize(fillBits + fraction).andMask(on), at(2))
    means.write(place, next, at(3))
    val level = (next >> fraction).resize(fillBits)
  }
  val chance = new Area {
    val probabilities = Mem(UInt(probabilityBits + 1 bits), lists) // all ones: always
    val (line, place) = (RegNextWhen(mean.line, at(3)), RegNextWhen(mean.place, at(3)) init 0)
    val above = RegNextWhen(mean.level >= mean.line.max, at(3)) init False
    val below = RegNextWhen(mean.level < mean.line.min || !mean.on, at(3)) init True
    val distance = RegNextWhen(mean.level - mean.line.min, at(3))
    val product = RegNextWhen(distance * line.slope, at(0))
    val scaled = product >> (slopeFraction - probabilityBits)
    val found = RegNextWhen(
      Mux((scaled >> probabilityBits).orR, U(probabilityBits bits, default -> True), scaled.resize(probabilityBits)),
      at(1)
    )
    val probability = Mux(below, U(0), Mux(above, U(probabilityBits + 1 bits, default -> True), found.resized))
    probabilities.write(place, probability, at(2))
  }

  /** Whether a mean or a fill is above 0, seen over a round. */
  val busy = new Area {
    val now = at(3) && mean.on && (mean.next =/= 0 || mean.fill =/= 0)
    val some = Reg(Bool()) init True
    val quiet = Reg(Bool()) init False
    when(count.andR) {
      some := False
      quiet := !some && settled
    }
    when(now) {
      some := True
      quiet := False
    }
    // For as long as it takes from a fill to now.
    val filled = History(RegNext(io.fill.map(_.orR).orR) init True, 5, init = True)
    io.idle := quiet && !filled.orR
  }

  /** x^31 + x^28 + 1, 16 steps a cycle. */
  val random = new Area {
    val state = Reg(Bits(31 bits)) init 0x2a3b4c5d
    def stepped(from: Bits): Bits = from(29 downto 0) ## (from(30) ^ from(27))
    state := (0 until probabilityBits).foldLeft(CombInit(state))((bits, _) => stepped(bits))
    val value = state(probabilityBits - 1 downto 0).asUInt
  }
  io.mark := RegNext(
    io.query.valid && settled && random.value < chance.probabilities.readAsync(io.query.payload)
  ) init False
}
