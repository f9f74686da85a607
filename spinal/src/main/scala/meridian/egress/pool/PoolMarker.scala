// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.egress.shape.{EcnBeat, EcnCurve, EcnLineAccess, EcnMarker}
import spinal.core._
import spinal.lib._

object PoolMarker {

  /** Bits of a fill in settings, whatever the memory has. */
  val fillBits = 16

  /** Lists that have a line each: the classes of all ports. */
  def lists(e: PoolParam): Int = e.classes << log2Up(e.ports)
  def lineAccess(e: PoolParam): EcnLineAccess = EcnLineAccess(fillBits, lists(e))
}

/** Marks frames that come into cells as having met congestion (ECN), by the line of their class and how many cells its frames
  * have that are not paced ([[EcnCurve]], [[EcnMarker]]).
  *
  * Latency: a beat is written 3 cycles later. Throughput: one beat a cycle.
  */
class PoolMarker(e: PoolParam) extends Component {
  import PoolMarker._
  val io = new Bundle {
    val write = slave(Flow(CellWrite(e)))
    val first, last = in Bool () // with write: of a frame
    val mty = in(e.mtyType()) // with last
    val owner = in(CellOwner(e)) // with first
    val frame = slave(Flow(PoolFrame(e))) // is whole: 2 cycles after its last beat
    val used = in Vec (Vec(e.countType(), e.classes), e.ports) // cells of frames that are not paced
    val settings = slave(lineAccess(e))

    val output = master(Flow(CellWrite(e)))
    val marked = out Vec (Bits(e.classes bits), e.ports) // a frame that is whole was marked
    val idle = out Bool ()
  }
  val curve = new EcnCurve(fillBits, lists(e))
  for ((fill, i) <- curve.io.fill.zipWithIndex)
    fill := (if (i / e.classes < e.ports) io.used(i / e.classes)(i % e.classes).resize(fillBits)
             else U(0, fillBits bits))
  curve.io.settings <> io.settings
  curve.io.query.valid := io.write.valid && io.first
  curve.io.query.payload := (io.owner.port @@ io.owner.trafficClass).resize(log2Up(lists(e)))
  io.idle := curve.io.idle

  val beat = Flow(EcnBeat(e.hostBytes, HardType(UInt(widthOf(io.write.address) bits))))
  beat.valid := io.write.valid
  beat.first := io.first
  beat.last := io.last
  beat.data := io.write.data
  beat.mty := io.mty.andMask(io.last)
  beat.meta := io.write.address
  val marker = new EcnMarker(e.hostBytes, HardType(UInt(widthOf(io.write.address) bits)))
  marker.io.input << beat.stage()
  marker.io.mark := curve.io.mark
  val left = marker.io.output
  io.output.valid := left.valid
  io.output.address := left.meta
  io.output.data := left.data

  // What becomes of a frame's first beat is known 3 cycles after it, also that of the next frame.
  val count = new Area {
    val outcome = marker.io.outcome.valid && marker.io.outcome.marked
    val kept = RegNextWhen(outcome, left.valid && left.first) init False
    val isMarked = Mux(left.valid && left.first, outcome, kept)
    val frame = io.frame.stage()
    val trafficClass = frame.list.takeHigh(log2Up(e.classes)).asUInt
    for ((marked, i) <- io.marked.zipWithIndex)
      marked := UIntToOh(trafficClass, e.classes).andMask(frame.valid && isMarked && frame.port === i)
  }
}
