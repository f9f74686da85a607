// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** The AXI4 dialect of the PS port. */
object PsAxi {

  /** Readers and writers of a port, each with an AXI id of its own. */
  val readersPerPort, writersPerPort = 3

  /** 64-bit data, 40-bit address, 6 id bits: those of the ZynqMP's S_AXI_HP and S_AXI_HPC ports. */
  val config = Axi4Config(
    addressWidth = 40,
    dataWidth = 64,
    idWidth = 6,
    useRegion = false,
    useLock = false,
    useQos = false
  )
  def readConfig(ports: Int): Axi4Config = Axi4ReadOnlyArbiter.getInputConfig(config, readersPerPort * ports)
  def writeConfig(ports: Int): Axi4Config = Axi4WriteOnlyArbiter.getInputConfig(config, writersPerPort * ports)

  /** Bursts end at lines of this many beats, so that none crosses 4 KiB and none is longer than 16 beats. */
  val lineBeats = 16
  val lineBytesLog2 = 7

  def isError(resp: Bits): Bool = resp(1)

  /** An incrementing burst of full beats. Normal memory, not bufferable: the write response comes from memory itself
    * and not from a buffer on the way, which the order of payload, completion and interrupt is built on. Not secure,
    * as Linux's memory is.
    */
  def fill(ax: Axi4Ax, address: UInt, len: UInt): Unit = {
    ax.addr := address
    ax.len := len.resized
    ax.id := 0
    ax.size := 3
    ax.setBurstINCR()
    ax.cache := B"0010"
    ax.prot := B"010"
  }

  /** Beats of the burst that starts at address when left beats remain: up to the end of the line. */
  def burstBeats(address: UInt, left: UInt): UInt = {
    val room = U(lineBeats, 5 bits) - address(lineBytesLog2 - 1 downto 3)
    (left < room) ? left.resize(5 bits) | room
  }

  /** First address of the line after address. */
  def nextLine(address: UInt): UInt =
    (address(address.high downto lineBytesLog2) + 1) @@ U(0, lineBytesLog2 bits)
}

/** Rounds of the shared AXI4 master: readers and writers of all ports, round robin by burst.
  *
  * Latency: 2 cycles each way (registers at the arbiter's output and at its response input). Throughput: one beat a
  * cycle each way. Back-pressure of memory stalls the burst in turn and all behind it; the blocks in front accept every
  * response at once, so none waits for another.
  */
class PsAxiArbiter(ports: Int) extends Component {
  val io = new Bundle {
    val reads = Vec(slave(Axi4ReadOnly(PsAxi.readConfig(ports))), PsAxi.readersPerPort * ports)
    val writes = Vec(slave(Axi4WriteOnly(PsAxi.writeConfig(ports))), PsAxi.writersPerPort * ports)
    val axi = master(Axi4(PsAxi.config))
  }
  val read = Axi4ReadOnlyArbiter(PsAxi.config, io.reads.size)
  for ((input, client) <- read.io.inputs.zip(io.reads)) {
    input.ar << client.ar
    client.r << input.r
  }
  io.axi.ar << read.io.output.ar.pipelined(StreamPipe.FULL)
  read.io.output.r << io.axi.r.pipelined(StreamPipe.FULL)

  val write = Axi4WriteOnlyArbiter(
    PsAxi.config,
    io.writes.size,
    routeBufferSize = 8,
    routeBufferLatency = 1,
    routeBufferM2sPipe = true
  )
  for ((input, client) <- write.io.inputs.zip(io.writes)) {
    input.aw << client.aw
    input.w << client.w
    client.b << input.b
  }
  io.axi.aw << write.io.output.aw.pipelined(StreamPipe.FULL)
  io.axi.w << write.io.output.w.pipelined(StreamPipe.FULL)
  write.io.output.b << io.axi.b.pipelined(StreamPipe.FULL)
}
