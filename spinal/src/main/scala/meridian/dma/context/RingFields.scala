// SPDX-License-Identifier: Apache-2.0
package meridian.dma.context

import meridian.dma.descriptor.{RingChange, RingContext, RingState}
import meridian.dma.command.CommandQueue
import spinal.core._

/** Where software finds a ring in its contexts: of software, of hardware, and of credits. What the engine changes by
  * itself is kept in [[RingState]] alone; the rest is in the memories of contexts.
  */
object RingFields {
  // Software's context: the lowest bit, and how many.
  private val pidx = (0, 16)
  private val irqArm = 16
  private val function = (17, 12)
  private val enable = 32
  private val creditEnable = 33
  private val statusInterval = 35
  private val size = (44, 4)
  private val descriptorSize = (48, 2) // 8 bytes times two to the power of it
  private val bypass = 50
  private val statusEnable = 52
  private val irqEnable = 53
  private val error = (58, 2)
  private val errorSent = 60
  private val irqRequest = 61
  private val memoryMapped = 63
  private val base = (64, 64)
  private val vector = (128, 11)
  private val aggregate = 139
  private val noVfInterrupt = 140
  // Hardware's.
  private val cidx = (0, 16)
  private val pending = 40
  // That of credits.
  private val credits = (0, 16)

  private def field(from: Bits, at: (Int, Int)): Bits = from(at._1, at._2 bits)

  /** Whether the queue is memory-mapped. */
  def isMapped(software: Bits): Bool = software(memoryMapped)

  /** Whether the queue is for commands of the card's own logic, and has no ring. */
  def isForCommands(software: Bits): Bool = software(bypass) && !software(memoryMapped)

  /** Such a queue: who lets the logic have its memory, if anybody. */
  def commands(software: Bits): CommandQueue = {
    val it = CommandQueue()
    it.enable := software(enable) && isForCommands(software) && field(software, function)(11 downto 8) === 0
    it.function := field(software, function).asUInt.resized
    it
  }

  /** @param c2h         its descriptors are to have 8 bytes, and not 16 or more
    * @param hasMemory   there are memory-mapped queues; their descriptors are to have 32 bytes, and are fetched without
    *                    credits
    * @param hasCommands there are queues for commands of the card's own logic, whose rings are disabled
    */
  def context(
      software: Bits,
      c2h: Boolean = false,
      hasMemory: Boolean = false,
      hasCommands: Boolean = false
  ): RingContext = {
    val it = RingContext()
    it.enable := (if (hasCommands) software(enable) && !isForCommands(software) else software(enable))
    // The status entry of another base could cross 4 KiB.
    val isPlaced = field(software, base)(2 downto 0) === 0
    val isStranger = (field(software, descriptorSize) === 0) =/= Bool(c2h)
    val isStrange =
      if (hasMemory) isMapped(software) ? (field(software, descriptorSize) =/= 2) | isStranger else isStranger
    val isUnknown = if (hasMemory) software(bypass) else isMapped(software) || software(bypass)
    // A function that no engine has may not be taken for another: it has no memory and no interrupt.
    val isThere = field(software, function)(11 downto 8) === 0
    it.wrong := isUnknown || isStrange || !isThere || !isPlaced
    it.stride := field(software, descriptorSize).asUInt - 1
    it.creditEnable := (if (hasMemory) software(creditEnable) && !isMapped(software) else software(creditEnable))
    it.statusEnable := software(statusEnable) && isPlaced && isThere
    it.statusInterval := software(statusInterval)
    it.error := field(software, error)
    it.errorSent := software(errorSent)
    it.irqEnable := software(irqEnable)
    it.irqArm := software(irqArm)
    it.irqRequest := software(irqRequest)
    it.vector := field(software, vector).asUInt
    it.aggregate := software(aggregate)
    it.noVfInterrupt := software(noVfInterrupt) || !isThere
    it.function := isThere ? field(software, function).asUInt.resize(widthOf(it.function)) | it.function.maxValue
    it.size := field(software, size).asUInt
    it.base := field(software, base).asUInt
    it
  }

  /** A ring that begins as its contexts say. */
  def change(
      queue: UInt,
      software: Bits,
      hardware: Bits,
      c2h: Boolean = false,
      hasMemory: Boolean = false,
      hasCommands: Boolean = false
  ): RingChange = {
    val it = RingChange()
    it.queue := queue
    it.context := context(software, c2h, hasMemory, hasCommands)
    it.pidx := field(software, pidx).asUInt
    it.cidx := field(hardware, cidx).asUInt
    it.pending := hardware(pending)
    it.credits := 0
    it.creditsAlone := False
    it.forgets := True
    it
  }
  def creditsOf(row: Bits): UInt = field(row, credits).asUInt

  /** The contexts as the engine has changed them. */
  def software(stored: Bits, ring: RingState): Bits = {
    val it = CombInit(stored)
    it(pidx._1, pidx._2 bits) := ring.pidx.asBits
    it(irqArm) := ring.context.irqArm
    it(enable) := ring.context.enable
    it(error._1, error._2 bits) := ring.context.error
    it(errorSent) := ring.context.errorSent
    it(irqRequest) := ring.context.irqRequest
    it
  }
  def hardware(stored: Bits, ring: RingState): Bits = {
    val it = CombInit(stored)
    it(cidx._1, cidx._2 bits) := ring.cidx.asBits
    it(pending) := ring.pending
    it
  }
  def credit(stored: Bits, ring: RingState): Bits = {
    val it = CombInit(stored)
    it(credits._1, credits._2 bits) := ring.credits.asBits
    it
  }
}
