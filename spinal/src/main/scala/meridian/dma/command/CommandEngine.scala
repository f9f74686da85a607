// SPDX-License-Identifier: Apache-2.0
package meridian.dma.command

import meridian.dma.{CommandPort, DmaParam}
import meridian.dma.pcie._
import spinal.core._
import spinal.lib._

/** Commands of the card's own logic on host memory: reads and writes, in the name of the function that a queue belongs to.
  * A function lets the logic have its memory by a queue whose context has the bypass bit, H2C for reads and C2H for writes.
  * Either way a beat a cycle; see [[ReadCommands]] and [[WriteCommands]].
  *
  * `drain` ends when a function whose queues are all invalid has nothing more to do with the host's memory. It takes 14
  * cycles at least.
  *
  * @param firstTag  the first of its tags
  * @param timeOut   cycles until a read is given up, to be more than the block's own completion time-out
  */
class CommandEngine(p: DmaParam, firstTag: Int, timeOut: Int = 15000000) extends Component {
  val io = new Bundle {
    val port = slave(CommandPort())
    val changes = Vec(slave(Flow(CommandChange())), 2) // of H2C, of C2H
    val rq = master(Stream(Fragment(RqBeat())))
    val rc = slave(Stream(Fragment(RcBeat()))) // always taken; those of others are not looked at
    val room = master(RoomPort())
    val maxPayload = in UInt (2 bits)
    val maxReadRequest = in UInt (3 bits)
    val busMaster = in Bits (p.functions bits)
    val drain = slave(Stream(DmaParam.functionType()))
    val late = out Bool () // writes of a queue from before its change have not left
    val quiet = out Bool () // nothing is under way
  }

  val changes = io.changes.map(_.stage()) // they come late in a cycle
  val queues = for (change <- changes) yield {
    val of = new CommandQueues(p)
    of.io.change << change
    of
  }
  val dispatcher = new RcDispatcher(Seq(0, firstTag, firstTag + p.commandTags))
  dispatcher.io.rc << io.rc

  val reads = new ReadCommands(p, firstTag, timeOut)
  reads.io.command << io.port.read
  io.port.bytes << reads.io.bytes
  reads.io.queues <> queues(0).io.port
  reads.io.change << changes(0)
  reads.io.part << dispatcher.io.parts(1)
  io.room <> reads.io.room
  reads.io.maxReadRequest := io.maxReadRequest

  val writes = new WriteCommands(p)
  writes.io.write << io.port.write
  io.port.written << writes.io.written
  writes.io.queues <> queues(1).io.port
  writes.io.change := changes(1).valid
  writes.io.maxPayload := io.maxPayload
  reads.io.reset := io.port.reset
  writes.io.reset := io.port.reset
  reads.io.busMaster := io.busMaster
  writes.io.busMaster := io.busMaster

  // Nothing is kept behind these, so what has left one has been taken by RQ.
  val requests = new RqArbiter(1)
  requests.io.requests(0) << reads.io.request
  requests.io.function := io.drain.payload
  io.rq << StreamArbiterFactory().roundRobin.fragmentLock.on(Seq(writes.io.rq, requests.io.rq))

  // What was on its way when the drain began has come to where it is counted, and then has left.
  val drained = Reg(UInt(4 bits)) init 0
  drained := io.drain.isStall ? (drained + (!drained.andR).asUInt) | U(0, 4 bits)
  val isSettled = drained >= 13
  for (revoked <- Seq(reads.io.revoked, writes.io.revoked)) {
    revoked.valid := RegNext(io.drain.valid) init False
    revoked.payload := RegNext(io.drain.payload)
  }
  val target = Reg(UInt(8 bits))
  when(!isSettled)(target := writes.io.issued)
  // The counters go on with what others do, so that the target is reached is kept.
  val reached = Reg(Bool())
  val hasLeft = reached || !(writes.io.left - target).msb
  reached := hasLeft && isSettled
  val isBusy = RegNext(reads.io.busy) // also by a request that waits for RQ, which has its tag
  io.drain.ready := isSettled && RegNext(hasLeft && isSettled, init = False) && !isBusy
  io.late := writes.io.late
  io.quiet := reads.io.quiet && writes.io.quiet
}
