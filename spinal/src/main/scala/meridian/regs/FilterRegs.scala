// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import meridian.bus._
import meridian.filter.mactable._
import meridian.page.{PagePlace, RegPage, RegView}
import meridian.queue._
import meridian.settings.GroupWrite
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.AccessType.WO

object FilterRegs {
  val place = PagePlace("FILTER", 0x110000, RegView.pf, "Receive filter: MAC table, multicast groups, receive buffers")
}

/** Registers of the receive filter (host clock).
  *
  * A write to mac_command starts a MAC command, which is under way until mac_status.busy falls. The key of the table's
  * hash is taken word by word, and nobody can read it. Group lists are stored here as well, for reading back. After
  * reset they are cleared, and accesses wait meanwhile. A queue that a function level reset takes from its function
  * loses its buffer size.
  *
  * Latency: 1 cycle a register access.
  */
class FilterRegs(p: ShellParam) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val command = master(Stream(MacCommand(p)))
    val answer = slave(Flow(MacAnswer(p)))
    val hashKey = master(MacHashKey())
    val group = master(Flow(GroupWrite(p)))
    val bufferSize = master(Flow(BufferSizeWrite(p)))
    val released = slave(Flow(p.queueType())) // taken from its function by a reset
    val enforce = out Bool ()
  }
  val page = new RegPage(FilterRegs.place)
  val sweeping = Bool() // group lists are being cleared
  page.attach(io.bus, ready = !sweeping && !io.released.valid)

  val mac = new Area {
    val low = page.rw(
      page.reg(0x00, "mac_key_low", "MAC address, first four bytes on the wire"),
      0,
      "address",
      Bits(32 bits),
      "first byte on the wire in 7:0"
    )
    val high = page.rw(
      page.reg(0x04, "mac_key_high", "MAC address, last two bytes on the wire"),
      0,
      "address",
      Bits(16 bits),
      "fifth byte on the wire in 7:0"
    )
    val scope = page.reg(0x08, "mac_scope", "Where the entry holds")
    val vid = page.rw(scope, 0, "vid", UInt(12 bits), "VLAN; 0 for frames without a tag")
    val anyVlan = page.rw(scope, 15, "any_vlan", Bool(), "holds for every VLAN; vid is not looked at")
    val port = page.rw(scope, 16, "port", UInt(2 bits), "Ethernet port")
    val value = page.reg(0x0c, "mac_value", "What the entry gives")
    val index = page.rw(value, 0, "index", UInt(8 bits), "function, or multicast group")
    val isGroup = page.rw(value, 8, "is_group", Bool(), "index is a multicast group")

    val start = page.reg(
      0x10,
      "mac_command",
      "A write starts the command; ignored and counted in mac_ignored while one is under way"
    )
    val operation = page.rw(start, 0, "operation", UInt(2 bits), "0 add, 1 remove, 2 find; 3 is ignored and counted")

    val busy, waiting = RegInit(False)
    val ignored = Reg(UInt(32 bits)) init 0
    val answer = Reg(MacAnswer(p))
    answer.status.init(MacStatus.done)
    answer.value.index.init(0)
    answer.value.isGroup.init(False)
    val starts = RegNext(start.hitDoWrite, False)
    when(starts) {
      when(busy || operation === 3) { ignored := ignored + 1 } otherwise { busy := True; waiting := True }
    }
    // What a command carries stays as it was written while the command is under way.
    val command = Reg(MacCommand(p))
    when(!busy) {
      command.query.address := high ## low
      command.query.port := port
      command.query.vid := vid
      command.anyVlan := anyVlan
      command.value.index := index
      command.value.isGroup := isGroup
      command.operation.assignFromBits(operation.asBits.resized)
    }
    io.command.valid := waiting
    io.command.payload := command
    when(io.command.fire) { waiting := False }
    when(io.answer.valid && busy) {
      busy := False
      answer := io.answer.payload
    }
    val status = page.reg(0x14, "mac_status", "State and result of the last command")
    page.show(status, 0, "busy", busy, "a command is under way")
    page.show(
      status,
      4,
      "result",
      answer.status.asBits,
      "0 done, 1 table full, 2 not found, 3 was there, value replaced"
    )
    page.show(status, 8, "index", answer.value.index, "of the entry found")
    page.show(status, 16, "is_group", answer.value.isGroup, "of the entry found")
    page.word(0x18, "mac_ignored", ignored.asBits, "commands that were ignored")
  }

  val hash = new Area {
    val taken = "; ignored and counted in hash_ignored while the MAC table holds entries or is at work"
    val words = Seq(
      page.reg(0x40, "hash_key_0", s"Key of the MAC table's hash, bits 31:0$taken. Reads as 0"),
      page.reg(0x44, "hash_key_1", "Bits 63:32"),
      page.reg(0x48, "hash_key_2", "Bits 79:64. A write takes the key: the rows of the hash are drawn from it")
    )
    for ((word, bits) <- words.zip(Seq(32, 32, 16)))
      page.show(
        word,
        0,
        "key",
        B(0, bits bits),
        "a random number, which no function may know that the host does not trust",
        WO
      )
    io.hashKey.word.valid := RegNext(words.map(_.hitDoWrite).orR) init False
    io.hashKey.word.word := RegNext(OHToUInt(words.map(_.hitDoWrite)))
    io.hashKey.word.data := RegNext(page.bus.wdat)
    io.hashKey.start := io.hashKey.word.valid && io.hashKey.word.word === words.size - 1

    val ignored = Reg(UInt(32 bits)) init 0
    ignored := ignored + U(io.hashKey.refused)
    val status = page.reg(0x4c, "hash_status", "State of the MAC table's hash")
    page.show(status, 0, "busy", io.hashKey.drawing, "the card draws the rows of the hash from the key; commands wait")
    page.show(
      status,
      1,
      "drawn",
      io.hashKey.drawn,
      "the card has drawn rows since it was configured; before, they are those that every card starts with"
    )
    page.word(0x50, "hash_ignored", ignored.asBits, "words of keys that were ignored")
  }

  val groups = new Area {
    val lists = Mem(Bits(32 bits), p.groups * 8)
    val select = page.reg(0x20, "group_select", "Which word of which group list group_data is")
    val group = page.rw(select, 0, "group", UInt(8 bits), "multicast group")
    val word = page.rw(select, 16, "word", UInt(3 bits), "functions 32 * word to 32 * word + 31")
    val list = page.reg(0x24, "group_data", "A bit a function that gets the frames of the group")
    val data = lists.readSync((group.resize(log2Up(p.groups)) ## word).asUInt)
    page.show(list, 0, "functions", data, "bit i: function 32 * word + i", spinal.lib.bus.regif.AccessType.RW)

    val sweep = Reg(UInt(log2Up(p.groups * 8) + 1 bits)) init 0
    sweeping := !sweep.msb
    val address = (group.resize(log2Up(p.groups)) ## word).asUInt
    val exists = group.resize(9 bits) < p.groups
    val next = Flow(GroupWrite(p))
    next.valid := sweeping || (list.hitDoWrite && exists)
    next.data := sweeping ? B(0, 32 bits) | page.bus.wdat
    val at = sweeping ? sweep.dropHigh(1).asUInt | address
    next.group := at.dropLow(3).asUInt
    next.word := at.take(3).asUInt
    when(sweeping) { sweep := sweep + 1 }
    lists.write(at, next.data, next.valid)
    io.group << next.m2sPipe()
  }

  val buffers = new Area {
    val credit = page.reg(0x30, "credit", "Receive buffers of the queues")
    io.enforce := page.rw(
      credit,
      0,
      "enforce",
      Bool(),
      "a frame for a queue with too few free buffers is dropped and counted"
    )
    val size = page.reg(0x34, "buffer_size", "A write sets the size of a queue's receive buffers")
    val bytes = page.rw(
      size,
      0,
      "bytes",
      UInt(16 bits),
      "bytes in a buffer; 0: a frame takes one buffer. A function level reset leaves 0"
    )
    val queue = page.rw(size, 16, "queue", UInt(11 bits), "queue, counted over all functions")
    val next = Flow(BufferSizeWrite(p))
    next.valid := RegNext(size.hitDoWrite, False)
    next.bytes := bytes
    next.queue := queue
    // Whoever gets the queue next may use others. A write of the cycle before comes first, as its queue may be this one.
    val gone = io.released.stage()
    when(gone.valid) {
      next.valid := True
      next.bytes := 0
      next.queue := gone.payload
    }
    io.bufferSize << next
  }
}
