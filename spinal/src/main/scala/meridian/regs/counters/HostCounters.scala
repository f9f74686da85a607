// SPDX-License-Identifier: Apache-2.0
package meridian.regs.counters

import meridian.ShellParam
import meridian.counters.CounterBank
import meridian.meta.{RxRecord, RxVerdict, TxCopyRecord, TxRecord, TxVerdict}
import meridian.page.CounterName
import spinal.core._
import spinal.lib._

/** The 64-bit counters a function has, 8 bytes apart; also those of a port for frames that belong to no function. */
object FunctionCounters {
  val base = 0x800
  val size = 0x200
  val rxVerdict = 0 // plus the verdict
  val txVerdict = 16
  val rxBytes = 32
  val txBytes = 33
  val rxCopies = 34
  val txSkipped = 35
  val txQueueFull = 36
  val txCopies = 40 // to functions, lost on the way there, to the PS, lost on the way there

  /** Known once the design is elaborated: Scala does not name the verdicts before. */
  def names: Seq[CounterName] = {
    def at(index: Int) = BigInt(base + 8 * index)
    RxVerdict.elements.toSeq.zipWithIndex.map { case (v, i) =>
      CounterName(
        at(rxVerdict + i),
        s"rx_${snake(v.getName())}",
        s"received frames and copies with the verdict ${v.getName()}"
      )
    } ++ TxVerdict.elements.toSeq.zipWithIndex.map { case (v, i) =>
      CounterName(at(txVerdict + i), s"tx_${snake(v.getName())}", s"frames of the host with the verdict ${v.getName()}")
    } ++ Seq(
      CounterName(at(rxBytes), "rx_bytes", "bytes of the frames delivered, without FCS"),
      CounterName(at(txBytes), "tx_bytes", "bytes of the frames sent, switched or handed to the PS, without FCS"),
      CounterName(at(rxCopies), "rx_copies", "of the frames delivered: copies of frames for several functions"),
      CounterName(
        at(txSkipped),
        "tx_offload_skipped",
        "of the frames sent, switched or handed to the PS: such that asked for a checksum that was not filled in"
      ),
      CounterName(
        at(txQueueFull),
        "tx_queue_full",
        "frames of the host for the wire that found no room in the transmit queue of the port, and have no other "
          + "verdict; 0 in a build without egress queues"
      )
    ) ++ Seq(
      "tx_copies_switched" -> "of the frames sent: copies handed to functions of the port inside the card",
      "tx_copies_veb_full" -> "of the frames sent: copies for functions inside the card, whose buffer had no room",
      "tx_copies_to_ps" -> "of the frames sent: copies handed to the PS inside the card",
      "tx_copies_ps_full" -> "of the frames sent: copies for the PS inside the card, whose buffer had no room"
    ).zipWithIndex.map { case ((name, doc), i) => CounterName(at(txCopies + i), name, doc) }
  }
  def snake(name: String): String = name.replaceAll("([A-Z])", "_$1").toLowerCase
}

object HostCounters {
  def slotBits(p: ShellParam): Int = log2Up(p.functions + p.ports)

  /** Which counter is to be read; index is one of FunctionCounters. */
  case class Question(slotBits: Int) extends Bundle {
    val slot = UInt(slotBits bits)
    val index = UInt(6 bits)
  }
}

/** Counts what became of the frames of the host side, a function and verdict (host clock). Records that name no
  * function count for their port, in slot functions + port.
  *
  * Throughput: one record a cycle on each of the three inputs; none is lost. Latency: a question is answered 6 cycles
  * later, always, one question at a time.
  */
class HostCounters(p: ShellParam) extends Component {
  val slots = p.functions + p.ports
  val slotBits = HostCounters.slotBits(p)

  val io = new Bundle {
    val rx, rxCopies = slave(Flow(RxRecord(p)))
    val tx = slave(Flow(TxRecord(p)))
    val question = slave(Flow(HostCounters.Question(slotBits)))
    val answer = master(Flow(UInt(64 bits)))
    val ready = out Bool () // cleared after reset
  }
  private def place(slot: UInt, verdict: UInt, verdicts: Int): UInt =
    (slot * U(verdicts) + verdict).resize(log2Up(slots * verdicts))

  val asked = new Area {
    val valid = RegNext(io.question.valid, False)
    val payload = RegNextWhen(io.question.payload, io.question.valid)
    def slot = payload.slot
    def index = payload.index
  }
  private def slotOf(functionValid: Bool, function: UInt, port: UInt) =
    RegNext(functionValid ? function.resize(slotBits) | (port + U(p.functions, slotBits bits)))

  /** Frames by verdict and bytes of those that got somewhere, of one stream of records. */
  class Banks(valid: Bool, slot: UInt, verdict: Bits, passed: Bool, length: UInt, verdicts: Int) extends Area {
    val frames = new CounterBank(slots * verdicts, amountBits = 1)
    val bytes = new CounterBank(slots, amountBits = p.lengthBits)
    val arrived = RegNext(valid, False)
    frames.io.add.valid := RegNext(arrived, False)
    frames.io.add.index := RegNext(place(slot, RegNext(verdict.asUInt), verdicts))
    frames.io.add.amount := 1
    bytes.io.add.valid := RegNext(arrived && RegNext(passed), False)
    bytes.io.add.index := RegNext(slot)
    bytes.io.add.amount := RegNext(RegNext(length))
    frames.io.read.valid := RegNext(asked.valid, False)
    frames.io.read.payload := RegNext(
      place(asked.slot, asked.index.msb ? U(0, 4 bits) | asked.index.take(4).asUInt, verdicts)
    )
    bytes.io.read.valid := RegNext(asked.valid, False)
    bytes.io.read.payload := RegNext(asked.slot)
    val ready = frames.io.ready && bytes.io.ready
  }

