// SPDX-License-Identifier: Apache-2.0
package meridian.bus

import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._

/** AXI4-Lite slave: turns transactions into register accesses, one at a time, reads and writes by turns.
  *
  * Registers are whole words, and the two lowest address bits are ignored. A write that does not carry all four bytes
  * is refused as a whole: it answers SLVERR, changes nothing, and partialWrite reports it. A write that the register
  * refuses answers SLVERR, and an address without a register answers OKAY. A write that comes with awIgnored answers
  * OKAY, changes nothing and does not reach the registers, so that it does not delay the accesses of others;
  * ignoredWrite reports it.
  *
  * Latency: 2 cycles before the command, 2 after its answer. Throughput: one access in 5 cycles plus those of the
  * target; one ignored write in 3. A master that is not ready delays only itself.
  *
  * @param config       of the AXI4-Lite bus, 32 data bits
  * @param addressWidth byte address bits that are decoded
  * @param fromHost     mark of the accesses: they come from the host
  */
class AxiLiteFrontend(config: AxiLite4Config, addressWidth: Int, fromHost: Boolean) extends Component {
  require(config.dataWidth == 32, s"dataWidth is ${config.dataWidth}: registers have 32 bits")
  require(addressWidth <= config.addressWidth, s"addressWidth is $addressWidth, the bus has ${config.addressWidth}")

  val io = new Bundle {
    val axi = slave(AxiLite4(config))
    val awFunction, arFunction = in UInt (8 bits) // together with aw and ar
    val awIgnored = in Bool () // together with aw
    val bus = master(RegPort(addressWidth))
    val partialWrite, ignoredWrite, unmapped, refused = out Bool () // a pulse an access
  }

  object State extends SpinalEnum { val idle, issue, await, answer = newElement() }
  val state = RegInit(State.idle)
  val command = Reg(RegCommand(addressWidth))
  val data = Reg(Bits(32 bits))
  val error = Reg(Bool())
  val lastWasRead = RegInit(False)

  val writeWaits = io.axi.aw.valid && io.axi.w.valid
  val takeRead = state === State.idle && io.axi.ar.valid && !(writeWaits && lastWasRead)
  val takeWrite = state === State.idle && writeWaits && !takeRead
  io.axi.ar.ready := takeRead
  io.axi.aw.ready := takeWrite
  io.axi.w.ready := takeWrite

  val partial = !io.axi.w.strb.andR
  io.partialWrite := RegNext(takeWrite && partial, False)
  io.ignoredWrite := RegNext(takeWrite && io.awIgnored && !partial, False)
  io.unmapped := RegNext(io.bus.rsp.valid && io.bus.rsp.unmapped, False)
  io.refused := RegNext(io.bus.rsp.valid && io.bus.rsp.refused, False)

  when(takeRead || takeWrite) {
    val address = Mux(takeRead, io.axi.ar.addr, io.axi.aw.addr)
    command.write := takeWrite
    command.address := (address(addressWidth - 1 downto 2) ## B"00").asUInt
    command.data := io.axi.w.data
    command.function := Mux(takeRead, io.arFunction, io.awFunction)
    command.fromHost := Bool(fromHost)
    data := 0
    error := partial
    lastWasRead := takeRead
    state := Mux(takeWrite && (partial || io.awIgnored), State.answer, State.issue)
  }

  io.bus.cmd.valid := state === State.issue
  io.bus.cmd.payload := command
  when(io.bus.cmd.fire) { state := State.await }
  when(state === State.await && io.bus.rsp.valid) {
    data := io.bus.rsp.data
    error := io.bus.rsp.refused
    state := State.answer
  }

  io.axi.r.valid := state === State.answer && !command.write
  io.axi.r.data := data
  io.axi.r.resp := error ? AxiLite4.resp.SLVERR | AxiLite4.resp.OKAY
  io.axi.b.valid := state === State.answer && command.write
  io.axi.b.resp := io.axi.r.resp
  when(io.axi.r.fire || io.axi.b.fire) { state := State.idle }
}
