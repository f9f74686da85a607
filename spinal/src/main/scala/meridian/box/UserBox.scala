// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.BoxModule
import spinal.core._

/** An instance of the user's module, with the ports that it has. */
class UserBox(module: BoxModule) extends BlackBox {
  setDefinitionName(module.name)
  for (name <- module.set) addGeneric(name, module.parameters(name).toInt)

  private val pins: Map[String, BaseType] = module.ports.map { port =>
    val pin: BaseType = if (port.width == 1) Bool() else Bits(port.width bits)
    if (port.input) in(pin) else out(pin)
    port.name -> pin.setName(port.name)
  }.toMap

  /** Drives an input, if the module has it. */
  def drive(name: String, value: Data): Unit = (pins.get(name), value) match {
    case (Some(pin: Bool), value: Bool) => pin := value
    case (Some(pin: Bits), value)       => pin := value.asBits
    case (Some(pin), _)                 => SpinalError(s"$pin is no output of one bit")
    case (None, _)                      =>
  }

  /** An output, or what a module without it has there. */
  def bool(name: String, absent: Bool): Bool = pins.get(name).map(_.asInstanceOf[Bool]).getOrElse(absent)
  def bits(name: String, absent: => Bits): Bits =
    pins.get(name).map { case bit: Bool => bit.asBits; case pin => pin.asInstanceOf[Bits] }.getOrElse(absent)
}
