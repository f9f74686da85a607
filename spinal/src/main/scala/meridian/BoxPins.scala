// SPDX-License-Identifier: Apache-2.0
package meridian

import meridian.dma.CommandPort

/** The ports that a user's module has. docs/user-logic.md tells what they mean. */
object BoxPins {

  /** Address bits of the registers of a box. */
  val addressBits = 16

  /** Bits of what a module at the host says for a completion entry, its words 2 and 3. */
  val completionBits = 64

  /** The number of the module at the host, behind those of the ports. */
  val hostPlace = 4

  /** A port of the module.
    *
    * @param needed a module without it does not fit
    */
  case class Pin(name: String, toBox: Boolean, width: Int, needed: Boolean)

  private def stream(name: String, toBox: Boolean, p: ShellParam): Seq[Pin] = Seq(
    Pin(s"${name}_tvalid", toBox, 1, needed = true),
    Pin(s"${name}_tready", !toBox, 1, needed = true),
    Pin(s"${name}_tdata", toBox, 8 * p.hostBytes, needed = true),
    Pin(s"${name}_tkeep", toBox, p.hostBytes, needed = true),
    Pin(s"${name}_tlast", toBox, 1, needed = true)
  ) ++ Seq("size", "src", "dst").map(field => Pin(s"${name}_tuser_$field", toBox, 16, needed = false))

  /** Whom a received frame is for; a module at the host has to say it of its own. */
  private def target(name: String, toBox: Boolean, p: ShellParam): Seq[Pin] = Seq(
    Pin(s"${name}_tuser_function", toBox, p.functionBits, needed = !toBox),
    Pin(s"${name}_tuser_queue", toBox, p.queueBits, needed = !toBox),
    Pin(s"${name}_tuser_completion", toBox, completionBits, needed = !toBox)
  )

  /** When a frame came from the wire; of a module's own frames all of it or nothing. */
  def stamp(name: String, toBox: Boolean): Seq[Pin] = Seq(
    Pin(s"${name}_tuser_time", toBox, 80, needed = !toBox),
    Pin(s"${name}_tuser_time_valid", toBox, 1, needed = !toBox)
  )
  private val passedOn = stamp("m_axis_rx", toBox = false)

  /** The PTP clock, which a shell carries to the host's clock if a module has one of the two. */
  val time: Seq[Pin] = Seq(Pin("phc_time", true, 80, needed = false), Pin("phc_time_valid", true, 1, needed = false))

  /** AXI4-Lite slave; a module has all of it or nothing. */
  val registers: Seq[Pin] = {
    def channel(name: String, fields: (String, Boolean, Int)*) =
      fields.map { case (field, toBox, width) => Pin(s"s_axil_$name$field", toBox, width, needed = true) }
    channel("aw", ("addr", true, addressBits), ("valid", true, 1), ("ready", false, 1)) ++
      channel("w", ("data", true, 32), ("strb", true, 4), ("valid", true, 1), ("ready", false, 1)) ++
      channel("b", ("resp", false, 2), ("valid", false, 1), ("ready", true, 1)) ++
      channel("ar", ("addr", true, addressBits), ("valid", true, 1), ("ready", false, 1)) ++
      channel("r", ("data", false, 32), ("resp", false, 2), ("valid", false, 1), ("ready", true, 1))
  }

  /** A command on host memory, from the module. */
  private def command(name: String): Seq[Pin] = Seq(
    Pin(s"${name}_tvalid", toBox = false, 1, needed = true),
    Pin(s"${name}_tready", toBox = true, 1, needed = true),
    Pin(s"${name}_tuser_address", toBox = false, 64, needed = true),
    Pin(s"${name}_tuser_bytes", toBox = false, 16, needed = true),
    Pin(s"${name}_tuser_queue", toBox = false, 11, needed = true),
    Pin(s"${name}_tuser_tag", toBox = false, CommandPort.tagBits, needed = false)
  )

