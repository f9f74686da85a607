// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.crossing.Crossing
import meridian.frame.FrameStream
import spinal.core._
import spinal.lib._

/** Which frames of flow control a port sends. To change between the kinds, switch all off first. */
case class PauseTxConfig() extends Bundle {
  val pause = Bool() // PAUSE, when any class asks for it; without effect beside PFC
  val pfc = Bits(Pause.classes bits) // PFC, for these classes
  val quanta = Pause.quantaType() // the time that is told; 0: nothing is sent
  val station = Bits(48 bits) // the port's own address, the source of the frames
}

object PauseTxConfig {

  /** Brings what was set in another clock into the current one. */
  def crossed(from: PauseTxConfig): PauseTxConfig = {
    val to = PauseTxConfig()
    to.pause := BufferCC(from.pause, False)
    to.pfc := BufferCC(from.pfc, B(0, Pause.classes bits))
    val reason =
      "The address of a port and the time that it tells change only while it sends no flow control and are looked at only while it does."
    to.quanta := RegNext(Crossing.held(from.quanta, reason))
    to.station := RegNext(Crossing.held(from.station, reason))
    to
  }
}

/** What a frame told. */
case class PauseSent() extends Bundle {
  val pfc = Bool() // and PAUSE otherwise
  val xoff = Bool() // it stops something; otherwise it lets something go on
}

object PauseSender {

  /** Quanta that have to be told so that the time does not run out before it is told again: half of it is the time of the
    * longest frame and of ours, with preambles, FCS and gaps, and of the way to the choice between frames.
    */
  def leastQuanta(maxFrame: Int): Int = 2 * ((maxFrame + 24 + 60 + 24 + 64 + 63) / 64)
}

/** Tells the other end of a link which classes are to stop, by frames of PAUSE or PFC, in the transmit clock of the MAC.
  *
  * A frame is sent when a class is to stop (XOFF), when it may go on (XON, once), and again when half of the time that was
  * told is over while a class is stopped. Each frame tells of all classes that are stopped or that just may go on, as they
  * are when it begins. A class that wants to stop and go on again before a frame could begin is told to go on.
  *
  * io.frames is to go before all others where frames begin; then a frame waits for one other at most. The time has to be
  * PauseSender.leastQuanta at least, 306 for frames of 9600 bytes.
  *
  * The frames have 60 bytes. Latency: 3 cycles from a change of io.xoff to the first beat on offer. Throughput: one beat a
  * cycle; a frame that was offered stays so until its first beat is taken, unless the link goes.
  */
class PauseSender extends Component {
  val io = new Bundle {
    val config = in(PauseTxConfig())

    /** The class is to stop; see PausePolicy. */
    val xoff = in Bits (Pause.classes bits)

    /** Without a link nothing is sent, and all that was told is forgotten. */
    val link = in Bool ()

    /** Cycles that this clock edge stands for: 1, except in a simulation that skips idle time. */
    val skip = in UInt (32 bits)
    val frames = master(FrameStream(8, HardType(new NoData)))

    /** With the first beat taken. */
    val sent = master(Flow(PauseSent()))

    /** The classes that the other end is told to stop. */
    val stopped = out Bits (Pause.classes bits)

    /** Cycles that a simulation may skip; all ones: any number. */
    val quietCycles = out UInt (32 bits)
  }
  val all = B(Pause.classes bits, default -> True)
  val config = RegNext(io.config)
  val usesPfc = config.pfc.orR
  val may = io.link && config.quanta =/= 0
  val asked = Mux(usesPfc, io.xoff & config.pfc, all.andMask(config.pause && io.xoff.orR)).andMask(may)
  val want = RegNext(asked) init 0

  /** What was told last, and the classes of which something is to be told. */
  val told, news = Reg(Bits(Pause.classes bits)) init 0

  /** Cycles until all is told again: half of the quanta. */
  val halfQuantum = 4
  val left = Reg(UInt(18 bits)) init 0
  val request = RegInit(False)

  val beat = Reg(UInt(3 bits)) init 0
  val begins = io.frames.fire && beat === 0
  when(io.frames.fire)(beat := beat + 1)

  val changed = news | (want ^ told)
  news := changed
  left := Mux(left.resize(32 bits) <= io.skip, U(0), left - io.skip.resize(18 bits))
  request := request || changed.orR || (told.orR && left === 0)

  /** The frame under way. */
  val pfc = RegInit(False) // kept while nothing is on, so that the last XON is of the kind that the XOFF was
  when(beat === 0) {
    when(usesPfc)(pfc := True) elsewhen (config.pause)(pfc := False)
  }
  val enable, stopped = Reg(Bits(Pause.classes bits))
  val quanta = Reg(Pause.quantaType())
  when(begins) {
    enable := changed | told | want
    stopped := want
    quanta := config.quanta
    told := want
    news := 0
    left := (config.quanta * halfQuantum).resize(18)
    request := False
  }
  when(!io.link) {
    told := 0
    news := 0
    request := False
  }
  io.frames.valid := (request && io.link) || beat =/= 0
  io.sent.valid := begins
  io.sent.pfc := pfc
  io.sent.xoff := want.orR

  io.stopped := told

  private def big(value: Bits): Bits = EndiannessSwap(value)
  def time(i: Int): Bits = big(quanta.asBits.andMask(stopped(i)))
  val nothing = B(0, 16 bits)
  val words = Seq(
    config.station(15 downto 0) ## B(Pause.address, 48 bits),
    big(Mux(pfc, B(Pause.pfcOpcode, 16 bits), B(Pause.pauseOpcode, 16 bits))) ##
      big(B(Pause.etherType, 16 bits)) ## config.station(47 downto 16),
    Mux(pfc, time(2) ## time(1) ## time(0) ## big(enable.resize(16)), B(0, 48 bits) ## time(0)),
    Mux(pfc, time(6) ## time(5) ## time(4) ## time(3), B(0, 64 bits)),
    Mux(pfc, B(0, 48 bits) ## time(7), B(0, 64 bits))
  )
  io.frames.data := 0
  for ((word, i) <- words.zipWithIndex) when(beat === i)(io.frames.data := word)
  io.frames.last := beat === 7
  io.frames.mty := Mux(io.frames.last, U(4), U(0)) // 60 bytes

  val moves = request || beat =/= 0 || want =/= told || asked =/= want
  io.quietCycles := Mux(told.orR || moves, Mux(moves, U(0, 32 bits), left.resize(32 bits)), U(32 bits, default -> True))
}
