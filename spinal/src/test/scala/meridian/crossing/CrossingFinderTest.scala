// SPDX-License-Identifier: Apache-2.0
package meridian.crossing

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.lib._

/** Each kind of crossing once, and one that only an open output would see. */
class CrossingFinderTest extends AnyFunSuite {
  class Design extends Component {
    val io = new Bundle {
      val clkA, clkB, pin = in Bool ()
      val data = in Bits (8 bits)
      val flag, seen, debug = out Bool ()
      val bus, taken, read = out Bits (8 bits)
    }
    noIoPrefix()
    val config = ClockDomainConfig(resetKind = BOOT)
    val a = ClockDomain(io.clkA, config = config)
    val b = ClockDomain(io.clkB, config = config)
    val memory = Mem(Bits(8 bits), 16)
    val from = new ClockingArea(a) {
      val flag = RegNext(io.data.orR) init False
      val gray = RegNext(io.data) init 0
      val held = RegNext(~io.data)
      val pulse = RegNext(io.data.xorR) init False
      val place = RegNext(io.data(3 downto 0).asUInt)
      memory.write(place, io.data)
    }
    val to = new ClockingArea(b) {
      io.flag := BufferCC(from.flag, False)
      io.bus := BufferCC(from.gray, B(0, 8 bits))
      io.seen := BufferCC(io.pin, False)
      io.debug := BufferCC(from.pulse, False)
      val taken = Reg(Bits(8 bits))
      val still = Crossing.held(from.held, "It stands still.")
      when(io.flag)(taken := still)
      io.taken := taken
      val place = Reg(UInt(4 bits)) init 0
      place := place + 1
      io.read := memory.readSync(place, clockCrossing = true)
    }
  }

  test("crossings are found with kind, clocks and paths, and what nobody sees is left out") {
    val report = SpinalConfig(targetDirectory = "target/crossing").generateVerilog(new Design)
    def found(open: BaseType => Boolean) = CrossingWriter.lines(new CrossingFinder(report.toplevel, open).crossings)
    val lines = found(_.getName() == "debug")
    assert(
      lines.map(_.replaceAll("\\S*_buffercc", "CC")).sorted == Seq(
        "crossing bus from_gray clkA CC/buffers_0 clkB",
        "crossing held from_held clkA to_taken clkB {It stands still.}",
        "crossing input pin clkB CC/buffers_0 clkB",
        "crossing memory memory clkA memory_spinal_port1 clkB",
        "crossing sync from_flag clkA CC/buffers_0 clkB"
      )
    )
    assert(found(_ => false).exists(_.contains("from_pulse")))
  }
}
