// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.{PsRxMeta, PsTxMeta, TxTimestamp}
import meridian.veb.PsVebEvents
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** The NIC of the card's own ARM: a receive and a transmit ring in PS memory for each Ethernet port, transmit
  * timestamps, and an interrupt. docs/ps-port.md describes descriptors, ring states and interrupt rules. All in the ps
  * clock.
  *
  * Budget at 250 MHz, one port, memory latency 50 cycles, in cycles a frame, without FCS: 194 for 1514 bytes (10 Gb/s
  * allows 307) and 12 for 60 bytes (3 Mpps allow 83), both ways at once. The AXI master is shared: all ports together
  * receive at most 64 bit a cycle, less 2 beats a frame, and send likewise.
  *
  * Back-pressure: a received frame waits while the DMA is busy, but never for software. Transmit waits for io.tx.
  *
  * @param cyclesPerMicrosecond ps clock cycles in a microsecond, for interrupt coalescing
  * @param patience             cycles without progress on io.tx after which a stopping ring aborts unsent frames
  */
class PsPort(p: ShellParam, cyclesPerMicrosecond: Int = 250, patience: Int = 65535) extends Component {
  val io = new Bundle {
    val rx = Vec(slave(FrameStream(8, PsRxMeta(p))), p.ports)
    val tx = Vec(master(FrameStream(8, PsTxMeta())), p.ports)
    val veb = in Vec (PsVebEvents(), p.ports) // frames sent that stay inside the card, for the counters
    val txTimestamp = Vec(slave(Stream(TxTimestamp())), p.ports)
    val axi = master(Axi4(PsAxi.config))
    val control = Vec(slave(PsPortControl()), p.ports)

    /** Level: an enabled cause of any port is set. */
    val interrupt = out Bool ()

    /** Cycles that this clock edge stands for: 1, except in a simulation that skips idle time. */
    val skip = in UInt (32 bits)

    /** Nothing moves or will move by itself, other than coalescing timers. */
    val idle = out Bool ()

    /** Cycles until a coalescing timer sets an interrupt cause; all ones: none runs. For a simulation that skips idle
      * time.
      */
    val timerCycles = out UInt (32 bits)
  }
  val lanes = List.fill(p.ports)(new PsPortLane(p, cyclesPerMicrosecond, patience))
  val arbiter = new PsAxiArbiter(p.ports)
  for ((lane, i) <- lanes.zipWithIndex) {
    lane.io.rx << io.rx(i)
    io.tx(i) << lane.io.tx
    lane.io.veb := io.veb(i)
    lane.io.txTimestamp << io.txTimestamp(i)
    lane.io.control <> io.control(i)
    lane.io.skip := io.skip
    for (k <- 0 until PsAxi.readersPerPort) arbiter.io.reads(PsAxi.readersPerPort * i + k) <> lane.io.reads(k)
    for (k <- 0 until PsAxi.writersPerPort) arbiter.io.writes(PsAxi.writersPerPort * i + k) <> lane.io.writes(k)
  }
  io.axi <> arbiter.io.axi
  val raised = lanes.map(_.io.interrupt).orR
  io.interrupt := RegNext(raised) init False
  io.idle := lanes.map(_.io.idle).andR && raised === io.interrupt
  io.timerCycles := lanes.map(_.io.timerCycles).reduceBalancedTree(_ min _)
}
