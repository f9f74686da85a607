// SPDX-License-Identifier: Apache-2.0
package meridian.crossing

import spinal.core._
import spinal.core.internals._
import spinal.lib.BufferCC

import scala.collection.mutable

/** Finds the clock crossings of an elaborated design by following every register and memory back to what drives it.
  * What only drives outputs that are left open in hardware is not looked at, as synthesis removes it.
  *
  * @param open         the outputs that are left open in hardware
  * @param asynchronous the inputs that may change at any time
  *
  * A crossing that is not safe ends the search with an error that names its registers: see [[refused]].
  */
class CrossingFinder(
    top: Component,
    open: BaseType => Boolean,
    asynchronous: BaseType => Boolean = _ => false
) {
  private val drivers = new Drivers(top)

  private def path(component: Component, name: String): String =
    (component.parents().map(_.getName()).drop(1) ++ (if (component == top) Nil else Seq(component.getName())) :+ name)
      .mkString("/")
  private def path(register: BaseType): String = path(register.component, register.getName())

  private def clock(cd: ClockDomain): String = cd.clock.getName()

  private def writers(mem: Mem[_]): Seq[MemWrite] = {
    val found = mutable.ArrayBuffer[MemWrite]()
    mem.foreachStatements { case write: MemWrite => found += write; case _ => }
    found.toSeq
  }

  /** Wires of a clock domain that reach its registers at other pins than their data input. */
  private def controls(cd: ClockDomain): Seq[BaseType] =
    Seq(cd.reset, cd.softReset, cd.clockEnable).filter(_ != null)

  /** Registers and ports that something outside depends on. */
  private val live: Seq[BaseNode] = {
    val seen = mutable.LinkedHashSet[BaseNode]()
    val outputs = top.getAllIo.filter(pin => pin.isOutput && !open(pin)).toSeq
    val boxes = mutable.ArrayBuffer[BaseType]() // inputs of modules that are not ours
    top.walkComponents {
      case box: BlackBox => boxes ++= box.getAllIo.filter(_.isInput)
      case _             =>
    }
    val todo = mutable.Stack[BaseNode](drivers.of(outputs ++ boxes): _*)
    while (todo.nonEmpty) {
      val node = todo.pop()
      if (seen.add(node)) {
        val behind = node match {
          case signal: BaseType if signal.isReg => drivers.inputs(signal) ++ controls(signal.clockDomain)
          case port: MemReadSync                => drivers.inputs(port) ++ memoryInputs(port.mem)
          case port: MemReadAsync               => memoryInputs(port.mem)
          case _                                => Nil
        }
        todo.pushAll(drivers.of(behind))
      }
    }
    seen.toSeq
  }
  private def memoryInputs(mem: Mem[_]): Seq[BaseNode] =
    writers(mem).flatMap(write => drivers.inputs(write) ++ controls(write.clockDomain))
  private lazy val liveWrites: Seq[MemWrite] = live
    .collect { case port: MemReadSync => port.mem; case port: MemReadAsync => port.mem }
    .distinct
    .flatMap(writers(_))

  private def differ(a: ClockDomain, b: ClockDomain): Boolean = a.clock != b.clock && !ClockDomain.areSynchronous(a, b)

  private def foreign(nodes: Seq[BaseNode], cd: ClockDomain): Seq[BaseType] =
    nodes.collect { case r: BaseType if r.isReg && differ(r.clockDomain, cd) => r }

  /** For tests: a design without one of its synchronisers. */
  protected def isSynchroniser(buffer: BufferCC[_]): Boolean = true
  private def synchroniser(register: BaseType): Option[BufferCC[_]] = register.component match {
    case buffer: BufferCC[_] if isSynchroniser(buffer) => Some(buffer)
    case _                                             => None
  }
  private def held(signal: BaseType): Option[Crossing.Held] = signal.getTag(classOf[Crossing.Held])

  private def ofRegister(target: BaseType): Seq[Crossing] = {
    val cd = target.clockDomain
    val start = drivers.statements(target)
    val found = drivers.of(start)
    val to = path(target)
    def kind(group: Seq[BaseType]) =
      if (synchroniser(target).isEmpty) "held"
      else if (target.getBitsWidth == 1 || group.map(_.getBitsWidth).sum == 1) "sync"
      else "bus"
    val pins = if (synchroniser(target).isDefined) found.collect { case pin: BaseType if !pin.isReg => pin }
    else Nil
    val memories = found.collect { case port: MemReadAsync => port.mem }.distinct
    foreign(found, cd)
      .groupBy(r => clock(r.clockDomain))
      .toSeq
      .sortBy(_._1)
      .map { case (from, group) =>
        val reason = if (kind(group) == "held") reasonOf(target, group) else ""
        Crossing(kind(group), group.map(r => path(r)).sorted, from, to, clock(cd), reason)
      } ++
      pins.map(pin => Crossing("input", Seq(pin.getName()), clock(cd), to, clock(cd))) ++
      memories
        .flatMap(mem => writers(mem).map(_.clockDomain).filter(differ(_, cd)).distinctBy(clock).map(mem -> _))
        .map { case (mem, from) =>
          Crossing("memory", Seq(path(mem.component, mem.getName())), clock(from), to, clock(cd))
        }
  }

  /** Why a held crossing may be: the declarations that its paths pass. Empty if one is without. */
  private def reasonOf(target: BaseType, group: Seq[BaseType]): String = {
    val reasons = mutable.LinkedHashSet[String]()
    def declared(signal: BaseType) = held(signal).exists { tag => reasons += tag.reason; true }
    val undeclared = drivers.of(drivers.statements(target), declared).toSet[BaseNode]
    if (group.exists(undeclared)) "" else reasons.mkString(" ")
  }

  private def ofPort(port: MemReadSync): Seq[Crossing] =
    for (from <- writers(port.mem).map(_.clockDomain).filter(differ(_, port.clockDomain)).distinctBy(clock)) yield {
      val memory = path(port.mem.component, port.mem.getName())
      Crossing("memory", Seq(memory), clock(from), path(port.mem.component, port.getName()), clock(port.clockDomain))
    }

  private lazy val all: Seq[Crossing] = live
    .flatMap {
      case signal: BaseType if signal.isReg => ofRegister(signal)
      case port: MemReadSync                => ofPort(port)
      case _                                => Nil
    }
    .distinct
    .sortBy(c => (c.to, c.kind, c.fromClock))

  private def named(registers: Seq[BaseType]) =
    registers.map(r => s"${path(r)} (${clock(r.clockDomain)})").mkString(", ")

  /** A plain register behind registers of another clock needs a declaration: [[Crossing.held]]. */
  private def undeclared: Seq[String] =
    for (c <- all if c.kind == "held" && c.reason.isEmpty)
      yield s"${c.to} (${c.toClock}) takes ${c.from.mkString(", ")} (${c.fromClock}) without a synchroniser: " +
        "put a BufferCC between, or declare by Crossing.held why the source stands still"

  /** SpinalHDL writes ASYNC_REG at a register with this tag, and its own check is then silent. */
  private def tagged: Seq[String] =
    for {
      register <- live.collect { case signal: BaseType if signal.isReg && synchroniser(signal).isEmpty => signal }
      if register.hasTag(crossClockDomain) && !register.component.isInstanceOf[BufferCC[_]]
    } yield s"${path(register)} (${clock(register.clockDomain)}) is tagged crossClockDomain: use Crossing.held"

  /** So does one behind a pin that may change at any time. */
  private def unsampled: Seq[String] =
    for {
      register <- live.collect { case signal: BaseType if signal.isReg && synchroniser(signal).isEmpty => signal }
      pins = drivers.of(drivers.statements(register)).collect {
        case pin: BaseType if !pin.isReg && asynchronous(pin) => pin
      }
      if pins.nonEmpty
    } yield s"${path(register)} (${clock(register.clockDomain)}) takes the pin ${pins.map(_.getName()).mkString(", ")}, " +
      "which may change at any time, without a synchroniser: put a BufferCC between"

  /** A synchroniser samples a register as it is: a gate before it makes pulses that a clock edge may catch. */
  private def gated: Seq[String] =
    for {
      register <- live.collect { case signal: BaseType if signal.isReg => signal }
      buffer <- synchroniser(register)
      from = foreign(drivers.of(drivers.statements(register)), register.clockDomain) if from.nonEmpty
      sentence <-
        if (drivers.wiredTo(register).isEmpty)
          Some(
            s"the synchroniser ${path(register)} (${clock(register.clockDomain)}) is fed through logic by " +
              s"${named(from)}: put a register of the source's clock before it"
          )
        else if (buffer.buffers.size < 2)
          Some(s"the synchroniser ${path(register)} has one register: give it two")
        else None
    } yield sentence

  /** Two synchronisers of one source may settle in different cycles. */
  private def twice: Seq[String] =
    for {
      ((source, clock), group) <- all
        .filter(c => c.kind == "sync" || c.kind == "bus")
        .flatMap(c => c.from.map(source => (source, c.toClock) -> c.to))
        .groupMap(_._1)(_._2)
        .toSeq
        .sortBy(_._1) if group.distinct.size > 1
    } yield s"$source is synchronised to $clock more than once, in ${group.distinct.mkString(", ")}: use one for all"

  /** Resets and clock enables have no synchroniser of their own, but an asynchronous reset that is one. */
  private def uncontrolled: Seq[String] = {
    val users = live.collect { case signal: BaseType if signal.isReg => signal }
    val sentences = for {
      register <- users
      cd = register.clockDomain
      control <- controls(cd) if register.hasInit || control == cd.clockEnable
      asynchronous = control == cd.reset && cd.config.resetKind == ASYNC
      ends = drivers.of(Seq(control))
      if (if (asynchronous) !leavesWithTheClock(register) else foreign(ends, cd).nonEmpty)
    } yield (clock(cd), control) ->
      (if (asynchronous)
         s"the asynchronous reset ${path(control)} of ${path(register)} (${clock(cd)}) comes from " +
           s"${ends.collect { case end: BaseType => path(end) }.mkString(", ")}: bring it through a reset synchroniser"
       else
         s"${path(control)}, reset or enable of ${path(register)} (${clock(cd)}), comes from " +
           s"${named(foreign(ends, cd))}: synchronise it to that clock first")
    sentences.distinctBy(_._1).map(_._2)
  }

  /** The reset of a register is that of a reset synchroniser, or the register is part of one: a BufferCC of a constant
    * with an asynchronous reset from one register or pin.
    */
  private def leavesWithTheClock(register: BaseType): Boolean = {
    def part(of: BaseType) =
      of.isReg && of.clockDomain.clock == register.clockDomain.clock && of.clockDomain.config.resetKind == ASYNC &&
        synchroniser(of).exists(buffer =>
          buffer.buffers.size >= 2 && drivers.of(Seq(buffer.io.dataIn.asInstanceOf[Data].flatten.head)).isEmpty
        ) &&
        drivers.wiredTo(of.clockDomain.reset).exists(_.size == 1)
    part(register) || drivers.wiredTo(register.clockDomain.reset).exists(ends => ends.size == 1 && part(ends.head))
  }

  /** The ports of a memory have no synchroniser of their own either. */
  private def intoMemories: Seq[String] =
    for {
      (node, cd, mem) <- liveWrites.map(w => (w: BaseNode, w.clockDomain, w.mem: Mem[_])) ++
        live.collect { case port: MemReadSync => (port: BaseNode, port.clockDomain, port.mem: Mem[_]) }
      from = foreign(drivers.of(drivers.inputs(node)), cd) if from.nonEmpty
    } yield s"a port of the memory ${path(mem.component, mem.getName())} (${clock(cd)}) takes ${named(from)}: " +
      "bring them into that clock first"

  /** What is wrong with the crossings, a sentence each. */
  lazy val refused: Seq[String] =
    (undeclared ++ tagged ++ unsampled ++ gated ++ twice ++ uncontrolled ++ intoMemories).distinct

  /** Every crossing once, in the order of its target's path. */
  lazy val crossings: Seq[Crossing] = {
    if (refused.nonEmpty)
      throw new IllegalArgumentException(
        refused.mkString(s"${top.definitionName} crosses clocks unsafely:\n  ", "\n  ", "")
      )
    all
  }
}
