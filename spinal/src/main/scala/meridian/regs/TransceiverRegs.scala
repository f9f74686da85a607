// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.bus._
import meridian.page.{PagePlace, RegPage, RegView}
import meridian.transceiver._
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.AccessType

/** Why a setting of a transceiver was not taken over. */
object TransceiverRefusal extends SpinalEnum {
  val none, reserved, hostEnabled, psEnabled, traffic = newElement()
}

object TransceiverRegs {

  /** Address bits of a port's page. */
  val addressBits = 10
  val place = PagePlace(
    "TRANSCEIVER",
    0x107000,
    RegView.both,
    "Transceiver of a port: loopback, test patterns, and its own registers (DRP); in a build that has the self-test",
    4,
    BigInt(1) << addressBits
  )

  /** The far loopbacks and the near ones, as LOOPBACK has them (UG578, "Loopback"). */
  val loopbacks = Seq(0 -> "none", 1 -> "near PCS", 2 -> "near PMA", 4 -> "far PMA", 6 -> "far PCS")

  /** Of LOOPBACK: none of the transceiver, but the one at the MAC's host side. */
  val macLoop = 8

  /** As TXPRBSSEL and RXPRBSSEL have them (UG578, "TX Pattern Generator"). */
  val patterns = Seq(0 -> "none", 1 -> "PRBS7", 2 -> "PRBS9", 3 -> "PRBS15", 4 -> "PRBS23", 5 -> "PRBS31")

  /** A frame is traffic for so many cycles of 4 ns: a millisecond. */
  val trafficCycles = 1 << 18

  /** A reset of a data path lasts so many cycles: 1 us, which a clock of 100 MHz samples 100 times. */
  val resetCycles = 250

  /** Without an access by DRP for so many cycles of 4 ns, 17 s, a scan is no longer under way. */
  val scanCycles = BigInt(1) << 32
}

/** Registers of a port's transceiver (ps clock).
  *
  * A loopback or a pattern is taken over by a write, or refused with a code. Without `force` it is refused while a host
  * or the PS is enabled at the port, and for a millisecond after a frame. To go back to 0 is never refused.
  *
  * A change of the transceiver's loopback resets the data paths of receiver and transmitter for 1 us, as a transceiver
  * needs it (UG578, "Loopback"). Software has nothing to reset. A further change meanwhile makes it last 1 us from then
  * on. The loopback at the MAC's host side, `macLoop`, needs no reset, and has a link without a cable.
  *
  * While the receiver looks for a pattern, or software says that it scans the eye, RxRecovery leaves the receiver alone: a
  * pattern gives no link. A scan whose program was killed ends by itself, `scanCycles` after the last access by DRP.
  *
  * Latency: 1 cycle a register access; from a write to the pins 1 cycle.
  *
  * @param drpTimeout cycles that an access by DRP may take
  */
