// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.page.CounterHighs
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif._
import spinal.lib.bus.regif.AccessType._

/** The registers of one port on a RegIf bus of 32 bits; the parent wires control to PsPort's io.control of the port.
  *
  * The registers of all ports have the same names: RegIf knows them as instances of one block, PS_PORT. 64-bit counters
  * are read low word first: that read keeps the high word, for each reader apart, and the read of the high register then
  * returns it.
  *
  * @param busif the bus
  * @param base  address of the first register, a multiple of PsPortRegisters.size
  * @param port  the Ethernet port
  * @param reader who makes the access under way, CounterReader.of
  */
class PsPortRegisters(busif: BusIf, base: BigInt, port: Int, reader: UInt = U(0)) extends Area {
  require(busif.busDataWidth == 32, s"the bus is ${busif.busDataWidth} bits wide: registers are 32-bit words")
  require(base % PsPortRegisters.size == 0, s"base is $base: choose a multiple of ${PsPortRegisters.size}")
  require(port >= 0 && port <= 3, s"port is $port: choose 0 to 3")
  val control = PsPortControl()

  private def at(offset: Int): Unit = busif.regPtrReAnchorAt(base + offset)
  private def register(name: String, doc: String): RegInst = busif.newReg(doc)(SymbolName(name))
  private def name(text: String) = SymbolName(text)
  private def readOnly[T <: BaseType](register: RegInst, position: Int, value: T, text: String, doc: String): Unit =
    register.fieldAt(position, cloneOf(value), RO, 0, doc)(name(text)) := value

  busif.newBlockTagAt(base, s"PS_PORT$port")("PS_PORT")

  private def ring(offset: Int, prefix: String, what: String)(
      ring: RingControl,
      status: RingStatus,
      coalesce: CoalesceControl
  ): Unit = {
    at(offset)
    val whenStopped = "change only while the ring does not run"
    val controlRegister = register(s"${prefix}_CONTROL", s"Control of the $what ring")
    val enableDoc = "1: run the ring; 0: end what is in flight, then stop"
    ring.enable := controlRegister.fieldAt(0, Bool(), RW, 0, enableDoc)(name("enable"))
    val resetDoc = "1: stop the ring and, once it does not run, clear its indices and its error"
    ring.reset := controlRegister.fieldAt(1, Bool(), RW, 0, resetDoc)(name("reset"))
    val sizeDoc = s"descriptors in the ring as a power of two, 3 (8) to 12 (4096); $whenStopped"
    ring.sizeLog2 := controlRegister.fieldAt(8, UInt(4 bits), RW, 3, sizeDoc)(name("size_log2"))

    val statusRegister = register(s"${prefix}_STATUS", s"State of the $what ring")
    readOnly(statusRegister, 0, status.running, "running", "1: the ring runs, or has something in flight")
    val errorDoc = "why the ring stopped by itself: 0 it did not, 1 bus error on a descriptor read, " +
      "2 producer index beyond the ring, 3 bus error on a completion write; cleared by reset"
    readOnly(statusRegister, 4, status.error.asBits, "error", errorDoc)

    val baseLow = register(s"${prefix}_BASE_LOW", s"Address of the $what ring, low word")
    val lowDoc = s"bits 31 to 12 of the address of descriptor 0, a multiple of 4096; $whenStopped"
    val low = baseLow.fieldAt(12, UInt(20 bits), RW, 0, lowDoc)(name("base"))
    val baseHigh = register(s"${prefix}_BASE_HIGH", s"Address of the $what ring, high word")
    val high = baseHigh.fieldAt(0, UInt(8 bits), RW, 0, s"bits 39 to 32 of the address; $whenStopped")(name("base"))
    ring.base := high @@ low @@ U(0, 12 bits)

    val producerRegister = register(s"${prefix}_PRODUCER", s"Producer index of the $what ring")
    val producerDoc = "number of descriptors software has ever posted, modulo 65536; " +
      "at most the ring's size ahead of the consumer index"
    val producer = producerRegister.fieldAt(0, UInt(16 bits), RW, 0, producerDoc)(name("index"))
    when(ring.reset && !status.running)(producer := 0)
    ring.producer := producer

    val consumerRegister = register(s"${prefix}_CONSUMER", s"Consumer index of the $what ring")
    val consumerDoc = "number of descriptors whose completion is in memory, modulo 65536"
    readOnly(consumerRegister, 0, status.consumer, "index", consumerDoc)

    val coalesceRegister = register(s"${prefix}_COALESCE", s"When $what completions set their interrupt cause")
    val timeDoc = "microseconds after the first completion; 0: at once"
    coalesce.microseconds := coalesceRegister.fieldAt(0, UInt(16 bits), RW, 0, timeDoc)(name("microseconds"))
    val framesDoc = "completions after which not to wait longer; 0: no such limit"
    coalesce.frames := coalesceRegister.fieldAt(16, UInt(8 bits), RW, 0, framesDoc)(name("frames"))
  }
  ring(0x00, "RX", "receive")(control.rx, control.rxStatus, control.rxCoalesce)
  ring(0x20, "TX", "transmit")(control.tx, control.txStatus, control.txCoalesce)

