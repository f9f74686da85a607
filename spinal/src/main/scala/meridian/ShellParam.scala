// SPDX-License-Identifier: Apache-2.0
package meridian

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** Every choice a shell is built from, checked when it is made.
  *
  * @param ports          Ethernet ports, 1 to 4
  * @param lineRate       Gb/s of a port: 25 (MAC clock 390.625 MHz) or 10 (156.25 MHz)
  * @param hostBytes      bytes in a beat of the host streams: 32 (256 bit, PCIe Gen3 x8) or 64 (512 bit, x16)
  * @param hostMhz        clock of the host streams: 250 or 125 (PCIe Gen3 x4 with 32 bytes); rates keep their unit
  * @param functions      PCIe functions: PFs are 0 to 3, VFs from 4 on, as the QDMA IP numbers them
  * @param queues         QDMA queues of all functions together
  * @param macEntries     entries the MAC table promises to hold
  * @param groups         multicast groups with a function list of their own
  * @param psAddresses    destination addresses the PS listens to, a port
  * @param rxBufferBytes  receive buffer towards the host, a port
  * @param txBufferBytes  transmit buffer from the host, a port; from 32 KiB on it keeps ports apart for paced queues, with
  *                       segmentation from 256 KiB on
  * @param psBufferBytes  receive and transmit buffer of the PS, a port and direction
  * @param copyBufferBytes buffer of frames that wait to be copied to several functions
  * @param vebBufferBytes buffers inside the card: of frames between functions, and a port of frames to and from the PS
  * @param maxFrame       largest frame in bytes without FCS
  * @param selfTest       packet generator, checker and latency counters at the host streams
  * @param box            a user's module at the wire, one instance a port
  * @param hostBox        a user's module at the host, between filters and QDMA streams, one instance
  * @param egress         transmit queues a port, in which frames of queues that are not paced may be lost: two by priority
  * @param pool           or, with egress, those of a pool of cells for all ports, with eight classes a port
  * @param ownDma         the DMA engine of our own, at the pins of the integrated block for PCIe, instead of the QDMA IP's
  * @param extendedTags   with ownDma, it uses tags of reads above 31, which the host has to have enabled (DmaParam)
  * @param memory         with ownDma, queues may be memory-mapped, onto a memory of the card
  * @param segmentation   large frames of TCP and UDP are cut into segments, if their descriptors ask for it
  * @param vfs            with ownDma or selfTest, the VFs of each PF; none: all of them are PF 0's
  */