class TransceiverRegs(
    drpTimeout: Int = DrpAccess.timeout,
    trafficCycles: Int = TransceiverRegs.trafficCycles,
    scanCycles: BigInt = TransceiverRegs.scanCycles
) extends Component {
  import TransceiverRegs._
  val io = new Bundle {
    val bus = slave(RegPort(addressBits))
    val port = master(TransceiverPort())
    val hostEnabled, psEnabled = in Bool ()
    val frame = in Bool () // a frame came or went
    val rxRestart, txRestart = out Bool () // registers
    val measures = out Bool () // a receiver without a link is left alone
    val skip = in UInt (32 bits) // cycles an edge stands for
    val idle = out Bool ()
  }
  val page = new RegPage(place, addressBits)
  page.attach(io.bus)

  val quiet = Reg(UInt(log2Up(trafficCycles) + 1 bits)) init trafficCycles
  when(io.frame)(quiet := 0) elsewhen (quiet.resize(33 bits) + io.skip < trafficCycles) {
    quiet := quiet + io.skip.resized
  } otherwise (quiet := trafficCycles)
  val traffic = quiet =/= trafficCycles

  val refusal = RegInit(TransceiverRefusal.none)
  val loopback = Reg(Bits(4 bits)) init 0
  val txPrbs, rxPrbs = Reg(Bits(4 bits)) init 0
  val rxReset, txReset = new Area {
    val left = Reg(UInt(log2Up(resetCycles + 1) bits)) init 0
    val pin = RegNext(left =/= 0) init False
    when(left =/= 0)(left := left - 1)
    def begin(): Unit = left := resetCycles
  }
  val resetting = rxReset.left =/= 0 || txReset.left =/= 0 || rxReset.pin || txReset.pin

  private def judge(harmless: Bool, force: Bool, reserved: Bool)(taken: => Unit): Unit = {
    def refuse(code: SpinalEnumElement[TransceiverRefusal.type]): Unit = refusal := code
    // The host does not take a port from the PS: its clock would be lost.
    val byForce = force && !(io.bus.cmd.fromHost && io.psEnabled)
    when(reserved)(refuse(TransceiverRefusal.reserved)) elsewhen (harmless || byForce) {
      refuse(TransceiverRefusal.none)
      taken
    } elsewhen (io.hostEnabled && !force)(refuse(TransceiverRefusal.hostEnabled)) elsewhen
      (io.psEnabled)(refuse(TransceiverRefusal.psEnabled)) elsewhen
      (traffic)(refuse(TransceiverRefusal.traffic)) otherwise {
        refuse(TransceiverRefusal.none)
        taken
      }
  }
  private def listed(value: Bits, list: Seq[(Int, String)]) = list.map(value === _._1).orR
  private def pinsOf(mode: Bits) = mode(2 downto 0) // macLoop is none of the transceiver
  private def told(list: Seq[(Int, String)]) = list.map { case (code, name) => s"$code $name" }.mkString(", ")
  private val data = page.bus.wdat
  private val forced =
    "with a write: also if the port is enabled or carries traffic; by the host not while the PS has enabled it; reads 0"

  val loopbackReg = page.reg(
    0x00,
    "loopback",
    "Loopback of the port. A change of the transceiver's resets the data paths of receiver and transmitter for 1 us"
  )
  page.show(
    loopbackReg,
    0,
    "mode",
    loopback,
    s"${told(loopbacks)}, $macLoop at the MAC's host side; others are reserved",
    AccessType.RW
  )
  page.show(loopbackReg, 8, "force", False, forced, AccessType.RW)
  when(loopbackReg.hitDoWrite) {
    val mode = data(3 downto 0)
    judge(mode === 0, data(8), !(listed(mode, loopbacks) || mode === macLoop)) {
      loopback := mode
      when(pinsOf(mode) =/= pinsOf(loopback)) {
        rxReset.begin()
        txReset.begin()
      }
    }
  }
  val prbsReg = page.reg(
    0x04,
    "prbs",
    "Test patterns. The sent pattern takes the place of the port's data. A choice of the receiver's sets its count to 0"
  )
  page.show(prbsReg, 0, "tx", txPrbs, s"the transmitter sends ${told(patterns)}", AccessType.RW)
  page.show(prbsReg, 8, "rx", rxPrbs, "the receiver looks for it; the same numbers", AccessType.RW)
  page.show(prbsReg, 16, "force", False, forced, AccessType.RW)
  val resetCount, chosen = False
  when(prbsReg.hitDoWrite) {
    val (tx, rx) = (data(3 downto 0), data(11 downto 8))
    judge(tx === 0 && rx === 0, data(16), !(listed(tx, patterns) && listed(rx, patterns))) {
      txPrbs := tx
      rxPrbs := rx
      resetCount := True
      chosen := True
    }
  }
  val command = page.reg(0x08, "command", "What is to be done; a written 1 does it, and reads 0")
  private def order(at: Int, name: String, doc: String): Bool = {
    page.show(command, at, name, False, doc, AccessType.W1P)
    command.hitDoWrite && data(at)
  }
  val forceError = order(0, "force_error", "one word of the sent pattern has an error")
  when(order(1, "reset_count", "the count of errors begins anew, and prbs_error is 0"))(resetCount := True)
  val resetRx = order(2, "reset_rx", "the receiver's data path is reset for 1 us; refused like a loopback")
  val resetTx = order(3, "reset_tx", "the same of the transmitter")
  val clearDrp = order(4, "clear_drp", "a transceiver that did not answer an access by DRP is asked again")
  page.show(command, 8, "force", False, forced, AccessType.W1P)
  when(resetRx || resetTx) {
    judge(False, data(8), False) {
      when(resetRx)(rxReset.begin())
      when(resetTx)(txReset.begin())
    }
  }

  val lock = new PrbsLock
  lock.io.error := io.port.prbsError
  lock.io.off := rxPrbs === 0 || !io.port.rxClock || chosen || rxReset.pin
  lock.io.skip := io.skip
  val erred = RegInit(False)
  when(io.port.prbsError && lock.io.locked)(erred := True)
  when(resetCount)(erred := False)

  val status = page.reg(0x0c, "status", "State of the transceiver")
  page.show(
    status,
    0,
    "refusal",
    refusal.asBits.resize(4 bits),
    "why the last write was not taken over: see TRANSCEIVER_REFUSAL"
  )
  page.show(status, 4, "prbs_locked", lock.io.locked, "the receiver has found the pattern")
  page.show(status, 5, "prbs_error", erred, "it has had an error since its count began, while it was locked")
  page.show(status, 6, "rx_clock", io.port.rxClock, "the clock of the receiver runs")
  page.show(status, 7, "resetting", resetting, "a data path is held in reset")
  page.show(status, 8, "traffic", traffic, "a frame came or went within the last millisecond")
  page.show(
    status,
    9,
    "mac_loop",
    io.port.macLoops,
    "frames go round at the MAC's host side: the MAC gets none, and none of its frames is seen. It follows loopback once the frames under way have ended, and does not rise while the receiver has no clock"
  )

  val access = new DrpAccess(drpTimeout)
  val drp = page.reg(
    0x10,
    "drp_command",
    "A write begins an access to a register of the transceiver (UG578, UG576, \"DRP Address Map\")"
  )
  access.io.start := drp.hitDoWrite
  access.io.address := data(DrpPort.addressBits - 1 downto 0).asUInt
  access.io.write := data(15)
  access.io.data := data(31 downto 16)
  access.io.clear := clearDrp
  page.show(drp, 0, "address", access.io.drp.drpaddr, "address of the register", AccessType.RW)
  page.show(drp, 15, "write", RegNextWhen(data(15), drp.hitDoWrite, False), "write it", AccessType.RW)
  page.show(drp, 16, "data", access.io.drp.drpdi, "what is written", AccessType.RW)
  val drpStatus = page.reg(0x14, "drp_status", "How the last access by DRP went")
  page.show(drpStatus, 0, "data", access.io.read, "what was read")
  page.show(drpStatus, 16, "busy", access.io.busy, "it is under way")
  page.show(drpStatus, 20, "result", access.io.result.asBits.resize(4 bits), "how it ended: see DRP_RESULT")

  val eyescan = page.reg(0x18, "eye_scan", "Eye scan of the receiver")
  io.port.eyescanReset := page.rw(eyescan, 0, "reset", Bool(), "the eye scan of the receiver is held in reset")
  val scans = RegInit(False)
  page.show(
    eyescan,
    1,
    "scans",
    scans,
    "a scan is under way: the card does not reset a receiver without a link, as it does otherwise (port.receiver). It " +
      "falls 17 s after the last access by DRP, as the program has ended then",
    AccessType.RW
  )
  val scanLeft = Reg(UInt(log2Up(scanCycles + 1) bits)) init 0
  when(scanLeft > io.skip)(scanLeft := scanLeft - io.skip.resized) otherwise {
    scanLeft := 0
    scans := False
  }
  when(drp.hitDoWrite)(scanLeft := U(scanCycles).resized)
  when(eyescan.hitDoWrite) {
    scanLeft := U(scanCycles).resized
    scans := data(1)
  }
  page.word(
    0x1c,
    "mac_loop_lost",
    io.port.macLost.asBits,
    "frames that the loopback at the MAC's host side had no room for, as the receive clock is in reset or slow; wraps"
  )
  io.measures := scans || rxPrbs =/= 0

  io.port.drp <> access.io.drp
  io.port.loopback := pinsOf(loopback)
  io.port.macLoop := loopback === macLoop
  io.port.txPrbs := txPrbs
  io.port.rxPrbs := rxPrbs
  io.port.forceError := RegNext(forceError, False)
  io.port.resetCount := RegNext(resetCount, False)
  io.rxRestart := rxReset.pin
  io.txRestart := txReset.pin
  io.idle := RegNext(!(resetting || access.io.busy || io.port.macLoop =/= io.port.macLoops)) init True
}
