// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.promise.Promise
import spinal.core._
import spinal.lib._

/** Keeps, for each function, the queues that have descriptors, as a ring that is served from its head.
  *
  * head, and the queue behind it, are valid QueueLists.latency cycles after function has changed, and after a change of
  * the list. append puts a queue behind the others. advance removes the head, and with keep puts it behind the others.
  * One change at a time, of the list of function, while head is valid. some: the functions that have a queue.
  */
class QueueLists(queueBits: Int, functionBits: Int) extends Component {
  val io = new Bundle {
    val function = in UInt (functionBits bits)
    val head = out UInt (queueBits bits)
    val append = slave(Flow(UInt(queueBits bits)))
    val advance, keep = in Bool ()
    val some = out Bits ((1 << functionBits) bits)
  }

  val some = Reg(Bits((1 << functionBits) bits)) init 0
  val heads, tails = Mem(UInt(queueBits bits), 1 << functionBits)
  val nexts = Mem(UInt(queueBits bits), 1 << queueBits)
  val head = RegNext(heads.readSync(io.function))
  val tail = RegNext(tails.readSync(io.function))
  val next = RegNext(nexts.readSync(head))
  val has = RegNext(some(io.function))
  val only = RegNext(head === tail)

  val added = io.append.valid ? io.append.payload | head
  val adds = io.append.valid || io.advance && io.keep && !only
  val leaves = io.advance && !only
  heads.write(io.function, io.append.valid ? io.append.payload | next, leaves || io.append.valid && !has)
  tails.write(io.function, added, adds)
  nexts.write(tail, added, adds && (!io.append.valid || has))
  when(io.append.valid)(some(io.function) := True)
  when(io.advance && only && !io.keep)(some(io.function) := False)
  io.head := head
  io.some := some

  val promised = new Area {
    val changes = io.append.valid || io.advance
    val moved = io.function =/= RegNext(io.function)
    val known = Promise.since(changes || moved, QueueLists.latency - 1) === QueueLists.latency - 1 && !moved
    val listed = Reg(Bits((1 << queueBits) bits)) init 0
    when(io.append.valid)(listed(io.append.payload) := True)
    when(io.advance && !io.keep)(listed(head) := False)
    Promise(!changes || known, "a list is changed before its head is known")
    Promise(!(io.append.valid && io.advance), "a list is changed in two ways at once")
    Promise(!io.advance || some(io.function), "the head of an empty list is taken away")
    Promise(!io.append.valid || !listed(io.append.payload), "a queue is put into a list, and is in one")
  }
}

object QueueLists {

  /** Cycles from a function, or a change of its list, to all of what is known of it. */
  val latency = 5
}
