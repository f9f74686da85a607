// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.dma.DmaParam
import spinal.core._
import spinal.core.sim._

/** Which functions may access memory: at first all. The engine's pin and what the host holds it to change together. */
class BusMasters(pin: Bits, p: DmaParam, host: RequesterHost) {
  private var masters = (BigInt(1) << p.functions) - 1
  pin #= masters

  def set(function: Int, on: Boolean): Unit = {
    val bit = BigInt(1) << function
    masters = if (on) masters | bit else masters &~ bit
    pin #= masters
    host.setMaster(function, on)
  }
}
