// SPDX-License-Identifier: Apache-2.0
package meridian.regs.reference

import meridian.host.LayoutField
import meridian.page.{PagePlace, RegView}
import meridian.regs._
import meridian.regs.reference.RegMap._

/** The register map as a C header. Names begin with MERIDIAN_; registers are offsets from the base of their block. */
object HeaderWriter {
  private def hex(v: BigInt, digits: Int = 1): String = s"0x${v.toString(16).reverse.padTo(digits, '0').reverse}"
  private def define(name: String, value: String): String = s"#define $name".padTo(63, ' ') + s" $value"
  private def repeat(name: String, first: BigInt, count: Int, stride: BigInt): String =
    if (count == 1) define(name, hex(first, 3)) else define(s"$name(i)", s"(${hex(first, 3)} + ${hex(stride)} * (i))")

  /** A comment of one line of 100 columns, which Linux and DPDK allow, or of several. */
  private def comment(text: String): Seq[String] = {
    val line = s"/* $text */"
    def wrapped = text.split(' ').foldLeft(Vector(" *")) { (lines, word) =>
      if (lines.last.length + 1 + word.length <= 100) lines.init :+ s"${lines.last} $word" else lines :+ s" * $word"
    }
    if (line.length <= 100) Seq(line) else ("/*" +: wrapped) :+ " */"
  }

  private def page(p: PageDoc): Seq[String] = {
    val block = s"MERIDIAN_${p.place.name}"
    def base(name: String, at: BigInt) = repeat(s"${block}_$name", at, p.place.count, p.place.stride)
    val head = Seq("") ++ comment(s"${p.place.doc}.") ++
      (if (p.place.view == RegView.vf) Nil else Seq(base("BASE", p.place.base))) ++
      (if (p.place.view == RegView.both) Seq(base("PS_BASE", p.place.base - PagePlace.psBase)) else Nil) ++
      (if (p.place.count > 1) Seq(define(s"${block}_MAX", p.place.count.toString)) else Nil)
    val registers = p.registers.flatMap { r =>
      val name = s"${block}_${r.name.toUpperCase}"
      val most = if (r.count > 1) Seq(define(s"${name}_MAX", r.count.toString)) else Nil
      val fields = r.fields.filterNot(f => f.high == 31 && f.low == 0).flatMap { f =>
        val field = s"${name}_${f.name.toUpperCase}"
        val mask = ((BigInt(1) << (f.high - f.low + 1)) - 1) << f.low
        Seq(define(s"${field}_SHIFT", f.low.toString), define(s"${field}_MASK", s"${hex(mask, 8)}u"))
      }
      Seq(repeat(name, r.offset, r.count, r.stride)) ++ most ++ fields
    }
    val counters = p.counters.map(c => define(s"${block}_COUNTER_${c.name.toUpperCase}", hex(c.offset, 3)))
    head ++ registers ++ counters
  }

  private def completion(fields: Seq[LayoutField]): Seq[String] = {
    val block = "MERIDIAN_COMPLETION"
    val title =
      "Completion entry, in 32-bit words of little endian; the first two alone if the queue has entries of 8 bytes."
    val sizes = Seq(define(s"${block}_BYTES", "8"), define(s"${block}16_BYTES", "16"))
    ("" +: comment(title)) ++ sizes ++ fields.flatMap { f =>
      val name = s"${block}_${f.name.toUpperCase}"
      val mask = ((BigInt(1) << f.width) - 1) << f.low
      Seq("WORD" -> f.word.toString, "SHIFT" -> f.low.toString, "MASK" -> s"${hex(mask, 8)}u").map {
        case (what, value) =>
          define(s"${name}_$what", value)
      }
    }
  }

  private def request(fields: Seq[LayoutField]): Seq[String] = {
    val title =
      "What the metadata of an H2C stream descriptor (its first 32 bits) ask for, on a queue with transmit_offload."
    ("" +: comment(title)) ++ fields.flatMap { f =>
      val name = s"MERIDIAN_H2C_REQUEST_${f.name.toUpperCase}"
      val mask = ((BigInt(1) << f.width) - 1) << f.low
      Seq(define(s"${name}_SHIFT", f.low.toString), define(s"${name}_MASK", s"${hex(mask, 8)}u"))
    }
  }

  def apply(map: MapDoc): String = {
    val lines = Seq(
      "/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */",
      "/*",
      " * Registers of Meridian. Generated from spinal/src/main/scala/meridian/regs by",
      " * meridian.regs.reference.GenerateRegisters: change them there. docs/registers.md tells what they",
      " * mean.",
      " *",
      " * X_BASE is where a block begins in BAR2 of a PF, X_PS_BASE where in the address space of the PS;",
      " * X_MAX how many of it there are at most. Registers are offsets from the base of their block.",
      " * A 64-bit counter is two words, the low one first.",
      " */",
      "#ifndef MERIDIAN_REGS_H",
      "#define MERIDIAN_REGS_H",
      "",
      define("MERIDIAN_MAGIC", s"${hex(Identification.magic)}u"),
      define("MERIDIAN_MAP_MAJOR", Identification.major.toString),
      define("MERIDIAN_MAP_MINOR", Identification.minor.toString),
      define("MERIDIAN_CMAC_VERSION", hex(CmacRegs.coreVersion))
    )
    val enums = map.enums.flatMap { e =>
      val block = s"MERIDIAN_${e.name}"
      val values = e.values.zipWithIndex.map { case (v, i) => define(s"${block}_${v.toUpperCase}", i.toString) }
      ("" +: comment(s"${e.doc}.")) ++ values :+ define(s"${block}S", e.values.size.toString)
    }
    (lines ++ enums ++ completion(map.completion) ++ request(map.request) ++ map.pages
      .flatMap(page) ++ Seq("", "#endif /* MERIDIAN_REGS_H */", "")).mkString("\n")
  }
}