case class ShellParam(
    ports: Int = 1,
    lineRate: Int = 25,
    hostBytes: Int = 32,
    hostMhz: Int = 250,
    functions: Int = 8,
    queues: Int = 512,
    macEntries: Int = 1024,
    groups: Int = 64,
    psAddresses: Int = 8,
    rxBufferBytes: Int = 32 * 1024,
    txBufferBytes: Int = 32 * 1024,
    psBufferBytes: Int = 32 * 1024,
    copyBufferBytes: Int = 32 * 1024,
    vebBufferBytes: Int = 32 * 1024,
    maxFrame: Int = 9600,
    selfTest: Boolean = false,
    box: Option[BoxModule] = None,
    hostBox: Option[BoxModule] = None,
    egress: Boolean = false,
    pool: Boolean = false,
    ownDma: Boolean = false,
    vfs: Seq[Int] = Nil,
    extendedTags: Boolean = false,
    memory: Boolean = false,
    segmentation: Boolean = false
) {
  require(ports >= 1 && ports <= 4, s"ports is $ports: choose 1 to 4")
  require(lineRate == 25 || lineRate == 10, s"lineRate is $lineRate: choose 25 or 10")
  require(hostBytes == 32 || hostBytes == 64, s"hostBytes is $hostBytes: choose 32 (256 bit) or 64 (512 bit)")
  require(hostMhz == 250 || hostMhz == 125, s"hostMhz is $hostMhz: choose 250 or 125")
  require(functions >= 4 && functions <= 256, s"functions is $functions: choose 4 to 256")
  require(isPow2(queues) && queues >= 16 && queues <= 2048, s"queues is $queues: choose a power of two, 16 to 2048")
  require(
    isPow2(macEntries) && macEntries >= 16 && macEntries <= 16384,
    s"macEntries is $macEntries: choose a power of two, 16 to 16384"
  )
  require(isPow2(groups) && groups >= 2 && groups <= 256, s"groups is $groups: choose a power of two, 2 to 256")
  require(psAddresses >= 1 && psAddresses <= 16, s"psAddresses is $psAddresses: choose 1 to 16")
  require(maxFrame >= 1518 && maxFrame <= 16000, s"maxFrame is $maxFrame: choose 1518 to 16000")
  for (
    (name, bytes) <- Seq(
      "rxBufferBytes" -> rxBufferBytes,
      "txBufferBytes" -> txBufferBytes,
      "psBufferBytes" -> psBufferBytes,
      "copyBufferBytes" -> copyBufferBytes,
      "vebBufferBytes" -> vebBufferBytes
    )
  )
    require(
      isPow2(bytes) && bytes >= 2 * maxFrame,
      s"$name is $bytes: choose a power of two that holds two frames of $maxFrame bytes"
    )

  /** Smallest frame on the wire without FCS (IEEE 802.3: 64 bytes with it). */
  val minFrame = 60
  val macBytes = 8
  val macFrequency = lineRate * BigDecimal("15.625") MHz
  val psFrequency = BigDecimal(250) MHz
  val psBytes = 8
  val pfs = 4
  val portBits = 2
  val functionBits = 8
  val queueBits = 11
  val lengthBits = 16

  for ((place, atHost) <- Seq(box -> false, hostBox -> true); module <- place) {
    val misfits = BoxPins.misfits(this, module, atHost)
    val where = if (atHost) " at the host" else ""
    require(misfits.isEmpty, misfits.mkString(s"the module ${module.name} does not fit$where:\n  ", "\n  ", ""))
  }

  /** How many VFs each PF has, that of a lower PF before that of a higher one: PF 0 has all unless `vfs` says so. */
  def vfsOfPfs: Seq[Int] = if (vfs.isEmpty) (functions - pfs) +: Seq.fill(pfs - 1)(0) else vfs

  /** Whether a function is the PF or a VF of it. */
  def isOf(function: UInt, pf: UInt): Bool = {
    val firsts = vfsOfPfs.scanLeft(pfs)(_ + _)
    val ofVf =
      for ((count, i) <- vfsOfPfs.zipWithIndex if count > 0)
        yield pf === i && function >= firsts(i) && function.resize(9 bits) < firsts(i) + count
    function === pf || ofVf.fold(False)(_ || _)
  }

  /** The DMA engine of our own. */
  def dmaParam: DmaParam =
    DmaParam(
      vfs = vfsOfPfs,
      queues = queues,
      extendedTags = extendedTags,
      userInterrupts = hasBoxes,
      memory = memory,
      commands = commands
    )

  /** Whether the module at the host gives commands on host memory. */
  def commands: Boolean = hostBox.exists(BoxPins.commands)

  /** Whether the host may push frames. */
  def push: Boolean = ownDma && dmaParam.pushSlots > 0

  /** Whether each port has the two queues of [[meridian.egress.EgressQueues]]. */
  def twoQueues: Boolean = egress && !pool

  /** Whether a port sends flow control by the fill of its receive buffer. */
  def sendsPause: Boolean = pool

  /** Which pages of boxes the card has: one a port, and that of the box at the host. */
  def boxPlaces: Seq[Int] = box.toSeq.flatMap(_ => 0 until ports) ++ hostBox.map(_ => BoxPins.hostPlace)
  def hasBoxes: Boolean = boxPlaces.nonEmpty

  /** Whether a module has a port for the time of the PTP clock. */
  def boxTime: Boolean = (box ++ hostBox).exists(module => BoxPins.time.exists(pin => module.has(pin.name)))

  /** Whether the module at the host is told when a frame came from the wire. */
  def stampsAtHost: Boolean =
    hostBox.exists(module => BoxPins.stamp("s_axis_rx", toBox = true).exists(pin => module.has(pin.name)))

  /** Whether a module is told so, and the time is kept beside the frame in the buffer of its port. */
  def stamps: Boolean = box.nonEmpty || stampsAtHost

  /** Who asks for owners of queues: both filters and the pacer, and of options the self-test, then the box at the host for
    * either direction.
    */
  def queueOwners: Int = 3 + (if (selfTest) 1 else 0) + (if (hostBox.nonEmpty) 2 else 0)

  def portType() = UInt(portBits bits)
  def functionType() = UInt(functionBits bits)
  def queueType() = UInt(queueBits bits)
  def lengthType() = UInt(lengthBits bits)

  /** Beats in a transmit buffer. */
  def txBeatsType() = UInt(log2Up(txBufferBytes / hostBytes) + 1 bits)

  /** index < limit, also where every index is. */
  def below(index: UInt, limit: Int): Bool = if (limit >> index.getWidth != 0) True else index < limit
}

object ShellParam {

  /** The receive buffer that stops the other end in time, with frames of 9600 bytes at 25 Gb/s and 100 m of fibre. The wider a
    * word of it is, the more of it a frame of an odd length leaves unused.
    */
  def pausingRxBuffer(hostBytes: Int): Int = if (hostBytes == 64) 128 * 1024 else 64 * 1024

  /** The transmit buffer that keeps ports apart if frames are cut into segments. */
  val segmentedTxBuffer: Int = 256 * 1024
}
