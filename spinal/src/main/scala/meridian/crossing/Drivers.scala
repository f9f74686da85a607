// SPDX-License-Identifier: Apache-2.0
package meridian.crossing

import spinal.core._
import spinal.core.internals._

import scala.collection.mutable

/** Follows signals of an elaborated design back to what drives them. */
class Drivers(top: Component) {

  /** What a signal, an expression or a port depends on without a register between: registers, memories that are read,
    * pins of the top. Nodes for which `stop` holds, and what is behind them, are left out.
    */
  def of(start: Seq[BaseNode], stop: BaseType => Boolean = _ => false): Seq[BaseNode] = {
    val seen = mutable.HashSet[BaseNode]()
    val found = mutable.LinkedHashSet[BaseNode]()
    val todo = mutable.Stack[BaseNode](start: _*)
    while (todo.nonEmpty) {
      val node = todo.pop()
      if (seen.add(node)) node match {
        case signal: BaseType if stop(signal)                              =>
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
  def statements(signal: BaseType): Seq[BaseNode] = {
    val found = mutable.ArrayBuffer[BaseNode]()
    signal.foreachStatements { statement =>
      statement.foreachDrivingExpression(e => found += e)
      statement.walkParentTreeStatementsUntilRootScope(_.foreachDrivingExpression(e => found += e))
    }
    found.toSeq
  }

  /** What a register, or a port of a memory, depends on at its data, address and enable, but not at its reset. */
  def inputs(node: BaseNode): Seq[BaseNode] = {
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

  /** The registers and pins whose bits come to `signal` by wires alone; None if there is a gate, a multiplexer or a
    * condition between. A bit has one driver then, as SpinalHDL refuses two assignments without a condition.
    */
  def wiredTo(signal: BaseType): Option[Seq[BaseType]] = {
    val found = mutable.LinkedHashSet[BaseType]()
    def follow(node: BaseNode): Boolean = node match {
      case end: BaseType if end.isReg || end.component == top && end.isInput =>
        found += end
        true
      case wire: BaseType => assigned(wire)
      case _: Literal     => true
      case wiring @ (_: Cast | _: Operator.Bits.Cat | _: Resize | _: BitVectorBitAccessFixed |
          _: BitVectorRangedAccessFixed) =>
        var wired = true
        wiring.asInstanceOf[Expression].foreachDrivingExpression(e => wired &= follow(e))
        wired
      case _ => false
    }
    def assigned(wire: BaseType): Boolean = {
      var wired = true
      wire.foreachStatements {
        case statement: InitAssignmentStatement => // the value after reset is none of the data input
        case statement =>
          statement.walkParentTreeStatementsUntilRootScope(_ => wired = false)
          statement match {
            case assignment: AssignmentStatement => wired &= follow(assignment.source)
            case _                               => wired = false
          }
      }
      wired
    }
    if (assigned(signal)) Some(found.toSeq) else None
  }
}
