// SPDX-License-Identifier: Apache-2.0
import meridian.box.HostSpinalBox
import spinal.core._
import spinal.lib.bus.amba4.axilite.AxiLite4SlaveFactory

/** A box at the host that measures how old received frames are when they come to it: the time from a frame's arrival at
  * the wire to its first beat here, by the PTP clock. All frames pass as they are.
  *
  * Registers, 32 bits each: 0x00 frames that were measured, 0x04 the age of the last one in ns, 0x08 the largest age, 0x0c
  * the least, 0x10 frames without a time of arrival. A write of any value to 0x00 clears them all. Ages are below 1 s; a
  * frame that comes while the clock is not known is not counted. Latency: none. Throughput: one beat a cycle.
  */
class FrameAge(hostBytes: Int)
    extends HostSpinalBox(hostBytes, id = BigInt("41474500", 16), version = 1, time = true, arrival = true) {
  io.rxOut << io.rxIn
  io.rxOutTarget := io.rxTarget
  io.txOut << io.txIn
  io.txOutRequest := io.txRequest

  private val first = RegNextWhen(io.rxIn.last, io.rxIn.fire) init True
  private val waits = RegNext(io.rxIn.isStall) init False
  private val begins = io.rxIn.valid && first && !waits

  // The seconds differ by one at most.
  private val (now, came) = (io.phcTime.time, io.rxStamp.time)
  private val passed = now.nanoseconds - came.nanoseconds
  private val age = Mux(now.seconds(0) === came.seconds(0), passed, passed + 1000000000)

  private val frames, last, largest, unknown = Reg(UInt(32 bits)) init 0
  private val least = Reg(UInt(32 bits)) init U(32 bits, default -> True)
  private val measures = RegNext(begins && io.phcTime.valid && io.rxStamp.valid) init False
  private val measured = RegNext(age)
  when(measures) {
    frames := frames + 1
    last := measured
    when(measured > largest)(largest := measured)
    when(measured < least)(least := measured)
  }
  when(begins && io.phcTime.valid && !io.rxStamp.valid)(unknown := unknown + 1)

  private val bus = new AxiLite4SlaveFactory(io.axi)
  for ((register, place) <- Seq(frames, last, largest, least, unknown).zipWithIndex) bus.read(register, 4 * place)
  bus.onWrite(0) {
    for (register <- Seq(frames, last, largest, unknown)) register := 0
    least.setAll()
  }
}
