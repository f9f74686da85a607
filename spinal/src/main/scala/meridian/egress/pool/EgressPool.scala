// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.frame.FrameStream
import spinal.core._
import spinal.lib._

/** What software says to the pool. */
case class PoolSettings(e: PoolParam) extends Bundle {
  val weights = Vec(PortWeights(e), e.ports)
  val alpha = Vec(UInt(3 bits), e.classes) // see CellCounts
}

/** The transmit queues of all ports for frames of the host (host clock): lists in one memory of cells.
  *
  * [[CellWriter]] stores frames that [[CellCounts]] and [[GroupShares]] admit; [[PoolMarker]] marks some of those that have
  * met congestion. A frame is in its list ([[FrameLists]]) when it is whole. [[PortScheduler]] chooses for a port when little waits for its line, and [[CellReader]] reads for all ports,
  * a cell each in turn. [[CellFifo]] brings the cells of a port to its line.
  *
  * Latency: from the last beat taken to the first beat at the port, 9 cycles if no other is read and its group has credit.
  * Throughput: one beat a cycle in and one out for all ports, at 250 MHz 64 Gb/s with 32-byte beats and 128 with 64; a frame
  * in 6 cycles a port.
  *
  * A frame of the highest class that comes late waits for `ahead` beats and one frame. input.ready is low for a paced frame
  * that its port's reserve has no room for.
  *
  * While a port is not up, its frames in the pool leave it and are lost. A reset of the host loses all frames here. A
  * function that is reset has its whole frames sent.
  */
class EgressPool(e: PoolParam) extends Component {
  val io = new Bundle {
    val input = Vec(slave(FrameStream(e.hostBytes, HardType(PoolMeta(e)))), e.ports)
    val lost = out Vec (Bits(e.classes bits), e.ports) // with the last beat of input: the frame found no room
    val ports = Vec(master(PoolPort(e)), e.ports)
    val paced =
      out Vec (UInt(16 bits), e.ports) // beats of paced frames here; a frame counts as the smallest of Ethernet

    val blocked, urgent = in Vec (Bits(e.classes bits), e.ports) // see PortScheduler
    val begun = Vec(master(Flow(ClassBytes(e))), e.ports) // a frame that leaves, as soon as its length is known
    val settings = in(PoolSettings(e))
    val lines = slave(PoolMarker.lineAccess(e)) // by which frames are marked
    val marked = out Vec (Bits(e.classes bits), e.ports) // a frame came into its list, and is marked

    val free = out(e.countType()) // cells
    val used = out Vec (Vec(e.countType(), e.classes), e.ports) // cells of frames that are not paced
    val idle = out Bool ()
  }
  val writer = new CellWriter(e)
  val cells = new FreeCells(e.cells)
  val counts = new CellCounts(e)
  val reader = new CellReader(e)
  val links = new CellLinks(e)

  for ((to, from) <- writer.io.input.zip(io.input)) to << from
  writer.io.some := cells.io.some
  writer.io.cell := cells.io.cell
  cells.io.take := writer.io.take
  cells.io.keep := writer.io.keep
  cells.io.undo := writer.io.undo
  cells.io.give << reader.io.give
  writer.io.more := counts.io.more
  writer.io.begins := counts.io.begins
  counts.io.take.valid := writer.io.take
  counts.io.take.payload := writer.io.taker
  counts.io.undo.valid := writer.io.undo
  counts.io.undo.payload := writer.io.undoer
  counts.io.undone := writer.io.undone
  counts.io.give.valid := reader.io.give.valid
  counts.io.give.payload := reader.io.giver
  counts.io.alpha := io.settings.alpha
  io.free := cells.io.free.resized
  io.used := counts.io.used

