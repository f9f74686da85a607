// SPDX-License-Identifier: Apache-2.0
import meridian.box.{BoxBeat, SpinalBox}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite.AxiLite4SlaveFactory

/** A box that drops IPv4 packets by eight rules, which software writes. All else passes.
  *
  * Registers, 32 bits each. At 0x20 * rule: 0x00 what the rule compares, 0 switches it off (bit 0 it applies to received
  * frames, bit 1 to frames of the host, bit 2 compares the protocol, bit 3 the destination port, bits 13:8 are the length
  * of the source address's prefix); 0x04 protocol in bits 23:16 and destination port in bits 15:0; 0x08 source address;
  * 0x0c frames that it dropped, received ones; 0x10 the same of the host. A frame is counted by the first rule that fits.
  *
  * It knows packets without a VLAN tag and without IP options; ports are those of UDP, TCP and SCTP. Latency: a
  * beat waits for the next one of its frame, 1 cycle at full rate. Throughput: one beat a cycle.
  */
class Firewall(hostBytes: Int) extends SpinalBox(hostBytes, id = BigInt("46570000", 16), version = 1) {
  private val bus = new AxiLite4SlaveFactory(io.axi)

  private val rules = for (rule <- 0 until 8) yield new Area {
    val mode = bus.createReadAndWrite(Bits(14 bits), 0x20 * rule) init 0
    val match4 = bus.createReadAndWrite(Bits(24 bits), 0x20 * rule + 4) init 0
    val source = bus.createReadAndWrite(Bits(32 bits), 0x20 * rule + 8) init 0
    val prefix = mode(13 downto 8).asUInt
    val mask = RegNext(Vec((0 until 32).reverse.map(prefix > _)).asBits) init 0
    val dropped = for (way <- 0 until 2) yield {
      val count = Reg(UInt(32 bits)) init 0
      bus.read(count, 0x20 * rule + 0xc + 4 * way)
      count
    }
  }

  /** The fields of a frame that rules compare. Byte 0 is in bits 7:0. */
  private case class Packet(head: Bits, present: Bits) {
    private def big(first: Int, bytes: Int) = Cat((0 until bytes).reverse.map(i => head(8 * (first + i), 8 bits)))
    val isIpv4 = big(12, 2) === 0x0800 && big(14, 1) === 0x45 && present(33)
    val protocol = big(23, 1)
    val source = big(26, 4)
    val port = big(36, 2)
    val first = big(20, 2)(12 downto 0) === 0 // only the first fragment has ports
    val hasPort = Seq(6, 17, 132).map(protocol === _).orR && first && present(37)
  }

  private def way(number: Int, from: Stream[Fragment[BoxBeat]], to: Stream[Fragment[BoxBeat]]): Unit = {
    // The last field ends at byte 38, so a beat of 32 bytes is judged with the next one.
    val beat = from.m2sPipe()
    val next = from
    val seen = hostBytes >= 38
    val head = if (seen) beat.data.resize(512) else (next.data ## beat.data).resize(512)
    val rest = if (seen || hostBytes >= 64) B(0, 64 bits) else (next.keep.andMask(!beat.last) ## B(0, 32 bits)).resize(64)
    val packet = Packet(head, beat.keep.resize(64) | rest)
    val start = RegInit(True)
    val ready = if (seen) beat else beat.haltWhen(start && !beat.last && !next.valid)
    val fits = for (rule <- rules) yield {
      val wants = rule.mode
      wants(number) && packet.isIpv4 && ((packet.source ^ rule.source) & rule.mask) === 0 &&
      (!wants(2) || packet.protocol === rule.match4(23 downto 16)) &&
      (!wants(3) || packet.hasPort && packet.port === rule.match4(15 downto 0))
    }
    val dropping = RegInit(False)
    val drop = Mux(start, fits.orR, dropping)
    when(ready.fire) {
      start := ready.last
      dropping := drop
    }
    to << ready.throwWhen(drop)
    for ((rule, first) <- rules.zip(OHMasking.first(Vec(fits).asBits).asBools))
      when(ready.fire && start && first)(rule.dropped(number) := rule.dropped(number) + 1)
  }
  way(0, io.rxIn, io.rxOut)
  way(1, io.txIn, io.txOut)
}
