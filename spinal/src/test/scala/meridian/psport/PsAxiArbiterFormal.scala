// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.{LongTest, Proof}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** The arbiter of one port with any run of bursts of its clients, each of which has an address, data and length of its
  * own, by which what comes out is told apart.
  */
class PsAxiArbiterProof(writes: Boolean) extends Component {
  val dut = FormalDut(new PsAxiArbiter(1))
  assumeInitial(ClockDomain.current.isResetActive)
  val axi = dut.io.axi
  def drive[T <: Data](stream: Stream[T], valid: Bool): Unit = {
    stream.valid := valid
    assume(!RegNext(stream.isStall, False) || stream.valid)
  }
  def any(): Bool = anyseq(Bool())
  def fill(ax: Axi4Ax, client: Int): Unit = PsAxi.fill(ax, U(client << PsAxi.lineBytesLog2, 40 bits), U(client % 2))
  def client(id: UInt): UInt = id(PsAxi.config.idWidth - 1 downto PsAxi.config.idWidth - 2)
  def isOf(ax: Axi4Ax): Bool = client(ax.id) === (ax.addr >> PsAxi.lineBytesLog2) && AxiRules.burst(ax) &&
    ax.len === client(ax.id)(0).asUInt.resized && client(ax.id) < 3

  for ((port, i) <- dut.io.writes.zipWithIndex) {
    drive(port.aw, any() && Bool(writes))
    fill(port.aw.payload, i)
    drive(port.w, any() && Bool(writes))
    val second = RegInit(False) toggleWhen (port.w.fire && Bool(i % 2 == 1))
    port.w.data := i
    port.w.strb.setAll()
    port.w.last := Bool(i % 2 == 0) || second
    port.b.ready := any()
    val open = AxiRules.outstanding(port.aw.fire, port.b.fire, 5)
    when(port.b.valid)(assert(open =/= 0, "no response without a request"))
  }
  for ((port, i) <- dut.io.reads.zipWithIndex) {
    drive(port.ar, any() && Bool(!writes))
    fill(port.ar.payload, i)
    port.r.ready := any()
    val open = AxiRules.outstanding(port.ar.fire, port.r.fire && port.r.last, 5)
    when(port.r.valid)(assert(open =/= 0, "no response without a request"))
  }

  // Memory answers what it was asked, in any order of clients.
  for (ready <- Seq(axi.aw.ready, axi.w.ready, axi.ar.ready)) ready := any()
  def answer[T <: Data](stream: Stream[T], id: UInt, done: Bool, asked: Int => Bool): Unit = {
    drive(stream, any())
    val to = anyseq(UInt(2 bits))
    id := to @@ U(0, PsAxi.config.idWidth - 2 bits)
    assume(!RegNext(stream.isStall, False) || stable(to))
    for (i <- 0 until 3) {
      val open = AxiRules.outstanding(asked(i), stream.fire && done && to === i, 5)
      when(stream.valid && to === i)(assume(open =/= 0))
    }
    when(stream.valid)(assume(to < 3))
  }
  axi.b.resp := 0
  answer(axi.b, axi.b.id, True, i => axi.w.fire && axi.w.last && axi.w.data === i)
  axi.r.resp := 0
  axi.r.data := 0
  axi.r.last := any()
  assume(!RegNext(axi.r.isStall, False) || stable(axi.r.last))
  answer(axi.r, axi.r.id, axi.r.last, i => axi.ar.fire && client(axi.ar.id) === i)

  if (writes) {
    assert(Proof.holds(axi.aw) && Proof.holds(axi.w))
    when(axi.aw.valid)(assert(isOf(axi.aw.payload)))
    val order = new WriteOrder(axi.aw, axi.w, depth = 8)
    when(axi.w.valid)(assert(axi.w.data === client(order.address.id).asBits.resized, "data is of whose turn it is"))
    cover(order.count >= 2 && axi.w.fire && axi.w.data === 2)
  } else {
    assert(Proof.holds(axi.ar))
    when(axi.ar.valid)(assert(isOf(axi.ar.payload)))
    cover(axi.r.fire && client(axi.r.id) === 2)
  }
}

/** A bounded check: the first 9 cycles after reset, in which bursts of several clients meet. */
class PsAxiArbiterFormal extends AnyFunSuite {
  for ((steps, more) <- Seq(7 -> Nil, 9 -> Seq(LongTest)))
    test(s"writes of all: data follows its addresses, responses find their askers, in $steps steps", more: _*) {
      Proof().withBMC(steps).withCover(9).doVerify(new PsAxiArbiterProof(writes = true))
    }
  test("reads of all: responses find their askers") {
    Proof().withBMC(9).withCover(9).doVerify(new PsAxiArbiterProof(writes = false))
  }
}
