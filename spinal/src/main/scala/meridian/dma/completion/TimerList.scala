// SPDX-License-Identifier: Apache-2.0
package meridian.dma.completion

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** Starts or stops a queue's timer. */
case class TimerCommand() extends Bundle {
  val queue = DmaParam.queueType()
  val run = Bool()
  val cycles = UInt(32 bits)
}

/** A timer for each queue, in cycles. The timers that run, or were stopped since they were looked at, are looked at in turn,
  * one in 2 cycles, or one in 4 while a command comes every 4 cycles. A command takes a cycle, at any time.
  *
  * A timer that has ended is told until it is taken, and no other is looked at meanwhile. So an end is told late by 4 cycles
  * for each that is looked at and by the cycles until each end before it is taken, which CompletionEngine does within 64
  * cycles. One that is started or stopped meanwhile is not told. No end may wait for 2^33 cycles.
  * After reset there may be no command until all are empty, a cycle for each queue.
  *
  * io.skip is the number of cycles that an edge counts for, 1 in hardware. io.quietCycles tells a simulation how many cycles
  * it may skip: those until the first timer ends, all ones if none runs. It is 0 until each timer that runs was looked at
  * since the last command, and the last end. io.quietCycles is of the cycle before, so it counts from two
  * cycles after a skip on.
  */
class TimerList(p: DmaParam) extends Component {
  val io = new Bundle {
    val command = slave(Flow(TimerCommand()))
    val mayCome = in Bool () // a command may come in this cycle
    val expired = master(Stream(DmaParam.queueType())) // it may be withdrawn
    val idle = out Bool () // no timer has ended that was not told
    val skip = in UInt (32 bits)
    val quietCycles = out UInt (32 bits)
  }

  case class Timer() extends Bundle {
    val runs = Bool()
    val end = UInt(34 bits)
  }
  private val place = log2Up(p.queues)
  val now = Reg(UInt(34 bits)) init 0
  now := now + io.skip
  val filled = RegInit(U(0, place + 1 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)

  val timers = Mem(Timer(), p.queues)
  val listed = Mem(Bool(), p.queues)
  val list = StreamFifo(UInt(place bits), 2 * p.queues)
  val queue = io.command.payload.queue.resize(place)
  val written = Timer()
  written.runs := io.command.run && !fills
  written.end := now + io.command.cycles
  timers.write(fills ? filled.resize(place) | queue, written, fills || io.command.valid)

  // The first of the list: a cycle to read it, and a cycle to decide.
  val head = list.io.pop.payload
  val first = timers.readSync(head)
  val expired = Reg(DmaParam.queueType())
  val isExpired = RegInit(False)
  val looks = RegInit(False)
  val mayLook = list.io.pop.valid && !io.mayCome && !isExpired && !fills
  looks := (mayLook && !looks) || (looks && io.mayCome && !io.command.valid) // what was read is still right
  val decides = looks && mayLook
  val isOver = (now - first.end).msb === False
  val stays = first.runs && !isOver
  list.io.pop.ready := decides
  val isListed = listed.readAsync(queue)
  val lists = io.command.valid && io.command.run && !isListed
  list.io.push.valid := lists || (decides && stays)
  list.io.push.payload := lists ? queue | head
  listed.write(
    address = fills ? filled.resize(place) | (io.mayCome ? queue | head),
    data = io.mayCome && (isListed || lists) && !fills,
    enable = fills || io.mayCome || (decides && !stays)
  )
  io.idle := !isExpired
  io.expired.valid := isExpired
  io.expired.payload := expired
  when(io.expired.ready || (io.command.valid && io.command.payload.queue === expired))(isExpired := False)
  private val ends = decides && first.runs && isOver
  when(ends) {
    isExpired := True
    expired := head.resized
  }

  // Of those that were looked at since the last command or end. Synthesis removes it, as nobody reads it there.
  private val all = list.io.occupancy.getWidth
  val looked = RegInit(U(0, all bits))
  val soonest = Reg(UInt(34 bits))
  val isSooner = looked === 0 || (first.end - soonest).msb
  // One that leaves the list is not counted in its occupancy any more.
  when(decides && stays) {
    when(isSooner)(soonest := first.end)
    when(!looked.andR)(looked := looked + 1)
  }
  when(io.command.valid || ends)(looked := 0)
  val isNone = list.io.occupancy === 0 && !isExpired
  val left = soonest - now
  val known = (looked < list.io.occupancy || isExpired || left.msb) ? U(0, 34 bits) | left
  io.quietCycles := RegNext(
    isNone ? U(32 bits, default -> True) | (known(32) ? U((BigInt(1) << 32) - 2, 32 bits) | known(31 downto 0))
  ) init 0
}
