// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.filter.mactable._
import meridian.mac.{Destination, PsClassifier}
import meridian.meta.{TxDecision, TxTag, TxVerdict}
import meridian.queue._
import meridian.settings.{FunctionFlags, PerPort, PortFlags, PsFilterConfig, TxTagWrite}
import spinal.core._
import spinal.lib._

/** What the first beat of a frame from the host says. */
case class TxHeader(p: ShellParam) extends Bundle {
  val queue = p.queueType()
  val destination = Bits(48 bits)
  val source = Bits(48 bits)
  val tagged = Bool()
  val vid = UInt(12 bits)
  val pcp = p.egress generate UInt(3 bits)
  val macControl = Bool() // by its type, behind a tag if it has one
  val tag = TxTag() // the frame asks for it
  val unfilled = Bool()
  val runt = Bool()
}

/** Decides about a frame by its header: queue, owner, its VLAN, port state, anti-spoof, route. The verdict is the first
  * reason against the frame, in the order noFunction, hostDisabled, disabled, linkDown, runt, spoof, controlFrame,
  * hairpin.
  *
  * Anti-spoof: the MAC table must have source address and VLAN as an entry of that function on its port. A trusted
  * function passes without. If `tag` puts a function into a VLAN, its frames must not bring a tag, even if it is
  * trusted, and this tag goes in front of one that the frame requests. The decision is for the frame with the tag
  * that it gets.
  *
  * Frames that control the link are for the other end of the wire: MAC control (0x8808: PAUSE and PFC), and the group
  * addresses that no bridge forwards (IEEE 802.1Q, table 8-1: 01-80-C2-00-00-00 to 0F). Only a function with `control`
  * sends them, and only to the wire.
  *
  * Latency: queueLatency + macLatency + 3 cycles. Throughput: one header a cycle. There is no back-pressure.
  */
class TxLookup(p: ShellParam, macLatency: Int, queueLatency: Int) extends Component {
  require(
    macLatency >= PsClassifier.latency,
    s"macLatency is $macLatency: the PS's addresses take ${PsClassifier.latency} cycles"
  )
  require(
    queueLatency >= TxLookup.pacedLatency,
    s"queueLatency is $queueLatency: whether a queue is paced is known after ${TxLookup.pacedLatency} cycles"
  )

  val io = new Bundle {
    val header = slave(Flow(TxHeader(p)))
    val paced = in Bool () // so is the queue of the header, TxLookup.pacedLatency cycles later
    val owner = master(QueueLookup(p))
    val mac = master(MacLookup(p))
    val destination = master(MacLookup(p))
    val psFilter = in(Vec(PsFilterConfig(p), p.ports))
    val functions = in(FunctionFlags(p))
    val tag = slave(Flow(TxTagWrite(p)))
    val ports = in(Vec(PortFlags(p), p.ports))
    val decision = master(Flow(TxDecision(p)))
  }

  io.owner.query.valid := io.header.valid
  io.owner.query.payload := io.header.queue

  val owned = new Area {
    val header = Delay(io.header.payload, queueLatency)
    val owner = io.owner.result.payload
    val bits = log2Up(p.functions)
    val index = owner.function.resize(bits)
    val known = owner.valid && (if (p.functions < 256) owner.function < p.functions else True)
    def flagOf(flags: Bits) = flags.resize(1 << bits)(index)
  }

  val named = new Area {
    val header = RegNext(owned.header)
    val paced = RegNext(Delay(io.paced, queueLatency - TxLookup.pacedLatency))
    val known = RegNext(owned.known)
    val function = RegNext(owned.owner.function)
    val enabled = RegNext(owned.flagOf(io.functions.enable))
    val trusted = RegNext(owned.flagOf(io.functions.trusted))
    val mayControl = RegNext(owned.flagOf(io.functions.control))
    val port = RegNext(TxRoute.port(io.functions, owned.owner.function))
    val tags = Mem(TxTag(), 1 << owned.bits)
    tags.write(io.tag.function.resized, io.tag.tag, io.tag.valid)
    val own = tags.readSync(owned.index, readUnderWrite = readFirst)
    val tag = Mux(own.insert, own, header.tag)
  }

