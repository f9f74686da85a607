// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.completion.CompletionRow
import meridian.dma.descriptor.RingChange
import meridian.dma.pcie._
import meridian.dma.DmaParam
import meridian.host.FrameSim._
import scala.collection.mutable
import scala.util.Random
import spinal.core._
import spinal.core.sim._
import spinal.lib.sim._

/** The engine with a host's memory, in which each queue has a ring of buffers and one of completions, and a shell that
  * sends frames. Whatever is written is looked at when it is: a completion has to be behind its payload, an entry has
  * to be the next one with its colour, and all has to be where the queue said, by its function.
  */
class C2hHarness(dut: C2hEngine, p: DmaParam, seed: Int, pace: Float = 1.0f, maxPayload: Int = 256) {
  val cd = clocked(dut)
  val engine = dut.io
  val random = new Random(seed)
  val sizes = Seq(16, 128, 9, 512) // with the status entry
  val buffers = Seq(2048, 4096, 256, 1000)
  dut.io.maxPayload #= Integer.numberOfTrailingZeros(maxPayload / 128)
  private val maxRead = if (maxPayload == 128) 128 else 512 // the smallest of both together
  dut.io.maxReadRequest #= Integer.numberOfTrailingZeros(maxRead / 128)
  for (i <- 0 until 16) {
    dut.io.ringSizes(i) #= sizes(i % 4)
    dut.io.bufferSizes(i) #= buffers(i % 4)
    dut.io.timers(i) #= 20 * (i + 1)
    dut.io.thresholds(i) #= i + 1
  }
  dut.io.timerTick #= 5
  dut.io.skip #= 1
  dut.io.hold.queue.valid #= false
  dut.io.holdCompletion.queue.valid #= false
  dut.io.drain.valid #= false
  dut.io.prefetch.valid #= false
  val memory = new HostMemory
  val host = new RequesterHost(dut.io.rq, dut.io.rc, cd, memory, maxRead, pace, seed + 1, maxPayload)
  private val masters = new BusMasters(dut.io.busMaster, p, host)
  host.headers = 8 * CompletionRoom.ofBufferRead
  dut.io.room.hasRoom #= true
  host.onWrite = written
  private val (_, changes) = StreamDriver.queue(dut.io.change, cd)
  val (rowDriver, rows) = StreamDriver.queue(dut.io.changeCompletion, cd)
  private val (_, doorbells) = StreamDriver.queue(dut.io.doorbell, cd)
  val (bellDriver, bells) = StreamDriver.queue(dut.io.bell, cd)
  private val (frameDriver, beats) = StreamDriver.queue(dut.io.c2h, cd)
  private val (cmptDriver, cmpts) = StreamDriver.queue(dut.io.cmpt, cd)
  frameDriver.setFactor(pace)
  cmptDriver.setFactor(pace)
  StreamReadyRandomizer(dut.io.tmStatus, cd).setFactor(pace)
  StreamReadyRandomizer(dut.io.raise, cd).setFactor(pace)
  val takers = dut.io.interrupts.map(StreamReadyRandomizer(_, cd))
  takers.foreach(_.setFactor(pace))

  case class Frame(bytes: Seq[Byte], entry: BigInt, buffers: Seq[Long], error: Boolean)
  class Ring {
    var setting = QueueSetting()
    var pidx, cidx = 0 // of buffers; of completions, what was read
    val posted = mutable.Queue[Long]() // buffers that no frame has
    val frames = mutable.ArrayBuffer[Frame]() // that are to arrive, from the ring's begin on
    var arrived = 0
    val events = mutable.ArrayBuffer[RingEvent]()
    var open = true // it may write
  }
  val ring = Array.fill(p.queues)(new Ring)
  val errors = mutable.ArrayBuffer[Long]()
  val dropped, delivered = Array.fill(p.queues + 1)(0)
  val available = Array.fill(p.queues)(0) // by tm_dsc_sts
  val lost = mutable.ArrayBuffer[(Int, Boolean)]()
  val interrupted = mutable.ArrayBuffer[(Int, Int)]() // by rings of buffers: function, vector
  var stood = 0 // cycles in which a frame had to wait for its buffers, since countWaits
  var completions = 0
  private var packet = 0

