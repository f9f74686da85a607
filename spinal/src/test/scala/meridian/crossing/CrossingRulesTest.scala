// SPDX-License-Identifier: Apache-2.0
package meridian.crossing

import meridian.shell.Shell
import meridian.ShellParam
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.internals._
import spinal.lib._

/** Small designs that cross clocks wrongly, each in one way: the generator names what is wrong. */
class CrossingRulesTest extends AnyFunSuite {

  /** Two clocks, bits that come in by the first and go out by the second. */
  abstract class Two(kind: ResetKind = BOOT) extends Component {
    val io = new Bundle {
      val clkA, clkB, reset = in Bool ()
      val data = in Bits (4 bits)
      val result = out Bits (4 bits)
    }
    noIoPrefix()
    val boot = ClockDomainConfig(resetKind = BOOT)
    val a = ClockDomain(io.clkA, config = boot)
    val b = ClockDomain(io.clkB, config = boot)
    val source = a(RegNext(io.data) init 0).setName("source")
    def resetBy(reset: Bool) =
      ClockDomain(io.clkB, reset, config = ClockDomainConfig(resetKind = kind, resetActiveLevel = HIGH))
  }
  private def refused(design: => Component): Seq[String] = {
    val report = SpinalConfig(targetDirectory = "target/crossing").generateVerilog(design)
    new CrossingFinder(report.toplevel, _ => false).refused
  }
  private def refuses(name: String, design: => Component, words: String*): Unit =
    test(s"the finder refuses $name") {
      val sentences = refused(design)
      assert(sentences.size == 1 && words.forall(sentences.head.contains), sentences.mkString("\n"))
    }
  private def accepts(name: String, design: => Component): Unit =
    test(s"the finder accepts $name")(assert(refused(design) == Nil))

  /** SpinalHDL's own check is silent behind it. */
  private def unchecked[T <: Data](signal: T): T = {
    val wire = CombInit(signal)
    wire.flatten.foreach(_.addTag(crossClockDomain))
    wire
  }

