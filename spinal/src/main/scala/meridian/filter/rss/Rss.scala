// SPDX-License-Identifier: Apache-2.0
package meridian.filter.rss

import meridian.ShellParam
import meridian.meta.{FrameHash, HashType}
import meridian.settings.{HashKeyWrite, IndirectionWrite}
import spinal.core._
import spinal.lib._

object Rss {

  /** Source and destination address of IPv6, source and destination port. */
  val inputBits = 128 + 128 + 16 + 16
  val tableEntries = 128

  /** Cycles from the function to its hash, and to the queue its indirection table names. */
  val hashLatency = 3
  val latency = 4

  val keyWords = 10

  /** The word behind the key says in which order a function's frames are hashed: see HashOrder. */
  val orderWord = 10

  /** OpenNIC's key, least significant word first. */
  val defaultKey: Seq[Long] = Seq(0xd6e31417L, 0x376cc87eL, 0x011ba7a6L, 0xdc1b91bbL, 0x7872e224L) ++
    Seq(0xbfd0404bL, 0x260374b8L, 0xd9270f6fL, 0x18dc4386L, 0x7c9c37deL)
}

/** Receive side scaling: 32-bit Toeplitz hash, with a key, a bit order and a table of 128 queues a function. The table is
  * read at hash[6:0].
  *
  * OpenNIC's order: hash = XOR over the input bits i that are 1 of key[i + 31 : i], key bits counted from the least
  * significant bit of word 0. Microsoft's order (its documentation of RSS hashing): the same with the bits of each byte of
  * input and key, and those of the hash, counted from the most significant. What is hashed differs, too: see HashInput.
  *
  * `input` belongs one cycle after its `function`; the hash comes 3 cycles after the function, the queue (relative to
  * the function's base) 4. One frame a cycle; there is no back-pressure. Writes hold for functions asked two cycles
  * later. Key and table are block RAM: they start with OpenNIC's key and queue 0 and keep their content over a reset.
  * There is a cycle from what a frame has to what is hashed of it, and one from there to the hash.
  */
class Rss(p: ShellParam) extends Component {
  val io = new Bundle {
    val function = in(p.functionType())
    val input = in(HashInput())
    val hash = out(FrameHash())
    val queue = out(p.queueType())
    val hashKey = slave(Flow(HashKeyWrite(p)))
    val indirection = slave(Flow(IndirectionWrite(p)))
  }
  val functionBits = log2Up(p.functions)
  val functionSlots = 1 << functionBits

  val function = io.function.resize(functionBits)
  val written = io.hashKey.function.resize(functionBits)
  def write[T <: Data](mem: Mem[T], word: Int, data: T): Unit =
    mem.write(
      written,
      data,
      io.hashKey.valid && io.hashKey.word === word && io.hashKey.function.resize(9) < p.functions
    )

  val orders = Mem(HashOrder(), functionSlots)
  orders.initBigInt(Seq.fill(functionSlots)(BigInt(0)))
  write(orders, Rss.orderWord, HashOrder.fromWord(io.hashKey.data))
  val order = orders.readSync(function)
  val input = RegNext(Mux(order.microsoft, io.input.microsoft(order), io.input.openNic.resize(Rss.inputBits)))
  val microsoft = RegNext(order.microsoft)

  val functionAtInput = RegNext(function)
  val key = Cat((0 until Rss.keyWords).map { word =>
    val mem = Mem(Bits(32 bits), functionSlots) init Seq.fill(functionSlots)(B(Rss.defaultKey(word), 32 bits))
    mem.setName(s"keyWord$word")
    write(mem, word, io.hashKey.data)
    mem.readSync(functionAtInput)
  })
  val keyBits = Mux(microsoft, HashInput.bytesReversed(key), key)
  val sum = RegNext(
    (0 until Rss.inputBits).map(i => keyBits(i, 32 bits).andMask(input(i))).reduceBalancedTree(_ ^ _)
  )
  io.hash.value := Mux(RegNext(microsoft), sum.reversed, sum)
  val kind = Mux(
    order.microsoft,
    io.input.kind(order),
    Mux(io.input.isIpv4, io.input.kind, HashType.none())
  )
  io.hash.kind := Delay(kind, 2)

  val table = Mem(p.queueType(), functionSlots * Rss.tableEntries)
  table.initBigInt(Seq.fill(functionSlots * Rss.tableEntries)(BigInt(0)))
  table.write(
    io.indirection.function.resize(functionBits) @@ io.indirection.index,
    io.indirection.queue,
    io.indirection.valid && io.indirection.function.resize(9) < p.functions
  )
  val functionAtHash = Delay(function, Rss.hashLatency)
  io.queue := table.readSync(functionAtHash @@ io.hash.value(6 downto 0).asUInt)
}
