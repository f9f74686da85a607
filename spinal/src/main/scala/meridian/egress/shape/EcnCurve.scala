// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import spinal.core._
import spinal.lib._

/** From which fill on frames of a class are marked; may be set at any time.
  *
  * Below `min` none is, from `max` on all are. In between the probability is `slope` times the distance from min, so it is
  * slope * (max - min) just below max. With min = max there is a threshold; with max = 0 none is ever marked.
  */
case class EcnLine(fillBits: Int) extends Bundle {
  val min, max = UInt(fillBits bits)
  val slope = UInt(EcnCurve.slopeBits bits) // in 2^-21 a unit of fill, up to 1/16

  /** The mean moves by 2^-weight of the distance from it with each visit; 0: it is the fill itself. */
  val weight = UInt(4 bits)
}

/** A frame about which is asked. */
case class EcnQuery() extends Bundle {
  val trafficClass = UInt(3 bits)
}

object EcnCurve {
  val slopeBits = 17 // so that the product takes one DSP slice

  /** A slope of 1 << slopeFraction would be a probability of 1 a unit. */
  val slopeFraction = 21
  val probabilityBits = 16
  val classes = 8

  /** Cycles from a visit to the next of the same class: each takes the fill of its class and works out the probability. */
  val visitCycles = 32

  /** Cycles from a fill to the probability that it gives, without a mean. */
  val latency = visitCycles + 8
}

/** Decides at random which frames of a class are marked, or dropped: random early detection (RED) by the fill of the class,
  * or by its exponentially weighted mean. The mean is over time, not over frames, so it follows also while none come.
  *
  * A class is visited every EcnCurve.visitCycles. A decision is made with the probability found by its last visit, and
  * random bits of a 31-bit feedback shift register that moves by 16 bits a cycle; they are not secret.
  *
  * Latency: io.mark is valid a cycle after io.query, and EcnCurve.latency cycles after a change of io.fill it is by that.
  * Throughput: a query a cycle. About 400 LUTs and a DSP slice.
  */
class EcnCurve(fillBits: Int) extends Component {
  require(fillBits >= 2 && fillBits <= 24, s"fillBits is $fillBits: choose 2 to 24")
  import EcnCurve._
  val io = new Bundle {
    val fill = in Vec (UInt(fillBits bits), classes)
    val lines = in Vec (EcnLine(fillBits), classes)
    val query = slave(Flow(EcnQuery()))
    val mark = out Bool ()
  }
  val fraction = 15 // as the largest weight, so that a mean can come near to the fill
  val count = Reg(UInt(log2Up(visitCycles) bits)) init 0
  count := count + 1
  val visited = count.dropLow(log2Up(visitCycles / classes)).asUInt
  val step = count.take(log2Up(visitCycles / classes)).asUInt
  private def at(n: Int): Bool = step === n % 4

  // A class has its turn for 4 cycles, in each of which one stage moves; what is found is written in the next one's turn.
  val mean = new Area {
    val means = Vec(Reg(UInt(fillBits + fraction bits)) init 0, classes)
    val place = RegNextWhen(visited, at(0)) init 0
    val line = RegNextWhen(io.lines(visited), at(0))
    val old = RegNextWhen(means(visited), at(0))
    val fill = RegNextWhen(io.fill(visited), at(0))
    def signed(value: UInt): SInt = value.resize(fillBits + fraction + 1).asSInt
    val distance = RegNextWhen(signed(fill << fraction) - signed(old), at(1))
    val moved = signed(old) + (distance >> line.weight)
    val next = RegNextWhen(moved.asUInt.resize(fillBits + fraction), at(2))
    when(at(3))(means(place) := next)
    val level = (next >> fraction).resize(fillBits)
  }
  val chance = new Area {
    val probabilities = Vec(Reg(UInt(probabilityBits bits)) init 0, classes)
    val always = Reg(Bits(classes bits)) init 0
    val (line, place) = (RegNextWhen(mean.line, at(3)), RegNextWhen(mean.place, at(3)) init 0)
    val above = RegNextWhen(mean.level >= mean.line.max && mean.line.max =/= 0, at(3)) init False
    val below = RegNextWhen(mean.level < mean.line.min || mean.line.max === 0, at(3)) init True
    val distance = RegNextWhen(mean.level - mean.line.min, at(3))
    val product = RegNextWhen(distance * line.slope, at(0))
    val scaled = product >> (slopeFraction - probabilityBits)
    val found = RegNextWhen(
      Mux((scaled >> probabilityBits).orR, U(probabilityBits bits, default -> True), scaled.resize(probabilityBits)),
      at(1)
    )
    when(at(2)) {
      probabilities(place) := Mux(below, U(0), found)
      always(place) := above
    }
  }

  /** x^31 + x^28 + 1, 16 steps a cycle. */
  val random = new Area {
    val state = Reg(Bits(31 bits)) init 0x2a3b4c5d
    def stepped(from: Bits): Bits = from(29 downto 0) ## (from(30) ^ from(27))
    state := (0 until probabilityBits).foldLeft(CombInit(state))((bits, _) => stepped(bits))
    val value = state(probabilityBits - 1 downto 0).asUInt
  }
  val chosen = io.query.trafficClass
  io.mark := RegNext(
    io.query.valid && (chance.always(chosen) || random.value < chance.probabilities(chosen))
  ) init False
}
