// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.frame.{FrameDropper, FrameStream}
import spinal.core._
import spinal.lib._

/** The buffer of a port, behind the pool. */
case class PoolPort(e: PoolParam) extends Bundle with IMasterSlave {
  val push = FrameStream(e.hostBytes, HardType(Bool())) // meta: of a paced queue
  val drop = Bool() // with the last beat: the frame is not to be sent
  val abort = Bool() // what is stored of the frame is taken back
  val up = Bool() // the buffer is in use
  val occupancy = UInt(16 bits) // beats in it

  override def asMaster(): Unit = {
    master(push)
    out(drop, abort)
    in(up, occupancy)
  }
}

/** What software says to the pool. */
case class PoolSettings(e: PoolParam) extends Bundle {
  val weights = Vec(PortWeights(e), e.ports)
  val alpha = Vec(UInt(3 bits), e.classes) // see CellCounts
}

/** The transmit queues of all ports for frames of the host (host clock): lists in one memory of cells.
  *
  * [[CellWriter]] stores frames that [[CellCounts]] admits; a frame is in its list ([[FrameLists]]) when it is whole.
  * [[PortScheduler]] chooses for a port whose buffer is nearly empty, and [[CellReader]] reads for all ports, a cell each in
  * turn. A frame for a port that has none in the pool, nor many in its buffer, goes there directly.
  *
  * Latency: 0 cycles for a frame that goes directly. Through the pool, from the last beat taken to the first beat at the
  * port, 8 cycles if no other is read and its group has credit. Throughput: one beat a cycle in and one out for all ports, at 250 MHz 64 Gb/s with
  * 32-byte beats and 128 with 64; a frame in 6 cycles a port.
  *
  * A frame behind another at its port's buffer waits for `ahead` beats and one frame there, whatever its class. input.ready
  * is low for a paced frame that its port's reserve has no room for, and for a cycle when a frame was cut.
  *
  * While a port's buffer is not in use, its frames in the pool leave it and are lost. A reset of the host loses all frames
  * here. A function that is reset has its whole frames sent.
  */
class EgressPool(e: PoolParam) extends Component {
  val io = new Bundle {
    val input = Vec(slave(FrameStream(e.hostBytes, HardType(PoolMeta(e)))), e.ports)
    val lost = out Vec (Bits(e.classes bits), e.ports) // with the last beat of input: the frame found no room
    val ports = Vec(master(PoolPort(e)), e.ports)
    val paced = out Vec (UInt(16 bits), e.ports) // beats of paced frames here

    val blocked = in Vec (Bits(e.classes bits), e.ports) // see PortScheduler
    val begun = Vec(master(Flow(ClassBytes(e))), e.ports) // a frame that leaves, as soon as its length is known
    val settings = in(PoolSettings(e))

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
  data.write(writer.io.write.address, writer.io.write.data, writer.io.write.valid)
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
    val scheduler = new PortScheduler(e)
    val port = io.ports(i)
    val near = RegNext(port.occupancy < e.ahead) init False
    scheduler.io.some := list.some
    scheduler.io.blocked := io.blocked(i)
    scheduler.io.weights := io.settings.weights(i)
    scheduler.io.go := near || !port.up
    list.list := scheduler.io.list
    reader.io.start(i).valid := scheduler.io.start
    reader.io.start(i).payload := list.head
    reader.io.classes(i) := scheduler.io.list.takeHigh(log2Up(e.classes)).asUInt
    val end = reader.io.ends(i)
    list.done := end.valid
    list.last := end.last
    list.next := end.next
    scheduler.io.end.valid := end.valid
    scheduler.io.end.payload := end.bytes

    val quiet = !list.some.orR && !list.append.valid && scheduler.io.idle && !reader.io.busy(i)
    writer.io.up(i) := port.up
    writer.io.direct(i) := (~io.blocked(i)).andMask(quiet && near && port.up)

    val through = writer.io.through(i)
    val beats = reader.io.beats(i)
    val dropper = new FrameDropper(e.hostBytes, HardType(Bool()))
    dropper.io.input.valid := through.valid || beats.valid
    dropper.io.input.data := Mux(through.valid, through.data, beats.data)
    dropper.io.input.mty := Mux(through.valid, through.mty, beats.mty)
    dropper.io.input.last := Mux(through.valid, through.last, beats.last)
    dropper.io.input.meta := Mux(through.valid, through.meta.paced, beats.meta)
    dropper.io.drop := through.valid && through.meta.drop
    dropper.io.push >> port.push
    port.drop := False
    port.abort := dropper.io.abort
    dropper.io.up := port.up

    /** `begun` also comes for a frame that goes to the port directly. */
    val directly = new Area {
      val beats = Reg(e.lengthType()) init 0
      when(through.valid)(beats := Mux(through.last, U(0), beats + 1))
      val trafficClass = io.input(i).meta.trafficClass
      val first = RegNextWhen(trafficClass, beats === 0 && through.valid)
      val told = Flow(ClassBytes(e))
      told.valid := through.valid && through.last && !through.meta.drop && !dropper.io.lost
      told.trafficClass := Mux(beats === 0, trafficClass, first)
      told.bytes := (((beats +^ 1) << log2Up(e.hostBytes)) - through.mty).resized
      val registered = told.stage()
    }
    io.begun(i).valid := scheduler.io.begun.valid || directly.registered.valid
    io.begun(i).payload := Mux(directly.registered.valid, directly.registered.payload, scheduler.io.begun.payload)

    val isLost = writer.io.lost(i) || through.valid && through.last && !through.meta.drop && dropper.io.lost
    io.lost(i) := UIntToOh(writer.io.lostClass(i), e.classes).andMask(isLost)

    val paced = Reg(UInt(16 bits)) init 0
    val adds = writer.io.write.valid && writer.io.taker.paced && writer.io.taker.port === i
    val back = Mux(writer.io.undo && writer.io.undoer.paced && writer.io.undoer.port === i, writer.io.undoneBeats, U(0))
    val leaves = Delay(beats.valid && beats.meta, 3, init = False)
    paced := paced + adds.asUInt - back - leaves.asUInt
    io.paced(i) := paced
    val idle = quiet && !writer.io.directs(i)
  }
  io.idle := ports.map(_.idle).andR
}
