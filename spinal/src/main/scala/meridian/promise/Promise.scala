// SPDX-License-Identifier: Apache-2.0
package meridian.promise

import spinal.core._
import spinal.core.formal._

/** What a component takes for granted of those who drive it. A proof of the component assumes it; wherever else the
  * component is built it is an assert, which ends a simulation and has to be proven where it is part of a larger proof. So
  * no proof rests on less than the shell keeps.
  */
object Promise {

  /** In the component, for every cycle out of reset.
    *
    * @param holds what is promised
    * @param what  said when it does not hold
    */
  def apply(holds: Bool, what: String): Unit = {
    val parent = Component.current.parent
    val proven = GenerationFlags.formal.isEnabled && parent != null && parent.parent == null
    if (proven) assume(holds) else assert(holds, what, FAILURE)
  }

  /** Cycles since the last one with the event, less one, up to a limit at which it stays; from 0 on after reset. Promises
    * read such registers alone, so synthesis leaves them out.
    */
  def since(event: Bool, limit: Int): UInt = {
    val cycles = Reg(UInt(log2Up(limit + 1) bits)) init 0
    when(cycles =/= limit)(cycles := cycles + 1)
    when(event)(cycles := 0)
    cycles
  }
}