  /** Reads of host memory by a module at the host, which has all of it or nothing; and writes likewise. */
  val reads: Seq[Pin] = command("m_axis_dma_read") ++ Seq(
    Pin("s_axis_dma_read_tvalid", toBox = true, 1, needed = true),
    Pin("s_axis_dma_read_tready", toBox = false, 1, needed = true),
    Pin("s_axis_dma_read_tdata", toBox = true, 256, needed = true),
    Pin("s_axis_dma_read_tkeep", toBox = true, 32, needed = false),
    Pin("s_axis_dma_read_tlast", toBox = true, 1, needed = true),
    Pin("s_axis_dma_read_tuser_tag", toBox = true, CommandPort.tagBits, needed = false),
    Pin("s_axis_dma_read_tuser_error", toBox = true, 1, needed = true)
  )
  val writes: Seq[Pin] = command("m_axis_dma_write") ++ Seq(
    Pin("m_axis_dma_write_tdata", toBox = false, 256, needed = true),
    Pin("m_axis_dma_write_tlast", toBox = false, 1, needed = true),
    Pin("s_axis_dma_written_tvalid", toBox = true, 1, needed = true),
    Pin("s_axis_dma_written_tuser_tag", toBox = true, CommandPort.tagBits, needed = false),
    Pin("s_axis_dma_written_tuser_error", toBox = true, 1, needed = true)
  )

  /** Whether a module at the host gives commands on host memory. */
  def commands(module: BoxModule): Boolean = (reads ++ writes).exists(pin => module.has(pin.name))

  /** Those of a module at the wire, or of one at the host. */
  def of(p: ShellParam, atHost: Boolean = false): Seq[Pin] =
    Seq(Pin("clk", true, 1, needed = true), Pin("rst", true, 1, needed = true)) ++ time ++
      stream("s_axis_rx", toBox = true, p) ++
      stamp("s_axis_rx", toBox = true) ++
      (if (atHost) target("s_axis_rx", toBox = true, p) else Nil) ++
      stream("m_axis_rx", toBox = false, p) ++
      (if (atHost) target("m_axis_rx", toBox = false, p) else passedOn) ++
      stream("s_axis_tx", toBox = true, p) ++
      Seq(
        Pin("s_axis_tx_tuser_function", true, p.functionBits, needed = false),
        Pin("s_axis_tx_tuser_queue", true, p.queueBits, needed = false)
      ) ++ (if (atHost) Seq(Pin("s_axis_tx_tuser_request", true, 32, needed = false)) else Nil) ++
      stream("m_axis_tx", toBox = false, p) ++
      (if (atHost)
         Seq(
           Pin("m_axis_tx_tuser_queue", false, p.queueBits, needed = true),
           Pin("m_axis_tx_tuser_request", false, 32, needed = true)
         )
       else Nil) ++
      Seq(Pin("box_rst_done", false, 1, needed = false), Pin("irq", false, 1, needed = false)) ++ registers ++
      (if (atHost) reads ++ writes else Nil)

  /** A module with all of them, of no source: for what only depends on there being one.
    *
    * @param commands  it gives commands on host memory
    */
  def whole(p: ShellParam, atHost: Boolean = false, commands: Boolean = false): BoxModule = {
    val ports = of(p, atHost)
      .filter(pin => commands || !(reads ++ writes).contains(pin))
      .map(pin => BoxPort(pin.name, pin.toBox, pin.width))
    BoxModule(if (atHost) "host_box" else "user_box", BoxSource(Nil, Nil), ports)
  }

  /** What does not fit, a sentence each. */
  def misfits(p: ShellParam, module: BoxModule, atHost: Boolean = false): Seq[String] = {
    def bits(width: Int) = if (width == 1) "1 bit" else s"$width bits"
    def direction(input: Boolean) = if (input) "an input" else "an output"
    val known = of(p, atHost).map(pin => pin.name -> pin).toMap
    val elsewhere = of(p, !atHost).map(_.name).toSet
    val other = if (atHost) "wire" else "host"
    val unwanted = Seq(registers, reads, writes, passedOn).filterNot(_.exists(pin => module.has(pin.name))).flatten
    val missing = for {
      pin <- of(p, atHost)
      if pin.needed && !module.has(pin.name) && !unwanted.contains(pin)
    } yield s"it has no port ${pin.name}, ${direction(pin.toBox)} of ${bits(pin.width)}"
    val wrong = module.ports.flatMap { port =>
      known.get(port.name) match {
        case None if elsewhere(port.name) =>
          Some(s"only a module at the $other has ${port.name}, ${bits(port.width)}: take it out")
        case None if port.input => Some(s"nothing drives its input ${port.name}: the shell knows no such port")
        case Some(pin) if pin.toBox != port.input =>
          Some(s"${port.name} is ${direction(port.input)}: it has to be ${direction(pin.toBox)}")
        case Some(pin) if pin.width != port.width =>
          val way =
            if (pin.name.matches(".*_t(data|keep)")) s"; a parameter ${BoxModule.dataBits} fits each width" else ""
          Some(s"${port.name} has ${bits(port.width)}: the shell has ${bits(pin.width)}$way")
        case _ => None
      }
    }
    missing ++ wrong
  }
}