  val routed = new Area {
    val valid = Delay(io.header.valid, queueLatency + 2, init = False)
    val destination = RegNext(named.header.destination)
    val source = RegNext(named.header.source)
    val vid = RegNext(Mux(named.tag.insert, named.tag.vid, named.header.vid))
    val foreign = RegNext(named.own.insert && named.header.tagged)
    val tag = RegNext(named.tag)
    val runt = RegNext(named.header.runt)
    val known = RegNext(named.known)
    val function = RegNext(named.function)
    val enabled = RegNext(named.enabled)
    val trusted = RegNext(named.trusted)
    val mayControl = RegNext(named.mayControl)
    val control = RegNext(named.header.macControl || TxLookup.isLinkLocal(named.header.destination))
    val port = RegNext(named.port)

    // A function bound to a port this card does not have finds it switched off.
    val txEnable = PerPort(io.ports.map(_.txEnable), port)
    val linkUp = PerPort(io.ports.map(_.linkUp), port)
    val veb = PerPort(io.ports.map(_.veb), port)

    io.mac.query.valid := valid
    io.mac.query.port := port
    io.mac.query.address := source
    io.mac.query.vid := vid
    io.destination.query.valid := valid
    io.destination.query.port := port
    io.destination.query.address := destination
    io.destination.query.vid := vid

    val ofPs = Vec(io.psFilter.map { filter =>
      val classifier = new PsClassifier(p)
      classifier.io.config := filter
      classifier.io.config.promiscuous.allowOverride() := False // that is for what comes from the wire
      classifier.io.query.valid := valid
      classifier.io.query.payload := destination
      classifier.io.result
    })

    val decision = TxDecision(p)
    decision.port := Mux(known, port, U(0))
    decision.function := function
    decision.functionValid := known
    decision.to.nowhere()
    decision.tag := tag
    decision.unfilled := RegNext(named.header.unfilled)
    decision.paced := RegNext(named.paced)
    if (p.box.nonEmpty) decision.queue := RegNext(named.header.queue)
    if (p.egress) decision.pcp := RegNext(Mux(named.tag.insert, named.tag.pcp, named.header.pcp))
    decision.verdict := TxVerdict.sent
    when(runt)(decision.verdict := TxVerdict.runt)
    when(!linkUp)(decision.verdict := TxVerdict.linkDown)
    when(!enabled)(decision.verdict := TxVerdict.disabled)
    when(!txEnable)(decision.verdict := TxVerdict.hostDisabled)
    when(!known)(decision.verdict := TxVerdict.noFunction)
  }

  val answered = new Area {
    val function = Delay(routed.decision.function, macLatency)
    def isOwn(result: MacResult) = result.hit && !result.value.isGroup && result.value.index === function
    val own = RegNext(isOwn(io.mac.result.payload))
    val found = RegNext(io.destination.result.hit)
    val ofSender = RegNext(isOwn(io.destination.result.payload))
  }

  val checked = new Area {
    val latency = macLatency + 1
    val decision = Delay(routed.decision, latency)
    val trusted = Delay(routed.trusted, latency)
    val mayControl = Delay(routed.mayControl, latency)
    val control = Delay(routed.control, latency)
    val foreign = Delay(routed.foreign, latency)
    import answered.{found, ofSender, own}

    val group = Delay(routed.destination.lsb, latency)
    val veb = Delay(routed.veb, latency)
    def ofPs(flag: Destination => Bool) =
      Delay(PerPort(routed.ofPs.map(flag), Delay(routed.port, PsClassifier.latency)), latency - PsClassifier.latency)
    val route = TxRoute(veb, group, found, ofSender, ofPs(_.exact), ofPs(_.forPs))

    io.decision.valid := Delay(routed.valid, latency, init = False)
    io.decision.payload := decision
    when(decision.verdict === TxVerdict.sent) {
      io.decision.to := route
      when(control) {
        io.decision.to.wire := mayControl
        io.decision.to.functions := False
        io.decision.to.ps := False
        when(!mayControl)(io.decision.verdict := TxVerdict.controlFrame)
      } elsewhen (!route.somewhere) {
        io.decision.verdict := TxVerdict.hairpin
      }
      when(foreign || !trusted && !own) {
        io.decision.to.nowhere()
        io.decision.verdict := TxVerdict.spoof
      }
    }
  }
}

object TxLookup {

  /** Of the addresses that no bridge forwards; the first byte on the wire in bits 7:0. */
  def isLinkLocal(address: Bits): Bool = address(39 downto 0) === 0xc28001L && address(47 downto 44) === 0

  /** Cycles from a header to whether its queue is paced. */
  val pacedLatency = 2
}
