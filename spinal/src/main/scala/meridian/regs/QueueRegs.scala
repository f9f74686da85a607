// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.bus._
import meridian.page.{PagePlace, RegPage, RegView}
import meridian.settings.QueueSwitchWrite
import spinal.core._
import spinal.lib._

object QueueRegs {
  val queues = 2048
  val place = PagePlace("QUEUE", 0x120000, RegView.pf, "Switches of the queues")
  val addressBits = log2Up(4 * queues)
}

/** Switches of each queue, counted over all functions (host clock). They are off after reset, and a queue that a
  * function level reset takes from its function loses them. Queues that the card has not read 0 and keep nothing.
  *
  * Latency: 1 cycle a register access. While queues are cleared, one a cycle, accesses wait; after a reset that is a
  * cycle for each queue.
  */
class QueueRegs(p: ShellParam) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(QueueRegs.addressBits))
    val released = slave(Flow(p.queueType())) // taken from its function by a reset
    val switches = master(Flow(QueueSwitchWrite(p)))
  }
  val page = new RegPage(QueueRegs.place, QueueRegs.addressBits)
  val sweep = Reg(UInt(log2Up(p.queues) + 1 bits)) init 0
  val sweeping = !sweep.msb
  page.attach(io.bus, ready = !sweeping && !io.released.valid)

  val switches = page.table(0, "switches", QueueRegs.queues, "Switches of a queue")
  page.column(
    switches,
    0,
    "completion16",
    "completion entries of 16 bytes, with hash, VLAN and checksums; to be set before the queue is started"
  )
  page.column(
    switches,
    1,
    "transmit_offload",
    "the metadata of its transmit descriptors are requests for tags and checksums; without it they mean nothing"
  )
  page.column(
    switches,
    2,
    "paced",
    "its transmit descriptors are fetched as the rates of its function allow; to be set, and the queue to be in the function's range, before the queue is started, with FCRD_EN in its H2C context"
  )
  if (p.segmentation)
    page.column(
      switches,
      3,
      "transmit_segments",
      "the metadata of its transmit descriptors are requests for segments; such a queue has fewer descriptors under way if it is paced, as each may be 64 KiB"
    )

  val queue = page.bus.addr.dropLow(2).asUInt
  val exists = p.below(queue, p.queues)
  val next = Flow(QueueSwitchWrite(p))
  next.valid := sweeping || io.released.valid || (switches.hitDoWrite && exists)
  next.queue := io.released.payload
  next.completion16 := False
  next.transmitOffload := False
  next.paced := False
  if (p.segmentation) next.transmitSegments := False
  when(sweeping)(next.queue := sweep.resized) otherwise when(!io.released.valid) {
    next.queue := queue
    next.completion16 := page.bus.wdat(0)
    next.transmitOffload := page.bus.wdat(1)
    next.paced := page.bus.wdat(2)
    if (p.segmentation) next.transmitSegments := page.bus.wdat(3)
  }
  when(sweeping)(sweep := sweep + 1)
  val kept = Mem(Bits((if (p.segmentation) 4 else 3) bits), p.queues)
  val set = next.paced ## next.transmitOffload ## next.completion16
  kept.write(next.queue.resized, if (p.segmentation) next.transmitSegments ## set else set, next.valid)
  switches.bus.rdat := kept.readSync(queue.resized).andMask(RegNext(exists)).resized
  io.switches << next.m2sPipe()
}
