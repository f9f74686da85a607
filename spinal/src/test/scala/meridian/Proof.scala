// SPDX-License-Identifier: Apache-2.0
package meridian

import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** What the proofs of streams and arbiters have in common. */
object Proof {

  /** Z3 with memories as registers and steps unrolled. */
  def apply(): SpinalFormalConfig = FormalConfig.withSyncResetDefault.addEngin(
    SmtBmc(nomem = true, unroll = Some(true), nopresat = true, progress = false, solver = SmtBmcSolver.Z3)
  )

  /** What is offered stays offered, and the same, until it is taken. */
  def holds[T <: Data](stream: Stream[T]): Bool = {
    val stalled = RegNext(stream.isStall) init False
    !stalled || (stream.valid && stream.payload.asBits === RegNext(stream.payload.asBits))
  }

  /** A stream with anything on it that a stream may carry. */
  def drive[T <: Data](stream: Stream[T]): Unit = {
    anyseq(stream.valid)
    anyseq(stream.payload)
    assume(holds(stream))
  }

  /** The next beat is the first of a frame. */
  def starts[T <: Data](stream: Stream[Fragment[T]]): Bool = RegNextWhen(stream.last, stream.fire) init True

  /** Counts events up to limit, beyond which it stays; from 0 again after a cycle with clear. */
  def count(event: Bool, clear: Bool, limit: Int): UInt = {
    val counter = Reg(UInt(log2Up(limit + 1) bits)) init 0
    when(event && counter =/= limit)(counter := counter + 1)
    when(clear)(counter := 0)
    counter
  }
}
