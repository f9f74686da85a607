// SPDX-License-Identifier: Apache-2.0
package meridian.egress

import meridian.ShellParam
import meridian.bus.RegPort
import meridian.egress.pool._
import meridian.egress.shape.ClassRates
import meridian.frame.FrameStream
import meridian.meta.HostTxMeta
import meridian.settings.PortClasses
import spinal.core._
import spinal.lib._

object HostPool {

  /** What a frame takes on the line beside its bytes: preamble, FCS and gap; and how long it is there at least, without FCS. */
  val lineBytes = 24
  val leastBytes = 60
}

/** The pool of a shell with its registers and the rates of its classes (host clock): in the place of the transmit buffers.
  *
  * Rates are those of the line: a frame counts with preamble, padding, FCS and gap. While the MAC of a port is in reset, no
  * class there is held to one.
  *
  * Latency and throughput are those of [[EgressPool]]. input.ready is low for paced frames only.
  */
class HostPool(p: ShellParam) extends Component {
  val e = PoolParam.ofShell(p)
  val io = new Bundle {
    val input = Vec(slave(FrameStream(p.hostBytes, HostTxMeta(p))), p.ports)
    val lost = out Bits (p.ports bits) // with the last beat of input: the frame found no room
    val paced = out Vec (p.txBeatsType(), p.ports) // beats of paced frames; stays at its highest value
    val cells = Vec(master(PoolPort(e)), p.ports)
    val bus = slave(RegPort(12))
    val classes = out Vec (PortClasses(), p.ports)

    /** Priorities that the other end of a port has stopped, in the clock of MacTx: each stops its class, when a frame is
      * chosen. One that is in a storm is none of them. PAUSE stops all, and its storm is one of all.
      */
    val held = in Vec (Bits(PortClasses.priorities bits), p.ports)
    val idle = out Bool ()
  }
  val regs = new EgressRegs(p)
  val pool = new EgressPool(e)
  regs.io.bus << io.bus
  io.classes := regs.io.classes
  pool.io.settings := regs.io.settings
  regs.io.free := pool.io.free
  pool.io.lines <> regs.io.lines
  val ports = for (i <- 0 until p.ports) yield new Area {
    val (from, to) = (io.input(i), pool.io.input(i))
    to.arbitrationFrom(from)
    to.last := from.last
    to.data := from.data
    to.mty := from.mty
    to.meta.drop := from.meta.drop
    to.meta.paced := from.meta.paced
    to.meta.trafficClass := from.meta.pool.trafficClass
    to.meta.group := from.meta.pool.group
    io.lost(i) := pool.io.lost(i).orR
    io.paced(i) := pool.io.paced(i).sat(widthOf(pool.io.paced(i)) - widthOf(io.paced(i)))
    io.cells(i) <> pool.io.ports(i)

    val held = BufferCC(io.held(i), B(0, PortClasses.priorities bits))
    val rates = new ClassRates(p.hostMhz MHz, p.lineRate).setName(s"rates$i")
    val up = io.cells(i).up
    rates.io.settings <> regs.io.rates(i)
    rates.io.charge.valid := RegNext(pool.io.begun(i).valid && up) init False
    rates.io.charge.trafficClass := RegNext(pool.io.begun(i).trafficClass)
    rates.io.charge.bytes := RegNext((pool.io.begun(i).bytes max HostPool.leastBytes) + HostPool.lineBytes)
    pool.io.urgent(i) := rates.io.urgent
    pool.io.blocked(i) := RegNext(
      rates.io.blocked.andMask(up) | Vec((0 until e.classes).map { c =>
        (0 until PortClasses.priorities).map(n => held(n) && regs.io.classes(i).of(n) === c).orR
      }).asBits
    ).init(0)
    regs.io.begun(i) << pool.io.begun(i)
    regs.io.discarded(i) := !io.cells(i).up
    regs.io.lost(i) := RegNext(pool.io.lost(i)) init 0
    regs.io.marked(i) := RegNext(pool.io.marked(i)) init 0
  }
  io.idle := pool.io.idle && ports.map(_.rates.io.idle).andR
}
