// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.frame.RxBeat
import spinal.core._
import spinal.lib._

/** What a good frame of EtherType 0x8808 was; one of the three. */
case class PauseSeen() extends Bundle {
  val pause, pfc = Bool() // it is obeyed
  val ignored = Bool() // another opcode, or one that the port does not obey
}

/** Reads PAUSE and PFC from the frames of a port, in the receive clock of the MAC.
  *
  * It reads good frames of EtherType 0x8808 to 01-80-C2-00-00-01 or to the address of the station. It leaves bad frames,
  * runts and oversize frames alone, and MacRx counts them. While flow control is on, none of the frames that it reads goes
  * on to host or PS, whatever its opcode is (802.3 clause 31.3). While flow control is off, it reads nothing, and all go on.
  *
  * Latency: io.take is valid with a frame's last beat, from registers. io.times and io.seen come 2 cycles after that beat.
  * Throughput: one beat a cycle, frames back to back, no back-pressure. About 250 registers.
  */
class PauseReader extends Component {
  val io = new Bundle {
    val config = in(PauseRxConfig())
    val beat = slave(Flow(RxBeat()))

    /** With the last beat: the frame is bad, a runt or oversize. */
    val bad = in Bool ()

    /** With the last beat: a frame that is not bad is not for host or PS. */
    val take = out Bool ()
    val times = master(Flow(PauseTimes()))
    val seen = master(Flow(PauseSeen()))
  }
  val beat = io.beat

  /** Number of the beat, up to the one behind all that is looked at. */
  val place = Reg(UInt(3 bits)) init 0
  when(beat.valid) {
    when(place =/= 5)(place := place + 1)
    when(beat.last)(place := 0)
  }
  def at(n: Int): Bool = beat.valid && place === n
  private def field(byte: Int): Bits = EndiannessSwap(beat.data(8 * byte, 16 bits))

  /** A 48-bit comparison is a register after each part. */
  private def matches(address: Bits): Bool = {
    val parts = beat.data(47 downto 0).subdivideIn(4 slices).zip(address.subdivideIn(4 slices)).map { case (a, b) =>
      RegNextWhen(a === b, at(0)) init False
    }
    parts.toSeq.andR
  }
  val address = matches(B(Pause.address, 48 bits)) || (matches(io.config.station) && io.config.station.orR)

  val control, pause, pfc = RegInit(False)
  when(at(0))(control := False)
  when(at(1)) {
    control := address && field(4) === Pause.etherType
    pause := field(6) === Pause.pauseOpcode
    pfc := field(6) === Pause.pfcOpcode
  }

  /** What follows the opcode: the time of PAUSE or the classes of PFC, and then the times of these. */
  val fields = Vec(Reg(Bits(16 bits)), 1 + Pause.classes)
  for (i <- fields.indices; byte = 16 + 2 * i)
    when(at(byte / 8))(fields(i) := field(byte % 8))

  io.take := control && io.config.on

  val read = RegNext(beat.valid && beat.last && io.take && !io.bad) init False
  val obeyPause = pause && io.config.pause
  val obeyPfc = pfc && io.config.pfc.orR
  // The fields change with the third beat of the next frame at the earliest.
  val times = PauseTimes()
  times.enable := Mux(pause, B(0xff, 8 bits), fields(0)(7 downto 0) & io.config.pfc)
  for (i <- 0 until Pause.classes) times.quanta(i) := Mux(pause, fields(0), fields(1 + i)).asUInt
  io.times.valid := RegNext(read && (obeyPause || obeyPfc)) init False
  io.times.payload := RegNext(times)
  io.seen.valid := RegNext(read) init False
  io.seen.pause := RegNext(obeyPause)
  io.seen.pfc := RegNext(obeyPfc)
  io.seen.ignored := RegNext(!obeyPause && !obeyPfc)
}
