// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import spinal.core._

/** A frame from the host, as the DMA engine delivers it. `queue`, `request` and `segments` hold from the first
  * beat; `error`, `zero` and `more` are final with the last.
  */
case class H2cMeta(p: ShellParam) extends Bundle {
  val queue = p.queueType()
  val error = Bool() // the engine or its protocol marked the frame bad
  val request = Bits(H2cRequest.bits(p) bits) // from the descriptor: nobody's word until its queue may ask
  val zero = Bool() // a transfer without a byte: one beat whose data and mty mean nothing
  val segments = p.segmentation generate Bool() // it is to be cut, as its queue may ask for, or is a segment
  val more = p.segmentation generate Bool() // it is a segment, and another of the same frame follows
  val refused =
    p.segmentation generate Bool() // an error frame of one beat, whose data are the beats that it stands for
  val outer = p.segmentation generate Bool() // what is asked for is about an inner packet, as its queue may ask for
}
