// SPDX-License-Identifier: Apache-2.0
package meridian.dma.context

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

/** A ring in its software's context, of each direction. */
class RingFieldsDut extends Component {
  val software = in Bits (256 bits)
  val wrong = out Bits (2 bits)
  val function = out UInt (8 bits)
  val tellsHost = out Bits (2 bits) // by a status entry, by an interrupt although it is a VF's
  function := RingFields.context(software).function
  tellsHost := !RingFields.context(software).noVfInterrupt ## RingFields.context(software).statusEnable
  wrong := RingFields.context(software, c2h = true).wrong ## RingFields.context(software).wrong
}

class RingFieldsTest extends AnyFunSuite {
  test("a ring is wrong if its descriptors have another size than its direction has") {
    SimConfig.compile(new RingFieldsDut).doSim("sizes", 1) { dut =>
      def wrong(fields: (Int, Long)*): (Boolean, Boolean) = {
        dut.software #= fields.map { case (low, value) => BigInt(value) << low }.foldLeft(BigInt(0))(_ | _)
        sleep(1)
        ((dut.wrong.toInt & 1) == 1, (dut.wrong.toInt & 2) == 2) // H2C, C2H
      }
      // 8, 16, 32 and 64 bytes.
      assert(wrong(48 -> 0) == ((true, false)))
      for (size <- 1 to 3) assert(wrong(48 -> size) == ((false, true)))
      // Memory mapped, bypass, a base that is no multiple of 8, a function that is not there.
      for (size <- 0 to 1; field <- Seq(63 -> 1L, 50 -> 1L, 64 -> 4L, 25 -> 1L))
        assert(wrong(48 -> size, field) == ((true, true)), s"$field")
    }
  }

  test("a ring of a function above 255 is no other function's, and tells the host nothing") {
    SimConfig.compile(new RingFieldsDut).doSim("functions", 1) { dut =>
      for (function <- Seq(0, 4, 255, 256, 260, 4095)) {
        dut.software #= (BigInt(function) << 17) | (BigInt(1) << 48) | (BigInt(1) << 52) // 16 bytes, status entries
        sleep(1)
        val isThere = function < 256
        assert(dut.function.toInt == (if (isThere) function else 255), function)
        assert(dut.tellsHost.toInt == (if (isThere) 3 else 0), function)
      }
    }
  }
}