  val data = Mem(Bits(8 * e.hostBytes bits), e.cells * e.words)
  data.addAttribute("ram_style", "ultra")
  val marker = new PoolMarker(e)
  marker.io.write << writer.io.write
  marker.io.first := writer.io.first
  marker.io.last := writer.io.last
  marker.io.mty := writer.io.mty
  marker.io.owner := writer.io.taker
  marker.io.frame << writer.io.frame
  marker.io.used := counts.io.used
  marker.io.settings <> io.lines
  io.marked := marker.io.marked
  data.write(marker.io.output.address, marker.io.output.data, marker.io.output.valid)
  reader.io.data := RegNext(data.readSync(reader.io.read.payload, reader.io.read.valid))
  val infos = Mem(CellInfo(e), e.cells)
  infos.write(writer.io.infoCell, writer.io.info.payload, writer.io.info.valid)
  reader.io.info := infos.readSync(reader.io.ask.payload, reader.io.ask.valid)

  val lists = for (i <- 0 until e.ports) yield {
    val lists = new FrameLists(e).setName(s"lists$i")
    lists.io.append.valid := writer.io.frame.valid && writer.io.frame.port === i
    lists.io.append.payload := writer.io.frame.payload
    lists
  }
  // A frame has no second cell in the cycle in which the one before it comes into its list.
  links.io.write.valid := writer.io.link.valid || lists.map(_.io.link).orR
  links.io.write.payload := Mux(writer.io.link.valid, writer.io.link.payload, writer.io.frame.first)
  links.io.cell := Mux(
    writer.io.link.valid,
    writer.io.linkCell,
    PoolParam.of(lists.map(_.io.linkCell), writer.io.frame.port)
  )
  links.io.ask << reader.io.ask
  reader.io.link := links.io.link

  val ports = for (i <- 0 until e.ports) yield new Area {
    val list = lists(i).io
    val port = io.ports(i)
    val scheduler = new PortScheduler(e)
    scheduler.io.some := list.some
    scheduler.io.someOf := list.someOf
    scheduler.io.blocked := io.blocked(i)
    scheduler.io.urgent := io.urgent(i)
    scheduler.io.weights := io.settings.weights(i)
    scheduler.io.go := port.near
    list.list := scheduler.io.list
    reader.io.start(i).valid := scheduler.io.start
    reader.io.start(i).payload := list.head
    reader.io.classes(i) := scheduler.io.list.takeHigh(log2Up(e.classes)).asUInt
    reader.io.room(i) := port.room
    val end = reader.io.ends(i)
    list.done := end.valid
    list.last := end.last
    list.next := end.next
    scheduler.io.end.valid := end.valid
    scheduler.io.end.payload := end.bytes
    io.begun(i) << scheduler.io.begun

    val shares = new GroupShares(e)
    shares.io.put.valid := list.append.valid && !writer.io.frame.paced
    shares.io.put.list := writer.io.frame.list
    shares.io.put.cells := writer.io.frame.cells
    shares.io.got.valid := end.valid && !end.paced
    shares.io.got.list := scheduler.io.list
    shares.io.got.cells := end.cells
    shares.io.used := counts.io.used(i)
    shares.io.thresholds := counts.io.thresholds
    writer.io.groups(i) := shares.io.may

    writer.io.up(i) := port.up
    io.lost(i) := UIntToOh(writer.io.lostClass(i), e.classes).andMask(writer.io.lost(i))
    val beats = reader.io.beats(i)
    port.push.valid := beats.valid
    port.push.last := beats.last
    port.push.data := beats.data
    port.push.mty := beats.mty

    val paced = new Area {
      val count = Reg(UInt(16 bits)) init 0
      private def beatsOf(single: Bool) = Mux(single, U(e.leastBeats, 2 bits), U(1, 2 bits))
      val adds = writer.io.write.valid && writer.io.taker.paced && writer.io.taker.port === i
      val back = writer.io.undo && writer.io.undoer.paced && writer.io.undoer.port === i
      val first = RegNextWhen(beats.last, beats.valid) init True
      val leaves = RegNext(beatsOf(first && beats.last).andMask(beats.valid && beats.meta)) init 0
      val comes = RegNext(beatsOf(writer.io.first && writer.io.last).andMask(adds)) init 0
      val goesBack = RegNext(writer.io.undoneBeats.andMask(back)) init 0
      count := count + comes - goesBack - leaves
      io.paced(i) := count
    }
    val idle = !list.some.orR && !list.append.valid && scheduler.io.idle && !reader.io.busy(i)
  }
  io.idle := ports.map(_.idle).andR && marker.io.idle
}
