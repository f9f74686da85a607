// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

/** Test frames byte by byte, from the text of TestFrame and not from its hardware. */
object TestFrameModel {
  private val mask = (BigInt(1) << 64) - 1
  private def rotate(x: BigInt, n: Int): BigInt = ((x << n) | (x >> (64 - n))) & mask
  private def littleEndian(x: BigInt, bytes: Int): Seq[Byte] = (0 until bytes).map(i => (x >> (8 * i) & 255).toByte)

  def apply(
      length: Int,
      queue: Int,
      run: Int,
      sequence: BigInt,
      stamp: BigInt,
      addresses: Seq[Byte] = Seq.fill(12)(0)
  ): Array[Byte] = {
    val label = BigInt(queue | run << 11)
    val header = addresses ++ Seq(0x88.toByte, 0xb5.toByte) ++ littleEndian(label, 2) ++ littleEndian(sequence, 8) ++
      littleEndian(stamp, 8) ++ littleEndian(length, 2)
    val seed = sequence ^ rotate(stamp, 32) ^ label << 48 ^ BigInt("9E3779B97F4A7C15", 16)
    def byte(n: Int): Byte = {
      val k = n / 8
      val chunk = BigInt(k / 8)
      val word = rotate(seed, 7 * (k % 8)) ^ (0 until 4).map(i => chunk << (16 * i)).reduce(_ | _)
      (word >> (8 * (n % 8)) & 255).toByte
    }
    Array.tabulate(length)(n => if (n < header.size) header(n) else byte(n))
  }

  /** The number that a test frame has. */
  def number(frame: Array[Byte], at: Int): BigInt = BigInt(1, frame.slice(at, at + 8).reverse)
}