  at(0x40)
  private val interruptStatus = register("INTERRUPT_STATUS", "Interrupt causes, whether enabled or not")
  private val interruptEnable = register("INTERRUPT_ENABLE", "Causes that raise the interrupt")
  private val enableSet = register("INTERRUPT_ENABLE_SET", "INTERRUPT_ENABLE, write 1 to set a bit")
  private val enableClear = register("INTERRUPT_ENABLE_CLEAR", "INTERRUPT_ENABLE, write 1 to clear a bit")
  private val causes = Seq(
    ("rx", W1C, "receive completions are in memory; clear before looking at the ring"),
    ("tx", W1C, "transmit completions are in memory; clear before looking at the ring"),
    ("tx_timestamp", RO, "a transmit timestamp waits; a level, gone when the last is popped"),
    ("error", W1C, "a ring stopped by itself, a bus error, or a transmit timestamp was lost")
  )
  private def bits(causes: PsInterruptCauses) = Seq(causes.rx, causes.tx, causes.txTimestamp, causes.error)
  for (((cause, access, doc), bit) <- causes.zipWithIndex) {
    val Seq(status, enable, clear) =
      Seq(control.interruptStatus, control.interruptEnable, control.interruptClear).map(bits(_)(bit))
    val shown = Bool().setName(cause, weak = true)
    shown := status
    interruptStatus.registerInOnlyReadLogic(shown, access, 0, doc)
    clear := RegNext(interruptStatus.hitDoWrite && busif.mwdata(bit)) init False
    val enabled = interruptEnable.field(Bool(), RW, 0, s"$cause raises the interrupt")(name(cause))
    enableSet.parasiteField(enabled, W1S, 0, s"$cause raises the interrupt from now on")
    enableClear.parasiteField(enabled, W1C, 0, s"$cause does not raise the interrupt from now on")
    enable := enabled
  }

  private val timestampStatus = register("TIMESTAMP_STATUS", "Oldest transmit timestamp in the FIFO of 16")
  readOnly(timestampStatus, 0, control.timestampValid, "valid", "1: there is one, and all holds until it is popped")
  readOnly(timestampStatus, 16, control.timestampTag, "tag", "tag of the transmit descriptor that asked for it")
  private val nanoseconds = register("TIMESTAMP_NANOSECONDS", "Oldest transmit timestamp, nanoseconds")
  readOnly(nanoseconds, 0, control.timestamp.nanoseconds, "nanoseconds", "0 to 999999999")
  private val secondsLow = register("TIMESTAMP_SECONDS_LOW", "Oldest transmit timestamp, seconds, low word")
  readOnly(secondsLow, 0, control.timestamp.seconds(31 downto 0), "seconds", "bits 31 to 0 of the seconds")
  private val secondsHigh = register("TIMESTAMP_SECONDS_HIGH", "Oldest transmit timestamp, seconds, high word")
  readOnly(secondsHigh, 0, control.timestamp.seconds(47 downto 32), "seconds", "bits 47 to 32 of the seconds")
  private val pop = register("TIMESTAMP_POP", "Removes the oldest transmit timestamp")
  control.timestampPop := pop.fieldAt(0, Bool(), W1P, 0, "write 1: remove it; no effect when there is none")(
    name("pop")
  )

  at(0x80)
  private val highs = new CounterHighs(reader)
  private def counter(text: String, value: UInt, doc: String): Unit = {
    val low = register(s"${text}_LOW", s"$doc; low word, to be read first")
    readOnly(low, 0, value(31 downto 0), "count", s"bits 31 to 0: $doc")
    val high = register(s"${text}_HIGH", s"$doc; high word as of the same reader's read of the low word just before")
    readOnly(high, 0, highs.of(low, value).asUInt, "count", s"bits 63 to 32: $doc")
  }
  private val c = control.counters
  counter("RX_FRAMES", c.rxFrames, "frames received into memory")
  counter("RX_BYTES", c.rxBytes, "bytes of those frames, without FCS")
  counter(
    "RX_NO_DESCRIPTOR",
    c.rxNoDescriptor,
    "frames dropped as the receive ring was empty, or had only what is kept for PTP"
  )
  counter("RX_BUFFER_SMALL", c.rxBufferSmall, "frames dropped as the next buffer was too small")
  counter("RX_DISABLED", c.rxDisabled, "frames dropped as the receive ring did not run")
  counter("RX_ERRORS", c.rxErrors, "received frames completed with the error flag")
  counter("TX_FRAMES", c.txFrames, "frames handed on to be sent")
  counter("TX_BYTES", c.txBytes, "bytes of those frames, without FCS")
  counter("TX_BAD_DESCRIPTOR", c.txBadDescriptor, "transmit descriptors refused: length or address not valid")
  counter("TX_BUS_ERRORS", c.txBusErrors, "frames not sent as reading them met a bus error")
  counter("TX_ABORTED", c.txAborted, "frames given up when the ring was stopped and the MAC took nothing")
  counter("TIMESTAMPS_LOST", c.timestampsLost, "transmit timestamps that found the FIFO full")
  counter("BUS_ERRORS", c.busErrors, "AXI responses with an error")
  counter(
    "RX_INSIDE",
    c.rxInside,
    "frames of functions, from inside the card, dropped as not more than half of the receive ring was posted"
  )
  counter("TX_SWITCHED", c.txSwitched, "of the frames handed on: handed to functions inside the card, not to the wire")
  counter(
    "TX_VEB_FULL",
    c.txVebFull,
    "of the frames handed on: for functions inside the card, whose buffer had no room"
  )
  counter("TX_COPIES_SWITCHED", c.txCopiesSwitched, "copies of frames sent, handed to functions inside the card")
  counter(
    "TX_COPIES_VEB_FULL",
    c.txCopiesVebFull,
    "copies of frames sent, for functions inside the card, whose buffer had no room"
  )

  busif.resetBlockTag()
}

object PsPortRegisters {

  /** Bytes of address space a port takes. */
  val size = 0x200
}
