// SPDX-License-Identifier: Apache-2.0
package meridian.host.tunnel

import meridian.ShellParam
import spinal.core._

/** Both ends of the way that frames in tunnels take without their outer headers. */
class Tunnel(p: ShellParam, frames: Int = 16) extends Area {
  val headers = new OuterHeaders(p, frames)
  val strip = new OuterStrip(p)
  val prepend = new OuterPrepend(p)
  headers.io.fill <> strip.io.fill
  headers.io.source <> prepend.io.source
}
