// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import scala.util.Random

/** Frames of MAC control for tests, made and read byte by byte as IEEE 802.3 annexes 31B and 31D draw them. */
object ControlFrame {
  val multicast = Seq(0x01, 0x80, 0xc2, 0x00, 0x00, 0x01)

  private def bytes(value: Int): Seq[Int] = Seq(value >> 8 & 0xff, value & 0xff)
  def apply(to: Seq[Int], from: Seq[Int], etherType: Int, opcode: Int, fields: Seq[Int], length: Int = 60): Seq[Int] =
    (to ++ from ++ (Seq(etherType, opcode) ++ fields).flatMap(bytes)).padTo(length, 0)
  def pause(quanta: Int, to: Seq[Int] = multicast, from: Seq[Int] = Seq.fill(6)(2), length: Int = 60): Seq[Int] =
    apply(to, from, 0x8808, 1, Seq(quanta), length)
  def pfc(
      enable: Int,
      quanta: Seq[Int],
      to: Seq[Int] = multicast,
      from: Seq[Int] = Seq.fill(6)(2),
      length: Int = 60
  ): Seq[Int] = apply(to, from, 0x8808, 0x0101, enable +: quanta, length)

  /** What a frame says, if it is one of MAC control: opcode and the fields behind it. */
  def read(frame: Seq[Int], station: Seq[Int]): Option[(Int, Seq[Int])] = {
    def word(at: Int) = frame(at) << 8 | frame(at + 1)
    val to = frame.take(6)
    val ours = to == multicast || (to == station && station.exists(_ != 0))
    if (ours && word(12) == 0x8808) Some((word(14), (16 to 32 by 2).map(word))) else None
  }

  def address(bytes: Seq[Int]): BigInt = bytes.zipWithIndex.map { case (b, i) => BigInt(b) << (8 * i) }.sum

  /** Beats of 8 bytes: data and count. */
  def beats(frame: Seq[Int]): Seq[(BigInt, Int)] = frame.grouped(8).toSeq.map(b => (address(b), b.size))

  def random(random: Random, station: Seq[Int]): Seq[Int] = {
    def pick[T](of: T*): T = of(random.nextInt(of.size))
    def word() = pick(0, 1, 0xffff, random.nextInt(1 << 16))
    val to = pick(multicast, multicast, station, multicast.updated(random.nextInt(6), 0x55), Seq.fill(6)(0xff))
    val etherType = pick(0x8808, 0x8808, 0x8808, 0x0888, 0x8809, 0x0800)
    val opcode = pick(1, 0x0101, 0x0101, 0x0100, 0, 2)
    val from = Seq.fill(6)(random.nextInt(256))
    val length = pick(60, 60, 61, 64, 67, 128)
    val frame = apply(to, from, etherType, opcode, Seq.fill(9)(word()), 34) ++ Seq.fill(94)(random.nextInt(256))
    frame.take(length)
  }
}
