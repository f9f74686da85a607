// SPDX-License-Identifier: Apache-2.0
package meridian.crossing

import spinal.core._
import spinal.core.internals._
import spinal.lib.BufferCC

import scala.collection.mutable

/** A register, or the read port of a memory, that looks at another clock.
  *
  * @param kind      sync, bus, held, memory or input, as vivado/tcl/crossings.tcl explains them
  * @param from      paths in the generated Verilog, without the top: registers, a memory, or a pin of the top
  * @param fromClock name of the top's pin; for a pin, the clock of the target, as nobody here knows its own
  */
case class Crossing(kind: String, from: Seq[String], fromClock: String, to: String, toClock: String)

/** Finds the clock crossings of an elaborated design by following every register and memory back to what drives it.
  * What only drives outputs that are left open in hardware is not looked at, as synthesis removes it.
  */
class CrossingFinder(top: Component, open: BaseType => Boolean) {
  private def path(component: Component, name: String): String =
    (component.parents().map(_.getName()).drop(1) ++ (if (component == top) Nil else Seq(component.getName())) :+ name)
      .mkString("/")

  private def clock(cd: ClockDomain): String = cd.clock.getName()

  private def writers(mem: Mem[_]): Seq[MemWrite] = {
    val found = mutable.ArrayBuffer[MemWrite]()
    mem.foreachStatements { case write: MemWrite => found += write; case _ => }
    found.toSeq
  }

  /** What a signal, an expression or a port depends on without a register between: registers, memories that are read, pins.
    */
  private def drivers(start: Seq[BaseNode]): Seq[BaseNode] = {
    val seen = mutable.HashSet[BaseNode]()
    val found = mutable.LinkedHashSet[BaseNode]()
    val todo = mutable.Stack[BaseNode](start: _*)
    while (todo.nonEmpty) {
      val node = todo.pop()
      if (seen.add(node)) node match {
        case signal: BaseType if signal.isReg                              => found += signal
        case signal: BaseType if signal.component == top && signal.isInput => found += signal
        case signal: BaseType                                              => todo.pushAll(statements(signal))
        case port: MemReadSync                                             => found += port
        case port: MemReadAsync =>
          found += port
          port.foreachDrivingExpression(e => todo.push(e))
        case port: MemReadWrite =>
          throw new NotImplementedError(s"$port: ports that read and write are not followed across clocks yet")
        case expression: Expression => expression.foreachDrivingExpression(e => todo.push(e))
        case _                      =>
      }
    }
    found.toSeq
  }

  /** The expressions of a signal's assignments and of the conditions they stand in. */
  private def statements(signal: BaseType): Seq[BaseNode] = {
    val found = mutable.ArrayBuffer[BaseNode]()
    signal.foreachStatements { statement =>
      statement.foreachDrivingExpression(e => found += e)
      statement.walkParentTreeStatementsUntilRootScope(_.foreachDrivingExpression(e => found += e))
    }
    found.toSeq
  }

  private def inputs(node: BaseNode): Seq[BaseNode] = {
    val found = mutable.ArrayBuffer[BaseNode]()
    node match {
      case signal: BaseType => found ++= statements(signal)
      case write: MemWrite =>
        write.foreachDrivingExpression(e => found += e)
        write.walkParentTreeStatementsUntilRootScope(_.foreachDrivingExpression(e => found += e))
      case port: MemReadSync => port.foreachDrivingExpression(e => found += e)
      case _                 =>
    }
    found.toSeq
  }

  /** Registers and read ports that something outside depends on. */
  private val live: Seq[BaseNode] = {
    val seen = mutable.LinkedHashSet[BaseNode]()
    val outputs = top.getAllIo.filter(pin => pin.isOutput && !open(pin)).toSeq
    val todo = mutable.Stack[BaseNode](drivers(outputs): _*)
    def domain(cd: ClockDomain): Seq[BaseNode] = Option(cd.reset).toSeq ++ Option(cd.clockEnable).toSeq
    while (todo.nonEmpty) {
      val node = todo.pop()
      if (seen.add(node)) {
        val behind = node match {
          case signal: BaseType if signal.isReg => inputs(signal) ++ domain(signal.clockDomain)
          case port: MemReadSync                => inputs(port) ++ memoryInputs(port.mem)
          case port: MemReadAsync               => memoryInputs(port.mem)
          case _                                => Nil
        }
        todo.pushAll(drivers(behind))
      }
    }
    seen.toSeq
  }
  private def memoryInputs(mem: Mem[_]): Seq[BaseNode] =
    writers(mem).flatMap(write => inputs(write) ++ Option(write.clockDomain.reset))

  private def differ(a: ClockDomain, b: ClockDomain): Boolean = a.clock != b.clock && !ClockDomain.areSynchronous(a, b)

  private def ofRegister(target: BaseType): Seq[Crossing] = {
    val cd = target.clockDomain
    val synchroniser = target.component.isInstanceOf[BufferCC[_]]
    val kind = if (!synchroniser) "held" else if (target.getBitsWidth == 1) "sync" else "bus"
    val to = path(target.component, target.getName())
    val found = drivers(statements(target))
    val registers = found.collect { case r: BaseType if r.isReg && differ(r.clockDomain, cd) => r }
    val pins = if (synchroniser) found.collect { case pin: BaseType if !pin.isReg => pin }
    else Nil
    val memories = found.collect { case port: MemReadAsync => port.mem }.distinct
    registers
      .groupBy(r => clock(r.clockDomain))
      .toSeq
      .sortBy(_._1)
      .map { case (from, group) =>
        Crossing(kind, group.map(r => path(r.component, r.getName())).sorted, from, to, clock(cd))
      } ++
      pins.map(pin => Crossing("input", Seq(pin.getName()), clock(cd), to, clock(cd))) ++
      memories
        .flatMap(mem => writers(mem).map(_.clockDomain).filter(differ(_, cd)).distinctBy(clock).map(mem -> _))
        .map { case (mem, from) =>
          Crossing("memory", Seq(path(mem.component, mem.getName())), clock(from), to, clock(cd))
        }
  }

  private def ofPort(port: MemReadSync): Seq[Crossing] =
    for (from <- writers(port.mem).map(_.clockDomain).filter(differ(_, port.clockDomain)).distinctBy(clock)) yield {
      val memory = path(port.mem.component, port.mem.getName())
      Crossing("memory", Seq(memory), clock(from), path(port.mem.component, port.getName()), clock(port.clockDomain))
    }

  /** Every crossing once, in the order of its target's path. */
  lazy val crossings: Seq[Crossing] = live
    .flatMap {
      case signal: BaseType if signal.isReg => ofRegister(signal)
      case port: MemReadSync                => ofPort(port)
      case _                                => Nil
    }
    .distinct
    .sortBy(c => (c.to, c.kind, c.fromClock))
}