  StreamMonitor(dut.io.raise, cd)(event => errors += event.leaf.toLong << 32 | event.bits.toLong)
  StreamMonitor(dut.io.tmStatus, cd) { pins =>
    assert(pins.c2h.toBoolean)
    if (pins.qinv.toBoolean) {
      lost += pins.qid.toInt -> pins.error.toBoolean
      available(pins.qid.toInt) = 0
    } else available(pins.qid.toInt) += pins.avl.toInt
  }
  StreamMonitor(dut.io.interrupts(1), cd) { interrupt =>
    val queue = interrupt.request.vector.toInt
    assert(interrupt.request.function.toInt == function(queue))
    assert(interrupt.event.queue.toInt == queue && interrupt.event.c2h.toBoolean && interrupt.ofQueue.toBoolean)
    ring(queue).events += RingEvent.Interrupt
  }
  StreamMonitor(dut.io.interrupts(0), cd) { it =>
    interrupted += it.request.function.toInt -> it.request.vector.toInt
  }
  private var room = 0 // for completions of reads of descriptors, as the engine says
  FlowMonitor(dut.io.room.asked, cd)(completions => room += completions.toInt)
  FlowMonitor(dut.io.room.ended, cd)(completions => room -= completions.toInt)
  FlowMonitor(dut.io.status, cd) { pins =>
    (if (pins.drop.toBoolean) dropped else delivered) (pins.qid.toInt) += 1
    assert(pins.last.toBoolean && pins.cmp.toBoolean != pins.drop.toBoolean && !pins.error.toBoolean)
  }
  cd.waitSampling(p.queues + 4)

  /** For an engine whose signal can be seen (C2hDut). */
  def countWaits(): Unit = cd.onSamplings(if (dut.engine.waiting.holds.toBoolean) stood += 1)

  def entries(queue: Int): Int = sizes(ring(queue).setting.size % 4) - 1
  def descriptors(queue: Int): Long = 0x100000000L + queue * 0x2000L + 8
  def completionRing(queue: Int): Long = 0x200000000L + queue * 0x10000L + 64 * queue
  def bufferSize(queue: Int): Int = buffers(ring(queue).setting.buffer % 4)
  def function(queue: Int): Int = if (queue % 3 == 0) 0 else DmaParam.firstVf + queue % 3
  private var nextBuffer = 0x40000000L

  def setMaster(function: Int, on: Boolean): Unit = masters.set(function, on)

  /** Both rings of the queue begin anew; what was sent before is forgotten. */
  def begin(queue: Int, setting: QueueSetting = QueueSetting()): Unit = {
    changeBuffers(queue, setting)
    val fresh = new Ring
    fresh.setting = setting
    ring(queue) = fresh
    changeCompletions(queue, setting)
    waitFor(cd, "the row")(dut.io.changeCompletion.valid.toBoolean && dut.io.changeCompletion.ready.toBoolean)
    cd.waitSampling(3)
  }

  /** The completion ring alone; it ends when the row has its turn. */
  def changeCompletions(queue: Int, setting: QueueSetting, isValid: Boolean = true): Unit = {
    var taken = false
    import CompletionRow._
    def at(low: Int, value: BigInt): BigInt = value << low
    val row = at(statusEnable, 1) | at(irqEnable, if (setting.irq) 1 else 0) | at(mode._1, setting.mode) |
      at(CompletionRow.function._1, this.function(queue)) | at(counter._1, setting.counter) |
      at(timer._1, setting.timer) | at(irqState._1, setting.irqState) | at(colour, 1) | at(size._1, setting.size) |
      at(base._1, BigInt(completionRing(queue) >> 6)) | at(entrySize._1, setting.entry) |
      at(valid, if (isValid) 1 else 0) |
      at(timerRunning, 1) | at(fullUpdate, if (setting.fullUpdate) 1 else 0) |
      at(noOverflowCheck, if (setting.noOverflowCheck) 1 else 0) | at(vector._1, queue)
    rows.enqueue { c =>
      c.queue #= queue
      c.row #= row
      taken = true
    }
    waitFor(cd, "the row's turn")(taken)
  }

  /** The ring of buffers alone; what it has written before has left at the end. */
  def changeBuffers(queue: Int, setting: QueueSetting, edit: RingChange => Unit = _ => ()): Unit = {
    startChange(queue, setting, edit)
    waitFor(cd, "what was late")(!dut.io.late.toBoolean)
    ring(queue).open = false
    cd.waitSampling(3)
    changePrefetch(queue, setting)
  }

