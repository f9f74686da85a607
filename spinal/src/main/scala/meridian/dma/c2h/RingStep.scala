// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.descriptor._
import spinal.core._
import spinal.lib._

/** What may happen to a ring of buffers. */
object BufferEvent extends SpinalEnum {
  val hold, change, arrival, doorbell, notice, turn, frame = newElement()
}

/** What an event makes of its ring, and what is to be done. */
case class RingOutcome() extends Bundle {
  val ring = C2hRing()
  val writes = Bool() // ring is another
  val changes = Bool() // the ring begins anew: its epoch is the next one
  val report = BufferReport()
  val interrupt = Bool() // the ring owes the host one
  val isVain = Bool() // the turn had nothing to read, and needs no other
  val isHeld = Bool() // it may not read yet, and needs another
  val reads = Bool() // descriptors
  val gives, drops = Bool() // the frame gets its next buffer, or is dropped
  val failed = Bool() // with drops: because of a bad descriptor
  val starves = Bool() // the frame waits
  val wakes = Bool() // a frame of this ring that waits is looked at again
}

/** Decides what an event of a ring does. */
class RingStep extends Component {
  val io = new Bundle {
    val event = in(BufferEvent())
    val ring = in(C2hRing())
    val entries = in UInt (16 bits) // without the status entry
    val measured = in(RingMeasured())
    val change = in(RingChange())
    val arrival = in(CacheArrival())
    val doorbell = slave(Flow(RingDoorbell())) // one that is taken back before has no effect
    val mayRead = in Bool () // the ring's function
    val ofWhole = in Bool () // the list of the turn
    val lastBuffer = in Bool () // the one that the frame gets next
    val mayWait = in Bool () // a frame
    val outcome = out(RingOutcome())
  }

  val ring = io.ring
  val measured = io.measured
  val does = RingOutcome()
  io.outcome := does
  val next = does.ring
  val report = does.report
  next.allowOverride()
  next := ring
  Seq(does.writes, does.changes, does.interrupt, does.reads, does.gives, does.drops).foreach(_ := False)
  Seq(does.failed, does.starves, does.wakes, does.isVain, does.isHeld).foreach(_ := False)
  Seq(report.message, report.error, report.streamError, report.invalid, report.failed).foreach(_ := False)
  report.added := 0
  report.errorBits := 0
  report.streamBits := 0
  report.newPidx := ring.pidx

  val isRung = RegNext(io.doorbell.valid)

  private def sendInterrupt(): Unit = {
    next.context.irqArm := False
    next.context.irqRequest := False
    does.interrupt := !(ring.context.noVfInterrupt && ring.context.function >= DmaParam.firstVf)
  }

  /** Tells the shell of descriptors. */
  private def tell(count: UInt): Unit = {
    report.message := True
    report.added := count.resized
  }

  // The queue is stopped. If its descriptors cannot be had, the next frame gets a completion that says so.
  val isBadArrival, isBadBell, isBadFrame = False

  /** Drops the frame of a ring that goes on: the buffers that it was sent for are the shell's again. */
  private def giveBack(): Unit = {
    does.drops := True
    when(ring.cached =/= 0)(tell(measured.isWhole ? measured.need | ring.cached.resized))
  }

  switch(io.event) {
    is(BufferEvent.change) {
      does.writes := True
      does.changes := True
      does.wakes := True
      next := ring.begun(io.change)
      report.message := ring.told
      report.invalid := True
    }
    is(BufferEvent.arrival) {
      when(measured.isAsked && ring.context.enable) {
        does.wakes := True
        isBadArrival := io.arrival.failed
        when(!io.arrival.failed) {
          does.writes := True
          next := ring.come(io.arrival.count, measured.usable)
          when(measured.usable =/= 0)(tell(measured.usable))
        }
      }
    }
    is(BufferEvent.doorbell) {
      report.newPidx := io.doorbell.pidx
      when(ring.context.enable && isRung) {
        does.writes := True
        does.wakes := True
        isBadBell := measured.refused
        when(!measured.refused) {
          next.pidx := io.doorbell.pidx
          when(measured.added =/= 0) {
            next.pending := True
            next.starved := False
          }
          when(io.doorbell.arm) {
            next.context.irqArm := True
            when(ring.context.irqRequest && ring.context.irqEnable)(sendInterrupt())
          }
        }
      }
    }
    is(BufferEvent.turn) {
      does.writes := True
      does.isVain := measured.fetches === 0
      does.isHeld := measured.fetches =/= 0 && !io.mayRead
      when(measured.fetches =/= 0 && ring.context.enable && io.mayRead) {
        does.reads := True
        next := ring.asked(measured.fetches, io.entries)
      }
      when(io.ofWhole)(next.inWhole := False) otherwise (next.inPart := False)
    }
    is(BufferEvent.frame) {
      when(!measured.mayGet) {
        does.drops := True
        when(ring.owes && measured.isThere) {
          does.failed := True
          does.writes := True
          next.owes := False
        }
      }
      when(measured.hasNone)(giveBack())
      when(measured.isLong) {
        giveBack()
        report.streamError := True
        report.streamBits := 1 << ErrorTree.descriptorCount
      }
      when(measured.fits) {
        does.gives := True
        when(io.lastBuffer) {
          does.writes := True
          next := ring.used(measured.need, measured.nextCidx)
        }
      }
      when(measured.isShort) {
        when(measured.isStuck) {
          // Its descriptors cannot be fetched, though they were posted: the table of ring sizes is another.
          does.wakes := True
          isBadFrame := True
        } elsewhen (io.mayWait && !ring.starved) {
          does.starves := True
        } otherwise {
          giveBack()
          does.writes := True
          next.starved := True
        }
      }
    }
  }

  when(isBadArrival || isBadBell || isBadFrame) {
    does.writes := True
    next.context.error(0) := True
    next.context.enable := False
    next.told := False
    when(!ring.context.errorSent) {
      next.context.errorSent := True
      when(ring.context.irqEnable) {
        when(ring.context.irqArm)(sendInterrupt()) otherwise (next.context.irqRequest := True)
      }
    }
    Seq(report.error, report.message, report.invalid, report.failed).foreach(_ := True)
    report.errorBits := isBadArrival ? B((1 << 21) | (1 << 2), 32 bits) | B(1 << 4, 32 bits)
    when(!isBadBell) {
      report.streamError := True
      report.streamBits := 1 << ErrorTree.descriptorResponse
      next.owes := True
    }
  }
}
