// SPDX-License-Identifier: Apache-2.0
package meridian.regs.reference

import meridian.{BoxPins, ShellParam}
import meridian.box.BoxRegs
import meridian.egress.EgressRegs
import meridian.filter.mactable.{MacOperation, MacStatus}
import meridian.host.{Checksum, CompletionLayout, H2cRequest, L4Kind, LayoutField}
import meridian.mac.pause.{PauseRefusal, PauseRegs}
import meridian.meta.{HashType, RxVerdict, TxVerdict}
import meridian.page.{CounterName, PagePlace, RegPage, RegView}
import meridian.regs._
import meridian.regs.counters._
import meridian.selftest.{SelfTest, SelfTestEnd, SelfTestRefusal}
import meridian.selftest.port.{PortTest, PortTestEnd, PortTestRefusal, PortTestState}
import meridian.transceiver.DrpResult
import spinal.core._
import spinal.lib.bus.regif._

import scala.collection.mutable.ListBuffer

/** The register map as the documents need it. Offsets are from the start of a page. */
object RegMap {
  case class FieldDoc(name: String, high: Int, low: Int, access: String, reset: BigInt, doc: String)

  /** count and stride: of a register that repeats, or of the words of a memory; 1 for others. */
  case class RegisterDoc(name: String, offset: BigInt, count: Int, stride: BigInt, doc: String, fields: Seq[FieldDoc])
  case class PageDoc(place: PagePlace, registers: Seq[RegisterDoc], counters: Seq[CounterName])
  case class EnumDoc(name: String, doc: String, values: Seq[String])
  case class MapDoc(pages: Seq[PageDoc], enums: Seq[EnumDoc], completion: Seq[LayoutField], request: Seq[LayoutField])

  /** Visits the RegIf of a page. Repeating registers are told by their first. */
  private class Visitor(page: RegPage) extends BusIfDoc {
    val name = page.place.name
    val suffix = ""
    val registers = ListBuffer[RegisterDoc]()
    def body(): String = ""

    /** The page's name is said by the page. */
    private def short(name: String) = name.toLowerCase.stripPrefix(s"${page.place.name.toLowerCase}_")
    private def access(f: Field) = if (f.getAccessType() == AccessType.ROV) "RO" else f.getAccessType().toString

    override def generate(busif: BusIf): Unit = for (slice <- busif.slices.sortBy(_.getAddr())) {
      val fields = slice.getFields().filterNot(_.getAccessType() == AccessType.NA).map { f =>
        val bits = f.getSection()
        FieldDoc(FunctionCounters.snake(f.getName()), bits.max, bits.min, access(f), f.getResetValue(), f.getDoc())
      }
      val (name, at, doc) = (short(slice.getName()), slice.getAddr(), slice.getDoc())
      val array = page.arrays.find(a => slice.getName() == s"${a.name}${(at - a.first) / a.stride}")
      (slice, array) match {
        case (ram: RamInst, _) =>
          val columns = page.columns.toSeq.filter(_.table == ram.getName())
          val said = columns.map(c => FieldDoc(c.name, c.high, c.low, "RW", 0, c.doc))
          registers += RegisterDoc(name, at, (ram.getSize() / 4).toInt, 4, doc, said)
        case (_, Some(a)) if at == a.first => registers += RegisterDoc(a.name, at, a.count, a.stride, doc, fields)
        case (_, Some(_))                  => // told by the first
        case _                             => registers += RegisterDoc(name, at, 1, 4, doc, fields)
      }
    }
  }

  private def visit(page: RegPage): PageDoc = {
    val visitor = new Visitor(page)
    page.busif.accept(visitor)
    PageDoc(page.place, visitor.registers.toSeq, page.counterNames)
  }

  /** The page with the fields that another build has in the same registers. */
  private def joined(page: PageDoc, other: PageDoc): PageDoc =
    if (page.place != other.place) page
    else
      page.copy(registers = page.registers.map { register =>
        val more = other.registers.filter(_.name == register.name).flatMap(_.fields)
        register.copy(fields = (register.fields ++ more).distinctBy(_.name).sortBy(_.low))
      })

