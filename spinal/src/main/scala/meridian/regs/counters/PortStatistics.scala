// SPDX-License-Identifier: Apache-2.0
package meridian.regs.counters

import meridian.counters.CounterBank
import meridian.meta.{MacRxRecord, MacTxRecord}
import spinal.core._
import spinal.lib._

/** What one frame counts: a size, its bytes, a class or error, and up to two destinations; and how many before it did
  * not count.
  */
case class PortEvent() extends Bundle {
  val length = UInt(17 bits) // with FCS
  val index = Vec(UInt(6 bits), 4)
  val valid = Bits(4 bits)
  val uncounted = UInt(16 bits) // the amount of the last
  val bad = Bool()
}

object PortEvent {
  import PortCounters._

  private def frameClass(multicast: Bool, broadcast: Bool, vlan: Bool): UInt = {
    val cast = broadcast ? U(2, 2 bits) | U(multicast).resized
    (U(classes, 6 bits) + cast + (vlan ? U(3, 6 bits) | U(0, 6 bits))).resized
  }

  def of(r: MacRxRecord): PortEvent = {
    val e = PortEvent()
    e.length := r.length +^ 4
    e.bad := r.badFcs || r.runt || r.oversize
    e.index(0) := frameClass(r.multicast, r.broadcast, r.vlan)
    when(r.oversize) { e.index(0) := oversize }
    when(r.runt) { e.index(0) := runt }
    when(r.badFcs) { e.index(0) := badFcs }
    e.index(1) := r.forHost ? (r.hostOverflow ? U(hostOverflow, 6 bits) | U(toHost, 6 bits)) | U(nowhere, 6 bits)
    e.index(2) := r.psOverflow ? U(psOverflow, 6 bits) | U(toPs, 6 bits)
    when(r.psPoliced) { e.index(2) := r.ptp ? U(psPtpPoliced, 6 bits) | U(psPoliced, 6 bits) }
    e.index(3) := PortCounters.uncounted
    e.uncounted := r.uncounted
    e.valid := (r.uncounted =/= 0) ## (!e.bad && r.forPs) ## (!e.bad && (r.forHost || !r.forPs)) ## True
    e
  }

  def of(r: MacTxRecord): PortEvent = {
    val e = PortEvent()
    e.length := r.length +^ 4
    e.bad := False
    e.index(0) := frameClass(r.multicast, r.broadcast, r.vlan)
    e.index(1) := r.fromPs ? U(toPs, 6 bits) | U(toHost, 6 bits)
    e.index(2) := 0
    e.index(3) := 0
    e.uncounted := 0
    e.valid := B"0011"
    if (r.p.selfTest) when(r.ofTest)(e.valid(1) := False)
    if (r.p.sendsPause) when(r.control)(e.valid(1) := False)
    e
  }
}

/** Which counter of a port is to be read. */
case class PortQuestion() extends Bundle {
  val rx = Bool() // else transmit
  val delta = Bool() // growth from tick to tick; else since reset
  val first = UInt(6 bits)
  val count = UInt(4 bits) // 1 to 15 places are added up
  val step = UInt(2 bits)
}

/** The counters of one direction of a port (ps clock). io.tick notes how much each has grown since the tick before.
  *
  * Throughput: an event in 5 cycles at most, which is more often than the smallest frames come at 25 Gbit/s, or 6 with
  * one that tells of uncounted frames; in between events.ready falls. Latency: a question is answered after 6 cycles and one more a place. For 70 cycles after a tick,
  * and after reset, questions wait. The places of a sum are read one after the other while frames go on being counted.
  */
class PortStatistics extends Component {
  val io = new Bundle {
    val event = slave(Stream(PortEvent()))
    val tick = in Bool ()
    val question = slave(Stream(PortQuestion()))
    val answer = master(Flow(UInt(64 bits)))
  }
  import PortCounters._
  val bank = new CounterBank(entries, amountBits = 17)

  /** An event is a list of adds, done one a cycle: bytes, size, class or error, destinations, uncounted frames. */
  val counting = new Area {
    val arrived = io.event.m2sPipe()
    val event = Reg(PortEvent())
    val bin = Reg(UInt(6 bits))
    val left = Reg(Bits(6 bits)) init 0
    val now = OHMasking.first(left)
    val after = left & ~now
    left := after
    arrived.ready := after === 0 && bank.io.ready
    when(arrived.fire) {
      event := arrived.payload
      left := arrived.payload.valid ## B"11"
      bin := large
      for ((to, i) <- binLimits.zipWithIndex.reverse) when(arrived.length <= to) { bin := i }
      when(arrived.length < 64) { bin := small }
    }
    bank.io.add.valid := RegNext(left.orR, False)
    bank.io.add.index := RegNext(
      MuxOH(
        now,
        Seq(event.bad ? U(badBytes, 6 bits) | U(goodBytes, 6 bits), bin) ++ event.index
      )
    )
    val amount = now.msb ? event.uncounted.resize(17) | U(1, 17 bits)
    bank.io.add.amount := RegNext(now.lsb ? event.length | amount)
  }

  /** Growth since the tick before, a place each, and what stood there then. */
  val previous, growth = Mem(UInt(64 bits), entries)

  object Phase extends SpinalEnum { val start, idle, walk, sum = newElement() }
  val phase = RegInit(Phase.start)
  val clearing = RegInit(True) // the first walk only brings the memories to a known state
  val question = Reg(PortQuestion())
  val place = Reg(UInt(6 bits))
  val left = Reg(UInt(7 bits))
  val tickDue = RegInit(False) setWhen io.tick

  val reads = (phase === Phase.walk || phase === Phase.sum) && left =/= 0
  bank.io.read.valid := reads
  bank.io.read.payload := place
  when(reads) {
    place := place + Mux(phase === Phase.walk, U(1, 2 bits), question.step)
    left := left - 1
  }

  // What was read two cycles ago comes out now.
  val came = bank.io.value.valid
  val cameFrom = RegNext(RegNext(place))
  val value = RegNext(bank.io.value.payload)
  val before = RegNext(previous.readAsync(cameFrom))
  val grown = RegNext(growth.readAsync(cameFrom))
  val valid = RegNext(came, False)
  val from = RegNext(cameFrom)
  val ends = RegNext(came && left === 0 && !RegNext(reads, False), False)

  previous.write(from, value, valid && phase === Phase.walk)
  growth.write(from, clearing ? U(0, 64 bits) | (value - before), valid && phase === Phase.walk)
  val total = Reg(UInt(64 bits))
  when(valid) { total := total + (question.delta ? grown | value) }

  io.question.ready := phase === Phase.idle && !tickDue && !io.tick
  io.answer.valid := RegNext(phase === Phase.sum && ends, False)
  io.answer.payload := total
  switch(phase) {
    is(Phase.start) {
      when(bank.io.ready) { phase := Phase.walk }
      place := 0
      left := entries
    }
    is(Phase.idle) {
      total := 0
      when(tickDue) {
        tickDue := False
        phase := Phase.walk
        place := 0
        left := entries
      } elsewhen (io.question.fire) {
        phase := Phase.sum
        question := io.question.payload
        place := io.question.first
        left := io.question.count.resized
      }
    }
    is(Phase.walk, Phase.sum) {
      when(ends) {
        clearing := False
        phase := Phase.idle
      }
    }
  }
}
