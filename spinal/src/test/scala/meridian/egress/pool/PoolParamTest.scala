// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.ShellParam
import org.scalatest.funsuite.AnyFunSuite

class PoolParamTest extends AnyFunSuite {

  for (ports <- 1 to 4; bytes <- Seq(32, 64))
    test(s"$ports ports with beats of $bytes bytes have their reserves, and share as much") {
      val p = ShellParam(ports = ports, hostBytes = bytes, lineRate = if (ports * 16 > bytes) 10 else 25)
      val e = PoolParam.ofShell(p)
      // 20 KiB in frames of 60 bytes, of which each has a cell, and the largest frame behind them.
      assert(e.reserve >= 320 + e.frameCells + e.slack, s"a port has a reserve of ${e.reserve} cells")
      assert(e.cells == ports * (e.reserve + e.classes * e.minimum) + e.shared + e.slack)
      assert(e.shared >= e.cells / 4, s"${e.shared} cells are shared of ${e.cells}")
    }

  test("reserves that the memory does not hold are refused") {
    val error =
      intercept[IllegalArgumentException](PoolParam.ofShell(ShellParam(ports = 4, hostBytes = 64), Some(256 * 1024)))
    assert(error.getMessage.contains("hold less than the reserves"))
    val narrow = intercept[IllegalArgumentException](PoolParam.ofShell(ShellParam(ports = 4)))
    assert(narrow.getMessage.contains("choose host-bytes 64"))
    intercept[IllegalArgumentException](PoolParam(4, 32, 256, 256, 8, 8, reserve = 64, minimum = 1, maxFrame = 1600))
  }
}
