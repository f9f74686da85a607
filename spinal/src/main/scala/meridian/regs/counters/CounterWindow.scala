// SPDX-License-Identifier: Apache-2.0
package meridian.regs.counters

import meridian.bus._
import meridian.page.{CounterReader, RegPage}
import meridian.regs.counters.PortCounters.Sum
import spinal.core._
import spinal.lib._

/** Serves a page of which a window shows the 64-bit counters of a port. Reading the low word keeps the high word, apart
  * for the PS and for each PF.
  *
  * Latency: 3 cycles, or those of the question and 5 more.
  *
  * @param offsets  of the counters in the page
  * @param delta    the counters show their growth from tick to tick
  * @param question where counters come from
  */
class CounterWindow(
    page: RegPage,
    bus: RegPort,
    base: Int,
    bytes: Int,
    offsets: Seq[(Int, Sum)],
    delta: Boolean,
    question: Stream[PortQuestion],
    answer: Flow[UInt]
) extends Area {
  val memory = page.counters(base, bytes, PortCounters.names(offsets))

  object Phase extends SpinalEnum { val idle, look, ask, await, access, answer = newElement() }
  val phase = RegInit(Phase.idle)
  val command = Reg(cloneOf(bus.cmd.payload))
  bus.cmd.ready := phase === Phase.idle

  val asked = Reg(PortQuestion())
  val exists = Reg(Bool())
  val value = Reg(Bits(32 bits))
  val highs = Vec(Reg(Bits(32 bits)), CounterReader.count)
  val reader = CounterReader.of(command)
  question.valid := phase === Phase.ask
  question.payload := asked
  memory.bus.rdat := value

  page.bus.ce := phase === Phase.access
  page.bus.wr := command.write
  page.bus.addr := command.address.resized
  page.bus.wdat := command.data
  bus.rsp.valid := phase === Phase.answer
  bus.rsp.data := page.bus.rdat
  bus.rsp.refused := False
  bus.rsp.unmapped := page.unmapped

  switch(phase) {
    is(Phase.idle) {
      command := bus.cmd.payload
      when(bus.cmd.valid) { phase := Phase.look }
    }
    is(Phase.look) {
      exists := False
      asked.delta := Bool(delta)
      asked.rx := True
      asked.first := 0
      asked.count := 1
      asked.step := 1
      switch(command.address(page.bus.c.aw - 1 downto 3)) {
        for ((at, sum) <- offsets) is(at / 8) {
          exists := True
          asked.rx := Bool(sum.rx)
          asked.first := sum.first
          asked.count := sum.count
          asked.step := sum.step
        }
      }
      value := command.address(2) ? highs(reader) | B(0, 32 bits)
      phase := Phase.ask
      when(command.write || command.address(2)) { phase := Phase.access }
    }
    is(Phase.ask) {
      when(question.ready) { phase := Phase.await }
      when(!exists) {
        question.valid := False
        highs(reader) := B(0, 32 bits)
        phase := Phase.access
      }
    }
    is(Phase.await) {
      when(answer.valid) {
        value := answer.payload(31 downto 0).asBits
        highs(reader) := answer.payload(63 downto 32).asBits
        phase := Phase.access
      }
    }
    is(Phase.access) { phase := Phase.answer }
    is(Phase.answer) { phase := Phase.idle }
  }
}
