// SPDX-License-Identifier: Apache-2.0
package meridian.dma.context

import meridian.dma.descriptor.ErrorTree
import meridian.dma.{DmaParam, RegPort}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** The control registers of PFs: identity and capabilities, which software cannot write, tables and settings, which are
  * kept for the engines, the registers of context commands, and those of errors by a port of their own.
  *
  * An access takes 3 cycles, of an error register 5, and a write of the command as long as the command. After reset the
  * first access waits until all words have their value, 2048 cycles.
  */
class Csr(p: DmaParam) extends Component {
  val io = new Bundle {
    val port = slave(RegPort())
    val errors = master(RegPort())
    val command = master(Stream(ContextCommandWord()))
    val row = slave(Flow(Bits(256 bits))) // what a command has read, before or with command.ready
    val late = in Bool () // what a command has ended is still at RQ: software finds it busy
    val ringSizes, timers, thresholds = out Vec (UInt(16 bits), 16)
    val bufferSizes = out Vec (UInt(17 bits), 16)
    val timerTick = out UInt (16 bits)
    val statusInterval = out UInt (10 bits) // frames between two status entries of a ring
  }

  val table = CsrTable.words(p)
  val words = Mem(Bits(32 bits), CsrTable.bytes / 4)
  val address = io.port.access.offset(12 downto 2)
  private def at(offset: Int): Bool = address === offset / 4

  val contextWords = Vec.fill(16)(RegInit(B(0, 32 bits))) // data, then mask
  val command = RegInit(B(0, 32 bits))
  when(io.row.valid)(for (i <- 0 until 8) contextWords(i) := io.row.payload(32 * i, 32 bits))

  // What the access is about, a cycle after it has come.
  val isError = RegNext(ErrorTree.offsets.map(at).orR)
  val isContext = RegNext(address >= CsrTable.contextData / 4 && address < CsrTable.contextCommand / 4)
  val isCommand = RegNext(at(CsrTable.contextCommand))
  val isFunction = RegNext(at(CsrTable.functionNumber))
  val isConstant = RegNext(table.filterNot(_.written).map(word => at(word.offset)).orR)
  val contextWord = RegNext((address - CsrTable.contextData / 4).resize(4 bits))

  val filled = RegInit(U(0, 12 bits)) // words that have their value after reset
  val fills = !filled.msb
  val initial =
    table.filter(_.reset != 0).map(w => B(w.reset, 32 bits).andMask(filled === w.offset / 4)).reduceBalancedTree(_ | _)
  when(fills)(filled := filled + 1)

  val stored = words.readSync(address)
  val value = Reg(Bits(32 bits))
  io.port.value := value
  io.port.access.ready := False
  io.errors.access.valid := False
  io.errors.access.payload := io.port.access.payload
  io.command.valid := False
  io.command.kind := io.port.access.data(4 downto 1).asUInt
  io.command.operation := io.port.access.data(6 downto 5).asUInt
  io.command.index := io.port.access.data(19 downto 7).asUInt
  io.command.data := contextWords.take(8).asBits()
  io.command.mask := contextWords.drop(8).asBits()

  val keeps = False
  words.write(
    address = fills ? filled(10 downto 0) | address,
    data = fills ? initial | io.port.access.data,
    enable = fills || keeps
  )

  // What the engines use of them.
  val interval = RegInit(U(0, 3 bits))
  val tick = RegInit(U(CsrTable.timerTickAtReset, 16 bits))
  private def entries(first: Int, width: Int): Vec[UInt] = {
    val kept = Vec.fill(16)(RegInit(U(0, width bits)))
    val place = address - first / 4
    when(keeps && place < 16)(kept(place(3 downto 0)) := io.port.access.data(width - 1 downto 0).asUInt)
    kept
  }
  when(keeps && at(CsrTable.descriptorConfig))(interval := io.port.access.data(2 downto 0).asUInt)
  when(keeps && at(CsrTable.timerTick))(tick := io.port.access.data(15 downto 0).asUInt)
  io.ringSizes := entries(CsrTable.ringSizes, 16)
  io.timers := entries(CsrTable.timers, 16)
  io.thresholds := entries(CsrTable.thresholds, 16)
  io.bufferSizes := entries(CsrTable.bufferSizes, 17)
  io.timerTick := tick
  io.statusInterval := RegNext((U(4, 10 bits) |<< interval).resize(10 bits))

  val control = new StateMachine {
    val idle = new State with EntryPoint
    val look, done, error, runs = new State

    idle.whenIsActive(when(io.port.access.valid && !fills)(goto(look)))
    look.whenIsActive {
      value := stored
      when(isContext)(value := contextWords(contextWord))
      when(isCommand)(value := command(31 downto 1) ## io.late)
      when(isFunction)(value := io.port.access.function.asBits.resized)
      when(isError)(goto(error))
        .elsewhen(isCommand && io.port.access.write)(goto(runs))
        .otherwise(goto(done))
      when(io.port.access.write) {
        when(isContext)(contextWords(contextWord) := io.port.access.data)
        when(isCommand)(command := io.port.access.data(31 downto 1) ## False)
        keeps := !isContext && !isCommand && !isFunction && !isConstant && !isError
      }
    }
    done.whenIsActive {
      io.port.access.ready := True
      goto(idle)
    }
    error.whenIsActive {
      io.errors.access.valid := True
      value := io.errors.value
      when(io.errors.access.ready)(goto(done))
    }
    runs.whenIsActive {
      io.command.valid := True
      when(io.command.ready)(goto(done))
    }
  }
}
