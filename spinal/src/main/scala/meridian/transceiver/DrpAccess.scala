// SPDX-License-Identifier: Apache-2.0
package meridian.transceiver

import spinal.core._
import spinal.lib._

/** How the last access by DRP ended. */
object DrpResult extends SpinalEnum {
  val none, done, timeout, hung, busy = newElement()
}

/** One access at a time to the registers of a transceiver (DRP).
  *
  * An access that is not answered after `timeout` cycles ends with `timeout`. The transceiver then counts as hung, and
  * further accesses end with `hung` at once, until `clear`, or until the late answer has come: so a late answer cannot
  * pass for that of another access. An access that begins while one is under way is left out, and the one under way ends
  * with `busy` in place of `done`, so that software sees the mistake.
  *
  * Latency: from start to drpen 1 cycle, from drprdy to the fall of busy 1 cycle.
  *
  * @param timeout cycles, a power of two
  */
class DrpAccess(timeout: Int = DrpAccess.timeout) extends Component {
  require(isPow2(timeout) && timeout >= 8, s"timeout is $timeout: choose a power of two, at least 8")
  val io = new Bundle {
    val start = in Bool () // a pulse, with address, write and data
    val write = in Bool ()
    val address = in UInt (DrpPort.addressBits bits)
    val data = in Bits (16 bits)
    val clear = in Bool ()
    val drp = master(DrpPort())
    val busy = out Bool ()
    val result = out(DrpResult())
    val read = out Bits (16 bits) // of the last access that was answered
  }
  val busy, hung, enable, write, mixed = RegInit(False)
  val address = Reg(UInt(DrpPort.addressBits bits)) init 0
  val data, read = Reg(Bits(16 bits)) init 0
  val timer = Reg(UInt(log2Up(timeout) bits)) init 0
  val result = RegInit(DrpResult.none)

  enable := False
  timer := timer + 1
  when(busy) {
    when(io.start)(mixed := True)
    when(io.drp.drprdy) {
      busy := False
      read := io.drp.drpdo
      result := DrpResult.done
      when(mixed || io.start)(result := DrpResult.busy)
    } elsewhen (timer.andR) {
      busy := False
      hung := True
      result := DrpResult.timeout
    }
  } otherwise {
    when(io.start) {
      mixed := False
      when(hung) { result := DrpResult.hung } otherwise {
        busy := True
        enable := True
        timer := 0
        write := io.write
        address := io.address
        data := io.data
      }
    }
    when(io.drp.drprdy || io.clear)(hung := False)
  }
  io.drp.drpen := enable
  io.drp.drpwe := enable && write
  io.drp.drpaddr := address
  io.drp.drpdi := data
  io.busy := busy
  io.result := result
  io.read := read
}

object DrpAccess {

  /** 16 us of 250 MHz: a transceiver answers within tens of cycles. */
  val timeout = 4096
}
