// SPDX-License-Identifier: Apache-2.0
package meridian.filter.copies

import meridian.ShellParam
import meridian.promise.Promise
import spinal.core._
import spinal.lib._

/** Turns frames for a list of functions into one request a function, lowest function first, `last` on the last. The
  * function that sent the frame, if one did, is left out.
  *
  * A request a cycle within a frame; about 6 cycles from a job to its first request, and of a list as the flags are
  * then. A list that is empty by then makes one request with `some` low. Jobs wait while the requests do.
  */
class CopyIterator(p: ShellParam) extends Component {
  val io = new Bundle {
    val job = slave(Stream(CopyJob(p)))
    val list = master(ListLookup(p))
    val request = master(Stream(CopyRequest(p)))
  }

  // The list of the next job is fetched while the current one is worked off.
  val fetch = new Area {
    val asked, valid = RegInit(False)
    val list = Reg(Bits(p.functions bits))
    // Still since the question was asked, so it may take a cycle of its own.
    val oneHot = UIntToOh(io.job.source.function, 1 << p.functionBits).take(p.functions)
    val sender = RegNext(oneHot.andMask(io.job.source.isFunction))
    io.list.query.valid := io.job.valid && !asked && !valid
    io.list.query.payload := io.job.list
    val answered = Delay(io.list.query.valid, FunctionList.latency, init = False)
    asked.setWhen(io.list.query.valid).clearWhen(answered)
    when(answered) {
      valid := True
      list := io.list.list & ~sender
    }
    private val named = io.job.list.asBits ## io.job.source.asBits
    private val kept = io.job.valid && named === RegNext(named)
    Promise(!RegNext(io.job.isStall, False) || kept, "a job changes after its list was asked for")
  }

  // Two levels, so that no priority choice spans more than 16 bits.
  val parts = (p.functions + 15) / 16
  val job = Reg(CopyJob(p))
  val upper = new Area {
    val valid = RegInit(False)
    val words = Vec(Reg(Bits(16 bits)), parts)
    val left = Reg(Bits(parts bits))
    val first = OHMasking.first(left)
    val others = left & ~first
    val take = Bool()
    when(take) {
      left := others
      valid := others.orR
    }
  }
  val lower = new Area {
    val valid = RegInit(False)
    val bits = Reg(Bits(16 bits))
    val part = Reg(UInt(log2Up(parts) bits))
    val lastPart = Reg(Bool())
    val first = OHMasking.first(bits)
    val others = bits & ~first
    val request = Stream(CopyRequest(p))
    request.valid := valid
    request.some := bits.orR
    request.last := lastPart && !others.orR
    request.function := (part @@ OHToUInt(first)).resized
    request.port := job.list.port
    request.length := job.length
    request.vlan := job.vlan
    request.hashInput := job.hashInput
    val done = request.fire && !others.orR
    when(request.fire)(bits := others)
    when(done)(valid := False)
    upper.take := upper.valid && (!valid || done)
    when(upper.take) {
      valid := True
      bits := OHMux.or(upper.first, upper.words, bypassIfSingle = true)
      part := OHToUInt(upper.first)
      lastPart := !upper.others.orR
    }
  }
  val load = fetch.valid && !upper.valid && !lower.valid
  io.job.ready := load
  when(load) {
    fetch.valid := False
    job := io.job.payload
    upper.valid := True
    val words = fetch.list.resize(16 * parts).subdivideIn(16 bits)
    upper.words := words
    upper.left := Cat(words.map(_.orR))
  }
  io.request << lower.request.m2sPipe()
}
