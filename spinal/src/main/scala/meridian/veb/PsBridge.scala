// SPDX-License-Identifier: Apache-2.0
package meridian.veb

import meridian.ShellParam
import meridian.frame.{CrossingFifo, FrameStream}
import meridian.meta.{PsRxMeta, PsTxMeta}
import meridian.settings.PsFilterConfig
import spinal.core._
import spinal.lib._

/** Edge virtual bridging between the PS of a port and the functions of that port, in both directions, with all its
  * clock crossings. Latency and throughput are those of HostToPs, PsRoute and PsToHost.
  *
  * Each side may be reset alone. The host has no effect on the PS, whatever it does, except for the time that PsRoute
  * waits for an answer.
  */
class PsBridge(p: ShellParam, port: Int, hostCd: ClockDomain, psCd: ClockDomain) extends Component {
  val io = new Bundle {
    val host = slave(VebPsPort(p))

    /** Ps clock; addresses are quasi-static. */
    val filter = in(PsFilterConfig(p))
    val wireRx = slave(FrameStream(p.psBytes, PsRxMeta(p)))
    val rx = master(FrameStream(p.psBytes, PsRxMeta(p)))
    val tx = slave(FrameStream(p.psBytes, PsTxMeta()))
    val wireTx = master(FrameStream(p.psBytes, PsTxMeta()))
    val events = out(PsVebEvents())
    val idle = out Bool ()
  }

  /** Questions and answers under way are fewer than these. */
  val depth = 16

  val hostToPs = new HostToPs(p, port, hostCd, psCd)
  hostToPs.io.copy << io.host.copy
  io.host.lost := hostToPs.io.lost
  hostToPs.io.wire << io.wireRx
  hostToPs.io.rx >> io.rx

  val psToHost = new PsToHost(p, port, psCd, hostCd)
  psToHost.io.frames >> io.host.frames
  io.events := psToHost.io.events

  val queries = new CrossingFifo(PsQuery(), depth, psCd, hostCd)
  queries.io.pop >> io.host.query
  val answers = new CrossingFifo(PsAnswer(), depth, hostCd, psCd)
  answers.io.push << io.host.answer.toStream // one that finds no room is as one that comes too late

  val ps = psCd on new Area {
    val route = new PsRoute(p)
    route.io.veb := BufferCC(io.host.veb, False)
    route.io.tx << io.tx
    route.io.wire >> io.wireTx
    route.io.inside >> psToHost.io.inside
    route.io.query >> queries.io.push
    route.io.answer << answers.io.pop
    io.idle := hostToPs.io.idle && route.io.idle
  }
  val host = hostCd on new Area {
    io.host.filter := PsFilterConfig.crossed(p, io.filter)
    io.host.idle := psToHost.io.idle && !io.host.query.valid
  }
}
