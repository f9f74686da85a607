// SPDX-License-Identifier: Apache-2.0
package meridian

import spinal.core.ClockDomain
import spinal.core.fiber.Handle
import spinal.core.sim._

/** Work of each cycle in the thread of the simulator. A test that waits for each cycle in its own thread has two changes of
  * threads a wait, which take longer than the cycle of a small component.
  */
object Samplings {
  implicit class OfHandle(cd: Handle[ClockDomain]) extends OfDomain(cd.get)
  implicit class OfDomain(cd: ClockDomain) {

    /** Does the work at each sampling, as behind `waitSampling()`, until it is over; that may come at any time. */
    def samplingUntil(over: => Boolean)(work: => Unit): Unit = {
      cd.onSamplingWhile {
        if (!over) work
        !over
      }
      waitUntil(over)
    }

    /** Does the work at each of the next samplings, and returns at the last of them. */
    def eachSampling(count: Int)(work: => Unit): Unit = {
      var left = count
      samplingUntil(left == 0) {
        work
        left -= 1
      }
    }

    /** A cycle of a clock that a test drives, up to where its rising edge can be seen. */
    def cycleThen(seen: => Unit): Unit = {
      cd.fallingEdge()
      delayed(1) {
        cd.risingEdge()
        delayed(1)(seen)
      }
    }
  }
}
