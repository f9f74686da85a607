// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ShellParam
import meridian.settings.PsFilterConfig
import spinal.core._
import spinal.lib._

/** Where a frame belongs by its destination address. */
case class Destination() extends Bundle {
  val multicast, broadcast = Bool() // never both
  val exact = Bool() // an address the PS listens to
  val forPs, forHost = Bool()
}

object PsClassifier {

  /** Cycles from an address to its result. */
  val latency = 3
}

/** Decides by destination address who gets a frame.
  *
  * Unicast to a PS address belongs to the PS alone. All else belongs to the host, and to the PS too if it listens to
  * the address, wants broadcast or multicast (each by its own switch) or is promiscuous. With enable low nothing is
  * for the PS.
  *
  * Latency: 3 cycles from query to result, which then holds until 3 cycles after the next query. Throughput: one
  * address a cycle.
  */
class PsClassifier(p: ShellParam) extends Component {
  val io = new Bundle {
    val config = in(PsFilterConfig(p))
    val query = slave(Flow(Bits(48 bits)))
    val result = out(Destination())
  }

  // A 48-bit compare is three LUT levels and an OR over the addresses two more: one register after each part.
  val part = new Area {
    val valid = RegNext(io.query.valid) init False
    val equal = Vec(io.config.address.map { address =>
      val slices = address.subdivideIn(4 slices).zip(io.query.payload.subdivideIn(4 slices))
      RegNext(Vec(slices.map { case (a, b) => a === b }))
    }.toSeq)
    val group = RegNext(io.query.payload(0))
    val ones = RegNext(io.query.payload.andR)
  }
  val matching = new Area {
    val valid = RegNext(part.valid) init False
    val found = RegNext(Vec(part.equal.map(_.andR)).asBits & io.config.valid)
    val multicast = RegNext(part.group && !part.ones)
    val broadcast = RegNext(part.ones)
  }

  val exact = matching.found.orR && io.config.enable
  val wanted = io.config.promiscuous || (matching.broadcast && io.config.broadcast) ||
    (matching.multicast && io.config.allMulticast)
  val result = Reg(Destination())
  when(matching.valid) {
    result.multicast := matching.multicast
    result.broadcast := matching.broadcast
    result.exact := exact
    result.forPs := exact || (wanted && io.config.enable)
    result.forHost := !exact || matching.multicast || matching.broadcast
  }
  io.result := result
}
