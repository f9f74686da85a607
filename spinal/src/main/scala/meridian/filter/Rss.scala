// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** What of a frame is hashed. */
case class HashInput() extends Bundle {
  val bits = Bits(Rss.inputBits bits)
  val kind = HashType()
}

object Rss {

  /** VLAN nibble, IPv4 protocol, source address, destination address, source port, destination port. */
  val inputBits = 4 + 8 + 32 + 32 + 16 + 16
  val tableEntries = 128

  /** Cycles from the function to its hash, and to the queue its indirection table names. */
  val hashLatency = 2
  val latency = 3

  /** The key words that are hashed with: bit i of the input selects key bits i to i + 31. */
  val keyWords = (inputBits + 31 + 31) / 32

  /** OpenNIC's key, least significant word first. */
  val defaultKey: Seq[Long] = Seq(0xd6e31417L, 0x376cc87eL, 0x011ba7a6L, 0xdc1b91bbL, 0x7872e224L) ++
    Seq(0xbfd0404bL, 0x260374b8L, 0xd9270f6fL, 0x18dc4386L, 0x7c9c37deL)
}

/** Receive side scaling: 32-bit Toeplitz hash in OpenNIC's bit order, with a key and a table of 128 queues a function.
  * hash = XOR over the input bits i that are 1 of key[i + 31 : i], key bits counted from the least significant bit of
  * word 0; the table is read at hash[6:0].
  *
  * `input` belongs one cycle after its `function`; the hash comes 2 cycles after the function, the queue (relative to
  * the function's base) 3. One frame a cycle; there is no back-pressure. Writes hold for functions asked two cycles
  * later. Key and table are block RAM: they start with OpenNIC's key and queue 0 and keep their content over a reset.
  * Key words 5 to 9 take no part in the hash and are not kept.
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

  val key = Cat((0 until Rss.keyWords).map { word =>
    val mem = Mem(Bits(32 bits), functionSlots) init Seq.fill(functionSlots)(B(Rss.defaultKey(word), 32 bits))
    mem.setName(s"keyWord$word")
    mem.write(
      io.hashKey.function.resize(functionBits),
      io.hashKey.data,
      io.hashKey.valid && io.hashKey.word === word && io.hashKey.function.resize(9) < p.functions
    )
    mem.readSync(io.function.resize(functionBits))
  })
  io.hash.value := RegNext(
    (0 until Rss.inputBits).map(i => key(i, 32 bits).andMask(io.input.bits(i))).reduceBalancedTree(_ ^ _)
  )
  io.hash.kind := RegNext(io.input.kind)

  val table = Mem(p.queueType(), functionSlots * Rss.tableEntries)
  table.initBigInt(Seq.fill(functionSlots * Rss.tableEntries)(BigInt(0)))
  table.write(
    io.indirection.function.resize(functionBits) @@ io.indirection.index,
    io.indirection.queue,
    io.indirection.valid && io.indirection.function.resize(9) < p.functions
  )
  val functionAtHash = Delay(io.function.resize(functionBits), Rss.hashLatency)
  io.queue := table.readSync(functionAtHash @@ io.hash.value(6 downto 0).asUInt)
}
