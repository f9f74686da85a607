// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.ShellParam
import meridian.mac.RxStamp
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._

/** A user's module in SpinalHDL extends this class, and has `hostBytes` as its only parameter. docs/user-logic.md tells
  * what the streams mean.
  *
  * @param hostBytes bytes of a beat: 32 or 64
  * @param registers the module has AXI4-Lite registers
  * @param id        of the module, which the register box.id shows
  * @param version   of the module, which the register box.version shows
  * @param interrupts the module has the port irq
  * @param time      the module has the time of the PTP clock
  */
abstract class SpinalBox(
    val hostBytes: Int,
    val registers: Boolean = true,
    val id: BigInt = 0,
    val version: BigInt = 0,
    val interrupts: Boolean = false,
    val time: Boolean = false
) extends Component {
  private val p = ShellParam(hostBytes = hostBytes)

  /** The shell drives `rxInfo`, `rxStamp`, `txInfo` and `txSender` for the whole frame at `rxIn` and `txIn`. */
  val io = new Bundle {
    val rxIn, txIn = slave(Stream(Fragment(BoxBeat(hostBytes))))
    val rxOut, txOut = master(Stream(Fragment(BoxBeat(hostBytes))))
    val rxInfo, txInfo = in(BoxInfo(p))
    val rxStamp = in(RxStamp())
    val txSender = in(TxSender(p))
    val irq = interrupts generate (out Bool ())
    val phcTime = time generate in(RxStamp())
    val axi = registers generate slave(AxiLite4(AxiLite4Config(BoxPins.addressBits, 32)))
  }
}
