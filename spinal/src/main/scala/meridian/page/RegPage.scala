// SPDX-License-Identifier: Apache-2.0
package meridian.page

import meridian.bus._
import spinal.core._
import spinal.lib.bus.localbus.{MemBus, MemBusConfig}
import spinal.lib.bus.misc.SizeMapping
import spinal.lib.bus.regif._

import scala.collection.mutable.ListBuffer

/** Who sees a page: by BAR2 of a PF, by BAR2 of a VF, by the PS. */
object RegView extends Enumeration {
  val pf, vf, both, ps = Value
}

/** Where a page lies and how often, for the generated documents.
  *
  * @param name   of the block, in capitals in the C header
  * @param base   BAR2 byte address of the first
  * @param view   who sees it; both: BAR2 of a PF, and the PS 0x100000 below
  * @param count  how many there can be at most, stride bytes apart
  */
case class PagePlace(
    name: String,
    base: BigInt,
    view: RegView.Value,
    doc: String,
    count: Int = 1,
    stride: BigInt = 0x1000
)

object PagePlace {

  /** Where the PS's address space begins in BAR2. */
  val psBase = 0x100000
}

/** Registers that repeat inside a page. */
case class RegArray(name: String, first: BigInt, count: Int, stride: BigInt, doc: String)

/** A field that every word of a table has; software writes and reads it. */
case class RegColumn(table: String, name: String, high: Int, low: Int, doc: String)

/** A page of registers by RegIf, with addresses counted from the page's start.
  *
  * The answer to an access comes with the next cycle: bus.rdat and unmapped.
  *
  * @param absent what a read gives where no register is; unless 0, that is not counted as unmapped
  */
class RegPage(val place: PagePlace, addressWidth: Int = 12, absent: BigInt = 0) extends spinal.core.Area {
  val bus = MemBus(MemBusConfig(addressWidth, 32))
  val busif = MemBusInterface(
    bus,
    SizeMapping(0, BigInt(1) << addressWidth),
    withSecFireWall = true
  )(spinal.lib.bus.regif.ClassName(place.name))
  busif.setReservedAddressReadValue(absent)
  busif.setReservedAddressErrorState(absent == 0)
  busif.reg_wrerr // lazy in RegIf; it has to be made in this scope
  val arrays = ListBuffer[RegArray]()
  val columns = ListBuffer[RegColumn]()
  private val counterLists = ListBuffer[() => Seq[CounterName]]()

  /** Of the 64-bit counters; known once the design is elaborated, since some are names of verdicts. */
  def counterNames: Seq[CounterName] = counterLists.toSeq.flatMap(_())

  private val inMemory = Bool()
  Component.current.addPrePopTask { () =>
    inMemory := busif.RamInsts.map(r => r.hitDoRead || r.hitDoWrite).fold(False)(_ || _)
  }

  /** In the cycle of bus.rdat: the access found no register. */
  val unmapped: Bool = if (absent == 0) busif.bus_slverr && RegNext(bus.ce && !inMemory, False) else False

  def reg(address: BigInt, name: String, doc: String): RegInst = {
    busif.regPtrReAnchorAt(address)
    busif.createReg(name, address, doc)
  }

  def array(
      first: BigInt,
      name: String,
      count: Int,
      stride: BigInt,
      doc: String
  )(body: (Int, RegInst) => Unit): Unit = {
    arrays += RegArray(name, first, count, stride, doc)
    for (i <- 0 until count) body(i, reg(first + i * stride, s"$name$i", doc))
  }

  def memory(address: BigInt, name: String, bytes: Int, doc: String): RamInst = {
    busif.regPtrReAnchorAt(address)
    val ram = busif.createRAM(name, address, bytes, doc)
    ram.field(32)("value")
    ram
  }

  /** A memory whose words have fields, which `column` tells of. */
  def table(address: BigInt, name: String, words: Int, doc: String): RamInst = memory(address, name, 4 * words, doc)

  def column(table: RamInst, at: Int, name: String, doc: String, width: Int = 1): Unit =
    columns += RegColumn(table.getName(), name, at + width - 1, at, doc)

  /** A window of 64-bit counters. */
  def counters(address: BigInt, bytes: Int, names: => Seq[CounterName]): RamInst = {
    counterLists += (() => names)
    memory(
      address,
      "counters",
      bytes,
      "64-bit counters, low word first; that holds the high word for the same reader. Places without a name read 0"
    )
  }

  /** RegIf names a field by its signal; in the Verilog the name has to be the only one. */
  private def rename[T <: BaseType](r: RegInst, name: String, signal: T): T =
    signal.setName(s"${place.name}_${r.getName()}_$name".toLowerCase)

  /** A field that software writes and reads. */
  def rw[T <: BaseType](r: RegInst, at: Int, name: String, kind: HardType[T], doc: String, reset: BigInt = 0): T = {
    if (at > r.getfieldPtr) r.fieldNA(at - r.getfieldPtr)
    rename(r, name, r.field(kind, AccessType.RW, reset, doc)(SymbolName(name)))
  }

  /** A field that shows a value of the hardware; access says what software may do with it all the same. */
  def show[T <: BaseType](
      r: RegInst,
      at: Int,
      name: String,
      value: T,
      doc: String,
      access: AccessType = AccessType.RO,
      reset: BigInt = 0
  ): Unit = {
    if (at > r.getfieldPtr) r.fieldNA(at - r.getfieldPtr)
    val wire = cloneOf(value).setName(name)
    wire := value
    r.registerAtOnlyReadLogic(at, wire, access, reset, doc)
    rename(r, name, wire)
  }

  /** A register that is one value. */
  def word(address: BigInt, name: String, value: Bits, doc: String): Unit =
    show(reg(address, name, doc), 0, "value", value, doc)

  /** Register accesses of a port, answered in the cycle after. Those that allow does not hold for are refused, and
    * while ready does not hold they wait.
    */
  def attach(port: RegPort, allow: Bool = True, ready: Bool = True): Unit = {
    port.cmd.ready := ready
    bus.ce := port.cmd.fire && allow
    bus.wr := port.cmd.write
    bus.addr := port.cmd.address.resized
    bus.wdat := port.cmd.data
    val ended = RegNext(port.cmd.fire, False)
    val refused = RegNext(!allow)
    port.rsp.valid := ended
    port.rsp.data := bus.rdat
    port.rsp.refused := refused
    port.rsp.unmapped := unmapped
  }
}
