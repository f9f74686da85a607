// SPDX-License-Identifier: Apache-2.0
package meridian.egress.shape

import spinal.core._

/** What the gates of the eight classes are for a time: bit 0 of class 0, high while open. */
case class GateEntry() extends Bundle {
  val gates = Bits(GateList.classes bits)
  val interval = UInt(GateList.intervalBits bits) // ns
}

/** A schedule of gates, apart from its entries (IEEE 802.1Q, 8.6.9.4: the Admin parameters). */
case class GateSchedule() extends Bundle {
  val length = UInt(9 bits) // entries, 1 to 256
  val base = UInt(64 bits) // ns of TAI since 1970: a cycle begins here
  val cycle = UInt(GateList.intervalBits bits) // ns
  val extension = UInt(GateList.intervalBits bits) // ns by which the last cycle before a change may be longer
}

/** What became of a request to change the schedule. */
object GateCode extends SpinalEnum {
  val none = newElement("none") // there was no request
  val accepted = newElement("accepted") // it runs, or waits for its base time
  val badLength = newElement("badLength") // no entries, or more than there are
  val shortInterval = newElement("shortInterval") // an interval is shorter than GateList.minimum
  val longList = newElement("longList") // the intervals are longer than the cycle
  val busy = newElement("busy") // a schedule is being checked, or waits for its base time
}
