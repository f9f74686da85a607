// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.{Pdr, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** Any frames, whole or not, and any requests. Of segments their bytes are followed, and not what these are. */
class SegmenterProof extends Component {
  val p = ShellParam(queues = 16, segmentation = true)
  val dut = FormalDut(new Segmenter(p))
  assumeInitial(ClockDomain.current.isResetActive)
  val io = dut.io
  anyseq(io.h2c.valid)
  anyseq(io.h2c.payload)
  anyseq(io.frames.ready)
  anyseq(io.flush)
  // The stream keeps its rules, and so does the block before.
  when(pastValidAfterReset() && past(io.h2c.isStall)) {
    assume(io.h2c.valid && stable(io.h2c.payload.asBits))
  }
  when(!io.h2c.last)(assume(io.h2c.mty === 0))
  assume(!io.h2c.meta.more)

  val segment = dut.segment
  val (mine, left, rest) = (segment.mine.pull(), segment.left.pull(), segment.rest.pull())
  val (count, most) = (segment.count.pull(), dut.most.pull())
  val isLast = segment.isLast.pull()
  val headerBytes = dut.header.bytes.pull()
  val payload = dut.header.payload.pull()
  val make = dut.make.pull()
  val cuts = dut.control.isActive(dut.control.cut).pull()
  val plans = dut.control.isActive(dut.control.plan).pull()
  val begins = dut.control.isActive(dut.control.begin).pull()
  val refuses = dut.control.isActive(dut.control.refuse).pull()

  // Payload of the beats before, and of the segments before.
  val sent = Reg(UInt(13 bits)) init 0
  val before = Reg(UInt(17 bits)) init 0
  val bytes = Reg(UInt(14 bits)) init 0 // of the frame at the output
  val wide = p.hostBytes - make.mty
  when(make.fire && cuts) {
    sent := sent + count
    bytes := bytes + p.hostBytes
    when(make.last) {
      sent := 0
      bytes := 0
      before := isLast ? U(0, 17 bits) | (before + mine)
      when(!make.more)(before := 0)
    }
  }
  when(cuts) {
    assert(sent +^ count +^ left === mine.resize(15), "payload is lost or made up")
    assert(mine <= most.resize(13) && mine > 0, "a segment has more than was asked for, or nothing")
    assert(isLast || mine === most.resize(13), "a segment before the last has less than was asked for")
    assert(before +^ rest === payload.asUInt.resize(18), "the segments are not the payload")
    assert(isLast === (rest <= most), "the last segment is not the last")
    when(make.fire && make.last && !make.error) {
      assert(
        bytes +^ wide === (headerBytes +^ mine).resize(15),
        "a segment has more bytes than headers and payload, or fewer"
      )
      assert(isLast || make.more, "segments end before their last one")
    }
    when(isLast)(assert(mine === rest.resize(13)))
  } elsewhen (plans) {
    assert(sent === 0 && bytes === 0)
  }
  when(begins || plans)(assert(sent === 0 && bytes === 0 && before +^ rest === payload.asUInt.resize(18) && rest > 0))
  when(plans) {
    assert(mine <= most.resize(13) && mine > 0 && isLast === (rest <= most))
    assert(isLast ? (mine === rest.resize(13)) | (mine === most.resize(13)))
  }
  when(!cuts && !plans && !begins)(assert(sent === 0 && before === 0 && bytes === 0))

  // While both sides are willing, something moves.
  val still = Reg(UInt(4 bits)) init 0
  when(io.h2c.fire || io.frames.fire || !io.h2c.valid || !io.frames.ready)(still := 0) otherwise (still := still + 1)
  assert(still < 10, "nothing moves")

  cover(make.fire && make.last && make.more && cuts)
  cover(make.fire && make.last && !make.more && cuts && before =/= 0 && !make.error)
  cover(make.fire && make.error && make.last && make.more)
}

class SegmenterFormal extends AnyFunSuite {
  test("segments are headers and all of the payload, and nothing waits for ever, in 34 cycles") {
    Pdr.bounded(new SegmenterProof, cycles = 34)
  }
}
