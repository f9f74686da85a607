// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.{BoxPins, ShellParam}
import meridian.dma.{HostCommand, HostRead, HostWrite, HostWritten}
import meridian.meta.{RxStamp, TxSender}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._

/** What a user's module in SpinalHDL has at either place. It has `hostBytes` as its only parameter, and extends
  * [[SpinalBox]] or [[HostSpinalBox]]. docs/user-logic.md tells what the streams mean.
  *
  * @param hostBytes  bytes of a beat: 32 or 64
  * @param registers  the module has AXI4-Lite registers
  * @param id         of the module, which the register box.id shows
  * @param version    of the module, which the register box.version shows
  * @param interrupts the module has the port irq
  * @param time       the module has the time of the PTP clock
  * @param tellsReady the module says when it is ready after a reset
  */
abstract class BoxComponent(
    val hostBytes: Int,
    val registers: Boolean,
    val id: BigInt,
    val version: BigInt,
    val interrupts: Boolean,
    val time: Boolean,
    val tellsReady: Boolean
) extends Component {
  protected val p = ShellParam(hostBytes = hostBytes)

  /** The shell drives `rxInfo`, `txInfo` and `txSender` for the whole frame at `rxIn` and `txIn`. */
  class Ports extends Bundle {
    val rxIn, txIn = slave(Stream(Fragment(BoxBeat(hostBytes))))
    val rxOut, txOut = master(Stream(Fragment(BoxBeat(hostBytes))))
    val rxInfo, txInfo = in(BoxInfo(p))
    val txSender = in(TxSender(p))
    val irq = interrupts generate (out Bool ())
    val phcTime = time generate in(RxStamp())
    val ready = tellsReady generate (out Bool ())
    val axi = registers generate slave(AxiLite4(AxiLite4Config(BoxPins.addressBits, 32)))
  }
  def io: Ports
}

/** A user's module at the wire.
  *
  * @param passesTime the module says when its frames for the host came from the wire, for one at the host
  */
abstract class SpinalBox(
    hostBytes: Int,
    registers: Boolean = true,
    id: BigInt = 0,
    version: BigInt = 0,
    interrupts: Boolean = false,
    time: Boolean = false,
    tellsReady: Boolean = false,
    val passesTime: Boolean = false
) extends BoxComponent(hostBytes, registers, id, version, interrupts, time, tellsReady) {

  /** The shell drives `rxStamp` for the whole frame at `rxIn`, and takes `rxOutStamp` with the last beat at `rxOut`. */
  class WirePorts extends Ports {
    val rxStamp = in(RxStamp())
    val rxOutStamp = passesTime generate out(RxStamp())
  }
  val io = new WirePorts
}

/** A user's module at the host.
  *
  * @param arrival the module is told when a frame came from the wire, for which the card needs memory
  * @param reads   the module reads host memory, which needs the DMA engine of our own
  * @param writes  the module writes host memory, likewise
  */
abstract class HostSpinalBox(
    hostBytes: Int,
    registers: Boolean = true,
    id: BigInt = 0,
    version: BigInt = 0,
    interrupts: Boolean = false,
    time: Boolean = false,
    tellsReady: Boolean = false,
    val arrival: Boolean = false,
    val reads: Boolean = false,
    val writes: Boolean = false
) extends BoxComponent(hostBytes, registers, id, version, interrupts, time, tellsReady) {

  /** The shell drives `rxTarget`, `rxStamp` and `txRequest` for the whole frame, and takes `rxOutTarget` and
    * `txOutRequest` with the last beat of one. `read`, `readBytes`, `write` and `written` are those of
    * [[meridian.dma.CommandPort]].
    */
  class HostPorts extends Ports {
    val rxTarget = in(BoxTarget(p))
    val rxOutTarget = out(BoxTarget(p))
    val rxStamp = arrival generate in(RxStamp())
    val txRequest = in(BoxRequest(p))
    val txOutRequest = out(BoxRequest(p))
    val read = reads generate master(Stream(HostCommand()))
    val readBytes = reads generate slave(Stream(Fragment(HostRead())))
    val write = writes generate master(Stream(Fragment(HostWrite())))
    val written = writes generate slave(Flow(HostWritten()))
  }
  val io = new HostPorts
}
