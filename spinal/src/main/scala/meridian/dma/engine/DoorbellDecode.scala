// SPDX-License-Identifier: Apache-2.0
package meridian.dma.engine

import meridian.dma.descriptor.{ErrorEvent, ErrorTree}
import meridian.dma.{BarAccess, DmaParam, Doorbell, RegPort}
import meridian.dma.context.{FunctionMap, FunctionMapWrite}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** The doorbells of a function: 16 bytes a queue, by the number that the function has for it. What is not its queue is not
  * reached, and is an error unless the function has no queues at all, as one that is taken down.
  *
  * A doorbell that was rung leaves 7 cycles after its access has come, which takes 8, and as many more as the doorbell is
  * not taken. What was written last can be read.
  * An engine decides by valid in the cycle before its ready. A doorbell that is valid then has its effect, even if it is
  * taken back in the cycle of ready.
  * After reset the first access waits until all are zero, a cycle for each queue.
  */
class DoorbellDecode(p: DmaParam) extends Component {
  val io = new Bundle {
    val port = slave(
      RegPort()
    ) // offset: in the function's BAR, with which the first doorbell is at a multiple of 0x8000 or 0x1000
    val map = slave(Flow(FunctionMapWrite()))
    val forget = slave(Flow(DmaParam.queueType()))
    val number = out UInt (11 bits) // of the queue as the function has it, a cycle after its access
    val doorbell = master(Stream(Doorbell())) // it is taken back if its function loses the queue, see above
    val rings = out Bits (4 bits) // doorbell.valid of each kind
    val raise = master(Stream(ErrorEvent()))
    val log = master(Flow(BarAccess()))
  }

  val access = io.port.access
  val map = new FunctionMap(p)
  map.io.change << io.map
  map.io.function := access.function
  // A VF has the first 4 KiB of what a PF has.
  val isPf = RegNext(access.function < DmaParam.firstVf)
  io.number := map.io.number
  map.io.number := RegNext((access.offset(14 downto 12).andMask(isPf) @@ access.offset(11 downto 4)).resize(11 bits))

  val filled = RegInit(U(0, log2Up(p.queues) + 1 bits))
  val fills = !filled.msb
  when(fills)(filled := filled + 1)

  val rung = Mem(Bits(128 bits), p.queues)
  val queue = map.io.queue.resize(log2Up(p.queues) bits)
  val words = rung.readSync(queue).subdivideIn(32 bits)
  val kind = access.offset(3 downto 2)
  val keeps = False
  rung.write(
    address = fills ? filled(log2Up(p.queues) - 1 downto 0) | (io.forget.valid ? io.forget.payload
      .resize(log2Up(p.queues)) | queue),
    data = Vec.fill(4)(access.data.andMask(!fills && !io.forget.valid)).asBits,
    enable = fills || io.forget.valid || keeps,
    mask = (fills || io.forget.valid) ? B(15, 4 bits) | UIntToOh(kind)
  )

  access.ready := False
  io.port.value := RegNext(words(kind).andMask(map.io.known))
  val rings = False // in the next cycle
  io.doorbell.valid := RegNext(rings, init = False)
  io.rings := RegNext(UIntToOh(kind, 4).andMask(rings), init = B(0, 4 bits))
  io.doorbell.function := access.function
  io.doorbell.payload.queue := RegNext(map.io.queue) // with valid
  io.doorbell.kind := kind
  io.doorbell.value := access.data
  io.raise.valid := False
  io.raise.leaf := ErrorTree.request
  io.raise.bits := 1 << ErrorTree.queueRange
  io.log.valid := False
  io.log.payload := access.payload

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val wait1, wait2, wait3, wait4, act, ring, wrong, done = new State

    idle.whenIsActive(when(access.valid && !fills)(goto(wait1)))
    wait1.whenIsActive(goto(wait2))
    wait2.whenIsActive(goto(wait3))
    wait3.whenIsActive(goto(wait4))
    wait4.whenIsActive(goto(act))
    act.whenIsActive {
      goto(done)
      when(access.write) {
        when(map.io.known) {
          keeps := True
          // A reset takes the place of the write in memory. It has changed the map before, so that `known` is then
          // of the new map.
          when(io.forget.valid)(goto(act)) otherwise {
            rings := True
            goto(ring)
          }
        } elsewhen (!map.io.none)(goto(wrong))
      }
    }
    // A doorbell whose function has lost the queue is looked at again.
    ring.whenIsActive {
      rings := map.io.known && !io.doorbell.fire
      when(io.doorbell.fire)(goto(done)) elsewhen (!rings)(goto(act))
    }
    wrong.whenIsActive {
      io.raise.valid := True
      io.log.valid := io.raise.ready
      when(io.raise.ready)(goto(done))
    }
    done.whenIsActive {
      access.ready := True
      goto(idle)
    }
  }
}