  /** Until the change is taken. */
  def startChange(queue: Int, setting: QueueSetting, edit: RingChange => Unit = _ => ()): Unit = {
    var taken = false
    changes.enqueue { c =>
      c.queue #= queue
      c.pidx #= 0
      c.cidx #= 0
      Seq(c.pending, c.creditsAlone).foreach(_ #= false)
      c.credits #= 0
      c.forgets #= true
      c.context.enable #= setting.enable
      Seq(c.context.wrong, c.context.creditEnable, c.context.statusInterval, c.context.errorSent).foreach(_ #= false)
      Seq(c.context.irqEnable, c.context.irqArm, c.context.irqRequest).foreach(_ #= false)
      Seq(c.context.aggregate, c.context.noVfInterrupt).foreach(_ #= false)
      c.context.stride #= 0
      c.context.statusEnable #= true
      c.context.error #= 0
      c.context.vector #= queue
      c.context.function #= function(queue)
      c.context.size #= setting.size
      c.context.base #= descriptors(queue)
      edit(c)
      taken = true
    }
    waitFor(cd, "the change's turn")(taken)
    waitFor(cd, "the change")(dut.io.change.valid.toBoolean && dut.io.change.ready.toBoolean)
    cd.waitSampling()
  }

  def changePrefetch(queue: Int, setting: QueueSetting): Unit = {
    dut.io.prefetch.valid #= true
    dut.io.prefetch.payload.queue #= queue
    dut.io.prefetch.context.valid #= setting.prefetch
    dut.io.prefetch.context.size #= setting.buffer
    cd.waitSampling()
    dut.io.prefetch.valid #= false
    ring(queue).setting = setting
  }

  /** Buffers at any addresses. */
  def post(queue: Int, count: Int, aligned: Boolean = false, rings: Boolean = true): Unit = {
    val it = ring(queue)
    for (_ <- 0 until count) {
      val address = nextBuffer + (if (aligned) 0 else random.nextInt(4096))
      nextBuffer += 0x4000
      memory.write(descriptors(queue) + 8 * it.pidx, (0 until 8).map(i => (address >> (8 * i)).toByte))
      it.posted.enqueue(address)
      it.pidx = (it.pidx + 1) % entries(queue)
    }
    if (rings) doorbell(queue, it.pidx)
  }
  def doorbell(queue: Int, pidx: Int, arm: Boolean = false): Unit = doorbells.enqueue { d =>
    d.queue #= queue
    d.pidx #= pidx
    d.arm #= arm
  }
  def waitingDoorbells: Int = doorbells.size
  def waitingBells: Int = bells.size

  /** Software has read up to an entry. */
  def bell(queue: Int, cidx: Int, irq: Boolean = false, mode: Int = 0, counter: Int = 0, timer: Int = 0): Unit = {
    ring(queue).cidx = cidx
    bells.enqueue { b =>
      b.queue #= queue
      b.value #= cidx | counter << 16 | timer << 20 | mode << 24 | 1 << 27 | (if (irq) 1 << 28 else 0)
    }
  }

  def need(queue: Int, length: Int): Int = (length + bufferSize(queue) - 1) / bufferSize(queue)

  /** A frame of a shell that honours credits. */
  def sendCredited(queue: Int, length: Int): Unit = {
    waitFor(cd, s"credits of queue $queue")(available(queue) >= need(queue, length))
    available(queue) -= need(queue, length)
    send(queue, length)
  }

  /** Beats of frames that the engine has not taken. */
  def waitingBeats: Int = beats.size

  /** A frame of the shell's; `arrives`: it gets buffers, which have to be posted before it is settled. */
  def send(queue: Int, length: Int, arrives: Boolean = true, error: Boolean = false): Unit = {
    packet = (packet + 1) & 0xffff
    val bytes = new Array[Byte](length)
    random.nextBytes(bytes)
    val entry = (BigInt(128, random) &~ 7) | 1
    if (arrives) {
      ring(queue).frames += Frame(
        bytes.toSeq,
        entry,
        Seq.fill(need(queue, length))(ring(queue).posted.dequeue()),
        error
      )
    } else if (error) ring(queue).frames += Frame(Nil, entry, Nil, error)
    val cut = bytes.toSeq.grouped(32).toSeq
    for ((beat, i) <- cut.zipWithIndex) beats.enqueue { pins =>
      pins.tdata #= toBig(beat.padTo(32, 0.toByte))
      pins.tcrc #= 0
      pins.tlast #= (i == cut.size - 1)
      pins.mty #= 32 - beat.size
      pins.ctrl_marker #= false
      pins.ctrl_port_id #= 0
      pins.ctrl_ecc #= 0
      pins.ctrl_len #= length
      pins.ctrl_qid #= queue
      pins.ctrl_has_cmpt #= true
    }
    val number = packet
    cmpts.enqueue { pins =>
      pins.tdata #= entry
      pins.size #= 1
      pins.dpar #= 0
      pins.ctrl_qid #= queue
      pins.ctrl_cmpt_type #= 3
      pins.ctrl_wait_pld_pkt_id #= number
      Seq(pins.ctrl_marker, pins.ctrl_user_trig, pins.ctrl_no_wrb_marker).foreach(_ #= false)
      Seq(pins.ctrl_port_id, pins.ctrl_col_idx, pins.ctrl_err_idx).foreach(_ #= 0)
    }
  }

  /** A frame, and one of a beat that says another length, or another number of empty bytes. */
  def sendWrong(queue: Int, length: Int, empty: Int): Unit = {
    send(queue, 64)
    beats.enqueue { pins =>
      pins.ctrl_len #= length
      pins.tlast #= true
      pins.mty #= empty
    }
  }

  private def written(function: Int, address: Long, bytes: Seq[Byte]): Unit =
    if (address >= 0x200000000L) {
      val queue = ((address - 0x200000000L) >> 16).toInt
      assert(this.function(queue) == function)
      val it = ring(queue)
      val size = 8 << it.setting.entry
      val offset = address - completionRing(queue)
      assert(offset % size == 0 || offset == size.toLong * entries(queue))
      if (offset == size.toLong * entries(queue)) {
        val word = memory.word(address)
        val status = RingEvent.Status(
          (word & 0xffff).toInt,
          (word >> 16 & 0xffff).toInt,
          (word >> 32 & 1).toInt,
          (word >> 33 & 3).toInt,
          (word >> 35 & 3).toInt
        )
        assert(bytes.size == 8 && status.pidx == it.arrived % entries(queue), s"queue $queue: $status")
        it.events += status
      } else {
        assert(offset / size == it.arrived % entries(queue), s"queue $queue: an entry in another's place")
        val frame = it.frames(it.arrived)
        val colour = if (it.arrived / entries(queue) % 2 == 0) 1 else 0
        val wanted = (frame.entry & ((BigInt(1) << (64 min 8 * size) * (if (size == 8) 1 else 2)) - 1)) | colour << 1 |
          (if (frame.error) 4 else 0)
        assert(
          toBig(bytes) == wanted && bytes.size == size,
          s"queue $queue: an entry is not its frame's, ${dropped.sum} were dropped"
        )
        val found = frame.buffers.zipWithIndex.flatMap { case (at, i) =>
          memory.read(at, (frame.bytes.size - i * bufferSize(queue)) min bufferSize(queue))
        }
        assert(found == frame.bytes, s"queue $queue: a completion is ahead of its payload")
        it.arrived += 1
        completions += 1
        it.events += RingEvent.Entry
      }
    } else {
      val queue = (0 until p.queues).find { q =>
        ring(q).open && ring(q).frames.exists(
          _.buffers.exists(b => address >= b && address + bytes.size <= b + bufferSize(q))
        )
      }
      assert(queue.exists(q => this.function(q) == function), s"function $function writes where no buffer is: $address")
    }

  /** All frames that are to arrive have. */
  def settle(queue: Int): Unit =
    waitFor(cd, s"the completions of queue $queue")(ring(queue).arrived == ring(queue).frames.size)

  /** Doorbells have been taken, and nothing is under way for some cycles. */
  def idle(): Unit = {
    waitFor(cd, "doorbells")(doorbells.isEmpty && bells.isEmpty)
    var quiet = 0
    waitFor(cd, "quiet") {
      quiet = if (host.open.isEmpty && dut.io.idle.toBoolean) quiet + 1 else 0
      quiet > 40
    }
    // The next read has its room already.
    assert(room == CompletionRoom.ofBufferRead, "room for completions is lost, or given back twice")
  }

  def status(queue: Int): RingEvent.Status = ring(queue).events.collect { case s: RingEvent.Status => s }.last
}