  /** Copies that were made and such that found no room, of one kind. */
  class CopyBank(valid: Bool, slot: UInt, copy: TxCopyRecord) extends Area {
    val frames = new CounterBank(2 * slots, amountBits = 1)
    frames.io.add.valid := RegNext(RegNext(valid && copy.made, False), False)
    frames.io.add.index := RegNext(slot @@ RegNext(copy.full)).resized
    frames.io.add.amount := 1
    frames.io.read.valid := RegNext(asked.valid, False)
    frames.io.read.payload := RegNext(asked.slot @@ asked.index.lsb).resized
  }
  private def rxBanks(r: Flow[RxRecord]) = new Banks(
    r.valid,
    slotOf(r.functionValid, r.function, r.port),
    r.verdict.asBits,
    r.verdict === RxVerdict.delivered,
    r.length,
    RxVerdict.elements.size
  )
  val rx = rxBanks(io.rx)
  val rxCopies = rxBanks(io.rxCopies)
  val txSlot = slotOf(io.tx.functionValid, io.tx.function, io.tx.port)
  val txFull = p.egress generate io.tx.queueFull
  val passed = Seq(TxVerdict.sent, TxVerdict.switched, TxVerdict.toPs).map(io.tx.verdict === _).orR
  if (p.egress) when(txFull)(passed := False)
  val tx = new Banks(
    if (p.egress) io.tx.valid && !txFull else io.tx.valid,
    txSlot,
    io.tx.verdict.asBits,
    passed,
    io.tx.length,
    TxVerdict.elements.size
  )
  val toFunctions = new CopyBank(io.tx.valid, txSlot, io.tx.toFunctions)
  val toPs = new CopyBank(io.tx.valid, txSlot, io.tx.toPs)
  val skipped = new CounterBank(slots, amountBits = 1)
  skipped.io.add.valid := RegNext(RegNext(io.tx.valid && io.tx.unfilled, False) && RegNext(passed), False)
  skipped.io.add.index := RegNext(txSlot)
  skipped.io.add.amount := 1
  skipped.io.read.valid := RegNext(asked.valid, False)
  skipped.io.read.payload := RegNext(asked.slot)
  val queueFull = p.egress generate new CounterBank(slots, amountBits = 1)
  if (p.egress) {
    queueFull.io.add.valid := RegNext(RegNext(io.tx.valid && txFull, False), False)
    queueFull.io.add.index := RegNext(txSlot)
    queueFull.io.add.amount := 1
    queueFull.io.read.valid := RegNext(asked.valid, False)
    queueFull.io.read.payload := RegNext(asked.slot)
  }
  io.ready := RegNext(
    (Seq(rx.ready, rxCopies.ready, tx.ready, toFunctions.frames.io.ready, toPs.frames.io.ready, skipped.io.ready) ++
      Option.when(p.egress)(queueFull.io.ready)).andR,
    False
  )

  val index = asked.index // still while the question is being answered
  val isBytes = index === FunctionCounters.rxBytes || index === FunctionCounters.txBytes
  val isTx = index === FunctionCounters.txBytes || index.take(5).asUInt >= FunctionCounters.txVerdict && !index.msb
  val isTxCopy = index(5 downto 2) === FunctionCounters.txCopies / 4
  val isSkipped = index === FunctionCounters.txSkipped
  val exists = index === FunctionCounters.rxCopies || isSkipped || isBytes || isTxCopy ||
    !index.msb && index.take(4).asUInt < Mux(isTx, U(TxVerdict.elements.size), U(RxVerdict.elements.size))
  private def either(b: Banks) = isBytes ? b.bytes.io.value.payload | b.frames.io.value.payload
  val first = RegNext(isTx ? either(tx) | either(rx))
  val second = RegNext(either(rxCopies))
  val copies = RegNext(
    isSkipped ? skipped.io.value.payload |
      (index(1) ? toPs.frames.io.value.payload | toFunctions.frames.io.value.payload)
  )
  // Frames for one function and copies are counted apart, since both can come in one cycle.
  val sum = first + (second.asBits.andMask(!isTx)).asUInt
  when(index === FunctionCounters.rxCopies)(sum := second)
  when(isTxCopy || isSkipped)(sum := copies)
  if (p.egress) {
    val isQueueFull = index === FunctionCounters.txQueueFull
    val full = RegNext(queueFull.io.value.payload)
    when(isQueueFull) {
      exists := True
      sum := full
    }
  }
  io.answer.valid := RegNext(RegNext(rx.frames.io.value.valid, False), False)
  io.answer.payload := RegNext((sum.asBits.andMask(exists)).asUInt)
}
