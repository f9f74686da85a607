// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** What the host has configured, of each function and of all (PG213, "Configuration Status Interface" and "MSI-X
  * Interrupt External Interface"). The block has one
  * maximum payload and read request size for all functions. A cycle behind the pins.
  */
class ConfigSnoop(p: DmaParam) extends Component {
  val io = new Bundle {
    val functionStatus = in Bits (16 bits)
    val vfStatus = in Bits (504 bits)
    val maxPayload = in UInt (2 bits)
    val maxReadRequest = in UInt (3 bits)
    val msixEnable, msixMask = in Bits (4 bits)
    val vfMsixEnable, vfMsixMask = in Bits (252 bits)

    val busMaster = out Bits (p.functions bits)
    val exists = out Bits (p.functions bits) // a PF, or a VF whose PF has VF Enable set
    val msix = out Bits (p.functions bits) // MSI-X is enabled, and the function does not mask all vectors
    val payloadBytes = out UInt (11 bits) // of a write request, 128 to 1024
    val readBytes = out UInt (13 bits) // of a read request, 128 to 4096
  }

  private def each(of: Int => Bool): Bits = RegNext(Vec((0 until p.functions).map(of)).asBits) init 0
  io.busMaster := each {
    case pf if pf < p.pfs             => io.functionStatus(4 * pf + 2)
    case vf if vf >= DmaParam.firstVf => io.vfStatus(2 * (vf - DmaParam.firstVf) + 1)
    case _                            => False
  }
  io.exists := each(f => if (f >= DmaParam.firstVf) io.vfStatus(2 * (f - DmaParam.firstVf)) else True)
  io.msix := each {
    case pf if pf < p.pfs => io.msixEnable(pf) && !io.msixMask(pf)
    case f                => io.vfMsixEnable(f - DmaParam.firstVf) && !io.vfMsixMask(f - DmaParam.firstVf)
  }
  io.payloadBytes := RegNext((U(128, 11 bits) |<< io.maxPayload).resize(11 bits)) init 128
  // Encodings 6 and 7 are reserved: the largest that is not.
  io.readBytes := RegNext((io.maxReadRequest > 5) ? U(4096, 13 bits) | (U(128, 13 bits) |<< io.maxReadRequest)) init 512
}
