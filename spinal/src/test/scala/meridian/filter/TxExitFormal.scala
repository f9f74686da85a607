// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.{LongTest, Pdr, Proof, ShellParam}
import meridian.meta.TxVerdict
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The exit with any frames for two ports that come and go, and are full at any time. A beat carries a bit that changes
  * from frame to frame, by which frames are told apart.
  */
class TxExitProof extends Component {
  val p = ShellParam(ports = 2)
  val dut = FormalDut(new TxExit(p))
  assumeInitial(ClockDomain.current.isResetActive)
  val beats = dut.io.beats
  anyseq(beats.valid)
  anyseq(beats.payload)
  anyseq(dut.io.ports)
  anyseq(dut.io.copyLost)
  for (tx <- dut.io.tx) anyseq(tx.ready)

  val id = RegInit(False) toggleWhen (beats.fire && beats.last)
  assume(beats.data(0) === id)
  assume(beats.data >> 1 === 0)

  // The end of a frame that is good goes to its port two cycles before its record is there.
  val good = Vec(Bool(), p.ports)
  for ((feed, i) <- dut.feeds.zipWithIndex) {
    val fed = feed.pull()
    good(i) := fed.valid && fed.ready && fed.last && !fed.meta.drop
  }
  val record = dut.io.record
  val sent = record.verdict === TxVerdict.sent
  for (i <- 0 until p.ports)
    assert(Delay(good(i), 2, init = False) === (record.valid && sent && record.port === i), "an end without its record")
  assert(record.valid === Delay(beats.fire && beats.last, 2, init = False), "a frame has one record")

  // What leaves at a port: frames that do not mix, and each has its end.
  for (tx <- dut.io.tx) {
    assert(Proof.holds(tx), "a beat on offer stays")
    val begins = Proof.starts(tx)
    val owner = RegNextWhen(tx.data(0), tx.fire)
    when(tx.valid && !begins && !(tx.last && tx.meta.drop))(assert(tx.data(0) === owner, "frames mix"))
    val paced = RegNextWhen(tx.meta.paced, tx.fire)
    when(tx.valid && !begins)(assert(tx.meta.paced === paced, "a frame is marked for a part of it"))
  }
  // What stays inside the card is kept exactly of a frame that is not rolled back.
  val copy = dut.io.copy
  val copied = RegNext(copy.valid && copy.last, False)
  val kept = RegNext(copy.valid && copy.last && !copy.drop, False)
  val inside = Seq(TxVerdict.switched, TxVerdict.toPs, TxVerdict.vebFull, TxVerdict.psFull)
  val keeps = (TxVerdict.sent +: inside).map(record.verdict === _).orR
  when(record.valid)(assert(!copied || kept === keeps, "a copy that its record does not tell, or none that it tells"))
  // Frames are swallowed at one beat a cycle, whatever the ports do; nobody waits for a port that is down.
  when(beats.valid && beats.decision.verdict =/= TxVerdict.sent)(assert(beats.ready))
  cover(good(0) && Delay(good(1), 1, init = False))
}

class TxExitFormal extends AnyFunSuite {
  test("frames do not mix, and a good end at a port comes exactly with its record, for any run") {
    Pdr.prove(new TxExitProof)
  }
  test("the proof notices a beat that is taken while its port gets the end of a frame that was cut", LongTest) {
    Pdr.catches(new TxExitProof, "(feeds_0_ready && (! ends_0))", "feeds_0_ready")
  }
  test("the proof notices an end that is made up and has the mark of another frame", LongTest) {
    Pdr.catches(
      new TxExitProof,
      "(ends_0 ? feeds_0_payload_fragment_meta_paced_regNextWhen : io_beats_payload_fragment_decision_paced)",
      "io_beats_payload_fragment_decision_paced"
    )
  }
}