  refuses(
    "a register without a synchroniser, whatever SpinalHDL's own tag says",
    new Two { val taken = b(RegNext(unchecked(source))).setName("taken"); io.result := taken },
    "taken (clkB) takes source (clkA) without a synchroniser"
  )
  refuses(
    "a register with SpinalHDL's own tag, which would make it ASYNC_REG",
    new Two {
      val taken = b(Reg(Bits(4 bits)).addTag(crossClockDomain)).setName("taken")
      taken := Crossing.held(source, "It stands still.")
      io.result := taken
    },
    "taken (clkB) is tagged crossClockDomain: use Crossing.held"
  )
  refuses(
    "a path beside the one that is declared",
    new Two {
      val other = a(RegNext(io.data.orR)).setName("other")
      val declared = Crossing.held(source, "It stands still.")
      val taken = b(Reg(Bits(4 bits))).setName("taken")
      when(unchecked(other))(taken := declared)
      io.result := taken
    },
    "taken (clkB) takes other, source (clkA) without"
  )
  accepts(
    "a word that is declared to stand still, with logic behind it or without",
    new Two {
      val still = Crossing.held(source, "It stands still.")
      io.result := b(RegNext(~still) ^ RegNext(still))
    }
  )
  refuses(
    "a gate before a synchroniser",
    new Two { io.result := b(BufferCC(source.orR, False)).asBits.resized },
    "buffers_0 (clkB) is fed through logic by source (clkA)"
  )
  refuses(
    "registers that a multiplexer puts together before a synchroniser",
    new Two {
      val other = a(RegNext(io.data.reversed) init 0).setName("other")
      val mixed = Bits(4 bits)
      mixed := source
      when(io.data(0))(mixed := other)
      io.result := b(BufferCC(mixed, B(0, 4 bits)))
    },
    "is fed through logic by",
    "source (clkA)",
    "other (clkA)"
  )
  refuses(
    "a synchroniser of one register",
    new Two { io.result := b(BufferCC(source(0), False, bufferDepth = Some(1))).asBits.resized },
    "has one register"
  )
  refuses(
    "two synchronisers of one source",
    new Two { io.result := b(BufferCC(source(0), False) ## BufferCC(source(0), False)).resized },
    "source is synchronised to clkB more than once"
  )
  accepts(
    "bits of several registers, each by its own wire",
    new Two {
      val other = a(RegNext(io.data(0))).setName("other")
      io.result := b(BufferCC(source(2 downto 0) ## other, B(0, 4 bits)))
    }
  )
  refuses(
    "a synchronous reset of another clock",
    new Two(SYNC) { io.result := resetBy(source(0))(RegNext(~io.data) init 0) },
    "reset or enable of",
    "(clkB), comes from source (clkA)"
  )
  refuses(
    "a clock enable of another clock",
    new Two { io.result := ClockDomain(io.clkB, clockEnable = source(0), config = boot)(RegNext(~io.data) init 0) },
    "reset or enable of",
    "(clkB), comes from source (clkA)"
  )
  refuses(
    "an asynchronous reset that leaves at any time",
    new Two(ASYNC) { io.result := resetBy(source(0))(RegNext(~io.data) init 0) },
    "asynchronous reset",
    "(clkB) comes from source: bring it through a reset synchroniser"
  )
  refuses(
    "an asynchronous reset from a pin",
    new Two(ASYNC) { io.result := resetBy(io.reset)(RegNext(~io.data) init 0) },
    "asynchronous reset reset",
    "comes from reset"
  )
  accepts(
    "an asynchronous reset through a reset synchroniser",
    new Two(ASYNC) {
      val synchronised = ResetCtrl.asyncAssertSyncDeassert(
        source(0),
        resetBy(source(0)),
        inputPolarity = HIGH,
        outputPolarity = HIGH
      )
      io.result := resetBy(synchronised)(RegNext(~io.data) init 0)
    }
  )
  refuses(
    "a memory that is written with what another clock holds",
    new Two {
      val memory = Mem(Bits(4 bits), 4)
      b(memory.write(U(0, 2 bits), unchecked(source)))
      io.result := b(memory.readSync(io.data(1 downto 0).asUInt))
    },
    "a port of the memory memory (clkB) takes source (clkA)"
  )

  test("a reason that Vivado's waiver could not carry is refused") {
    assertThrows[IllegalArgumentException](refused(new Two { io.result := Crossing.held(source, "a {brace}") }))
  }

  test("the shell without one of its synchronisers is refused, whichever is missing") {
    val report = SpinalConfig(targetDirectory = "target/crossing").generateVerilog(new Shell(ShellParam()))
    val shell = report.toplevel
    val whole = Shell.crossings(shell)
    assert(whole.refused == Nil)
    assert(
      whole.crossings.exists(_.kind == "held") && whole.crossings.forall(c => (c.kind == "held") == c.reason.nonEmpty)
    )
    val synchronisers = whole.crossings.filter(c => Set("sync", "bus", "input")(c.kind))
    assert(synchronisers.size > 90)
    for (
      missing <- Seq(
        "toggle_buffercc",
        "io_pin_buffercc",
        "io_macLinkUp",
        "io_locked",
        "popReadGray_buffercc",
        "hostRequest_buffercc",
        "allMulticast"
      )
    )
      withClue(missing) {
        val without =
          new CrossingFinder(shell, p => Shell.simulationPins.contains(p.getName()), Shell.asynchronousPin) {
            override protected def isSynchroniser(buffer: BufferCC[_]) = !buffer.getName().contains(missing)
          }
        val count = synchronisers.count(_.to.contains(missing))
        assert(count > 0 && without.refused.count(_.contains("without a synchroniser")) == count)
      }
  }
}
