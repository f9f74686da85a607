// SPDX-License-Identifier: Apache-2.0
package meridian.selftest.port

import meridian.ShellParam
import meridian.counters.CounterBank
import meridian.meta.{MacRxRecord, MacTxRecord, TakenFrame}
import meridian.selftest.SequenceCheck
import spinal.core._
import spinal.lib._

object PortJudge {

  /** Counters of a test, 64 bits each. A frame that is taken counts in one of good and damaged_*. */
  val counts = Seq(
    "sent" -> "test frames handed to the MAC",
    "sent_bytes" -> "their bytes, without FCS",
    "good" -> "frames of the run that came as they were sent",
    "damaged_fcs" -> "frames of the run that the MAC marked bad",
    "damaged_length" -> "frames of the run of another length, and not marked bad",
    "damaged_pattern" -> "frames of the run with bit errors, and neither marked bad nor of another length",
    "foreign" -> "frames with the EtherType of test frames and another label, which went on as any other frame",
    "received_bytes" -> "bytes of all frames of the run, without FCS",
    "skipped" -> "numbers that were passed over when a higher one came, less the damaged frames in between",
    "late" -> "good frames with a number below the highest that has come: reordered, or a second time",
    "repeated" -> "good frames with the highest number that has come, once more",
    "timed" -> "good frames whose latency is known",
    "latency_sum" -> "ns, sum over these frames",
    "bit_errors" -> "bits of the pattern of damaged frames that are not as sent; a wrong bit of the number, or of the time stamp, makes one wrong in each 8 bytes"
  )

  /** The first counters are registers, the others a memory. */
  val sent = 2
  private def at(name: String) = counts.indexWhere(_._1 == name)
  val good = at("good")
  val fcs = at("damaged_fcs")
  val length = at("damaged_length")
  val pattern = at("damaged_pattern")
  val foreign = at("foreign")
  val bytes = at("received_bytes")
  val skipped = at("skipped")
  val late = at("late")
  val repeated = at("repeated")
  val timed = at("timed")
  val latencySum = at("latency_sum")
  val bitErrors = at("bit_errors")
  val entries = 16
  val indexBits = 4
}

/** Counts the frames of a port's test, from the records of the MAC (ps clock).
  *
  * A record of a test frame takes 5 cycles, another one none, so records may come as fast as the smallest frames do.
  * While `counts` is low nothing is counted. `restart` is a pulse and makes all 0, within 24 cycles.
  *
  * Latency: 10 cycles from a record to its counts; 2 cycles from a question to its answer, one a cycle.
  */
class PortJudge(p: ShellParam) extends Component {
  import PortJudge._
  val io = new Bundle {
    val counts, restart = in Bool ()
    val received = slave(Stream(MacRxRecord(p)))
    val sent = slave(Flow(MacTxRecord(p)))
    val question = slave(Flow(UInt(indexBits bits)))
    val answer = out UInt (64 bits)
    val sentFrames = out UInt (64 bits)
    val least, most = out UInt (30 bits) // ns, of the latency; 0 before the first
  }

  val sending = new Area {
    val is = RegNext(io.sent.valid && io.sent.ofTest && io.counts) init False
    val length = RegNext(io.sent.length)
    val frames, bytes = Reg(UInt(64 bits)) init 0
    when(is) {
      frames := frames + 1
      bytes := bytes + length
    }
    when(io.restart) {
      frames := 0
      bytes := 0
    }
  }
  io.sentFrames := sending.frames

  val bank = new CounterBank(entries, amountBits = TakenFrame.sequenceBits)
  bank.io.clear := io.restart

  /** The record that is being counted, one counter after another. */
  val event = new Area {
    val busy = RegInit(False)
    val step = Reg(UInt(3 bits))
    val record = Reg(MacRxRecord(p))
    val test = record.test
    val last = step === 4
    io.received.ready := !busy || last
    when(busy)(step := step + 1)
    when(last)(busy := False)
    val came = io.received.payload
    when(io.received.fire) {
      record := came
      step := 0
      busy := io.counts && (came.test.taken || came.test.foreign)
    }
    val badLength = record.runt || record.oversize || test.badLength
    val isGood = test.taken && !record.badFcs && !badLength && !test.badPattern
  }
  import event.{busy, isGood, record, step, test}

  val order = new Area {
    val check = new SequenceCheck(2, TakenFrame.sequenceBits)
    check.io.look := 0
    check.io.clear.valid := io.restart
    check.io.clear.payload := 0
    check.io.frame.valid := busy && step === 0 && isGood
    check.io.frame.payload := test.sequence
    val verdict = check.io.verdict // in step 1
    val skipped = RegNextWhen(verdict.skipped, verdict.valid)
    val late = RegNextWhen(verdict.late, verdict.valid)
    // Damaged frames since the last good one that was not late: they had some of the numbers that are passed over.
    val damaged = Reg(UInt(16 bits)) init 0
    val lost = RegNext(skipped - damaged) // in step 3
    val more = RegNext(skipped > damaged)
    val repeated = RegNext(skipped.andR)
    when(busy && step === 4 && isGood && !late)(damaged := 0)
    when(busy && step === 4 && test.taken && !isGood && !damaged.andR)(damaged := damaged + 1)
    when(io.restart)(damaged := 0)
  }

  val adding = new Area {
    val index = Reg(UInt(indexBits bits))
    val amount = Reg(UInt(TakenFrame.sequenceBits bits))
    val valid = RegInit(False)
    valid := False
    def add(when: Bool, at: UInt, much: UInt): Unit = {
      valid := busy && when
      index := at.resized
      amount := much.resized
    }
    private def place(n: Int) = U(n, indexBits bits)
    switch(step) {
      is(0) {
        add(True, place(good), U(1))
        when(test.badPattern)(index := pattern)
        when(event.badLength)(index := length)
        when(record.badFcs)(index := fcs)
        when(!test.taken)(index := foreign)
      }
      is(1)(add(test.taken, place(bytes), record.length))
      is(2) {
        add(isGood && test.timed, place(latencySum), test.latency)
        when(!isGood) {
          valid := busy && test.taken
          index := place(bitErrors)
          amount := test.bitErrors.resized
        }
      }
      is(3)(add(isGood && test.timed, place(timed), U(1)))
      is(4) {
        add(isGood && (order.late || order.more), place(skipped), order.lost)
        when(order.late) {
          index := order.repeated ? place(repeated) | place(late)
          amount := 1
        }
      }
    }
    bank.io.add.valid := valid
    bank.io.add.index := index
    bank.io.add.amount := amount
  }

  val latency = new Area {
    val any = RegInit(False)
    val least, most = Reg(UInt(30 bits)) init 0
    when(busy && step === 2 && isGood && test.timed) {
      any := True
      when(!any || test.latency < least)(least := test.latency)
      when(!any || test.latency > most)(most := test.latency)
    }
    when(io.restart) {
      any := False
      least := 0
      most := 0
    }
  }
  io.least := latency.least
  io.most := latency.most

  bank.io.read.valid := io.question.valid
  bank.io.read.payload := io.question.payload
  val asked = Delay(io.question.payload, 2)
  io.answer := bank.io.value.payload
  when(asked === 0)(io.answer := sending.frames)
  when(asked === 1)(io.answer := sending.bytes)
}