  /** The map of the largest card with all options, so that it does not depend on how one is built. */
  val largest = {
    val sizes =
      ShellParam(
        ports = 4,
        functions = 256,
        queues = 2048,
        groups = 256,
        psAddresses = 16,
        selfTest = true,
        egress = true,
        segmentation = true
      )
    sizes.copy(box = Some(BoxPins.whole(sizes)), hostBox = Some(BoxPins.whole(sizes, atHost = true)))
  }

  /** Elaborates both banks and the pages of options, and reads the map from them. */
  def apply(): MapDoc = {
    val config = SpinalConfig(targetDirectory = java.nio.file.Files.createTempDirectory("registers").toString)
    val host = config.generateVerilog(new HostRegs(largest)).toplevel.pages.map(visit)
    val pool = largest.copy(
      hostBytes = 64,
      selfTest = false,
      box = None,
      hostBox = None,
      pool = true,
      ownDma = true,
      segmentation = true
    )
    val ident = visit(config.generateVerilog(new IdentRegs(pool)).toplevel.page)
    val flow = visit(config.generateVerilog(new PauseRegs(pool)).toplevel.page)
    val card = config
      .generateVerilog(new CardRegs(largest))
      .toplevel
      .pages
      .map(visit)
      .map(joined(_, ident))
      .map(page => if (page.place == flow.place) flow else page)
    val selfTest = visit(config.generateVerilog(new SelfTest(largest)).toplevel.regs.page)
    val portTest = visit(config.generateVerilog(new PortTest(largest)).toplevel.regs.page)
    val box =
      Seq(
        visit(config.generateVerilog(new BoxRegs(largest, 0, 0, commands = true)).toplevel.page),
        PageDoc(BoxRegs.window, Nil, Nil)
      )
    val egress = visit(config.generateVerilog(new EgressRegs(pool)).toplevel.page)
    def values(e: SpinalEnum) = e.elements.toSeq.map(v => FunctionCounters.snake(v.getName()))
    MapDoc(
      ((host ++ card :+ selfTest :+ portTest :+ egress) ++ box).sortBy(p => (p.place.view == RegView.vf, p.place.base)),
      Seq(
        EnumDoc("RX_VERDICT", "What became of a received frame, or of one copy of it", values(RxVerdict)),
        EnumDoc("TX_VERDICT", "What became of a frame of the host", values(TxVerdict)),
        EnumDoc("MAC_OPERATION", "mac_command.operation", values(MacOperation)),
        EnumDoc("MAC_RESULT", "mac_status.result", values(MacStatus)),
        EnumDoc("HASH_TYPE", "What the hash of a frame was made over", values(HashType)),
        EnumDoc("CHECKSUM", "Verdict on a checksum of a frame", values(Checksum)),
        EnumDoc("L4_KIND", "What follows the IP header of a packet that is whole and no fragment", values(L4Kind)),
        EnumDoc("SELF_TEST_REFUSAL", "Why a self-test was not started", values(SelfTestRefusal)),
        EnumDoc("SELF_TEST_END", "What ended a self-test", values(SelfTestEnd)),
        EnumDoc(
          "TRANSCEIVER_REFUSAL",
          "Why a setting of a transceiver was not taken over",
          values(TransceiverRefusal)
        ),
        EnumDoc("DRP_RESULT", "How an access to a register of a transceiver ended", values(DrpResult)),
        EnumDoc("PAUSE_REFUSAL", "Why flow control is off although it was switched on", values(PauseRefusal)),
        EnumDoc("PORT_TEST_STATE", "What a test of a port does", values(PortTestState)),
        EnumDoc("PORT_TEST_REFUSAL", "Why a test of a port was not started", values(PortTestRefusal)),
        EnumDoc("PORT_TEST_END", "What ended a test of a port", values(PortTestEnd))
      ),
      CompletionLayout.fields,
      H2cRequest.fields
    )
  }
}
