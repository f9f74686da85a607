// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import spinal.core._
import spinal.lib._

/** Lets a frame begin only if its last bit leaves before the gate of its class closes: with preamble, FCS, and `behind` ns
  * between this decision and the first bit on the line. So no guard band has to be in the list.
  *
  * io.lengths are those of the frames at the heads of the classes. Latency: 2 cycles from a length to io.may, which the
  * scheduler has to wait, and one from io.open and io.left, which is part of the time that is asked for. Throughput: a
  * decision a cycle for each class. About 8 times 60 LUTs.
  *
  * @param lineRate Gb/s: 10 or 25
  * @param behind   ns from the decision to the line, at most
  */
class GateGuard(lineRate: Int, period: TimeNumber, behind: Int) extends Component {
  import GateList._
  require(behind >= 0 && behind <= 2048, s"behind is $behind ns: choose 2048 at most")
  val io = new Bundle {
    val lengths = in Vec (UInt(16 bits), classes) // bytes without FCS
    val open = in Bits (classes bits)
    val left = in Vec (UInt(leftBits bits), classes)
    val may = out Bits (classes bits)
  }
  val fixed = behind + (period.toBigDecimal * 2 * 1000000000).toBigInt.toInt + 1
  for (i <- 0 until classes) {
    val needs = RegNext(GateGuard.duration(lineRate, io.lengths(i)) +^ fixed)
    io.may(i) := RegNext(io.open(i) && io.left(i) >= needs) init False
  }
}

object GateGuard {

  /** Preamble with start delimiter, and FCS. */
  val extraBytes = 12

  /** ns that a byte takes are (a, b): a / 2^b, rounded up. */
  private def perByte(lineRate: Int): (Int, Int) = lineRate match {
    case 25 => (41, 7)
    case 10 => (103, 7)
  }

  /** ns that a frame takes on the line, rounded up: at most 0.7 % and 1 ns more than it does. */
  def duration(lineRate: Int, bytes: UInt): UInt = {
    val (a, b) = perByte(lineRate)
    (((bytes +^ extraBytes) * a) >> b) + 1
  }
}
