// SPDX-License-Identifier: Apache-2.0
package meridian

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._

import java.nio.file.Files

/** It counts to a limit, and is said to stay below another. */
class CountsTo(limit: Int, bound: Int) extends Component {
  val count = Reg(UInt(4 bits)) init 0
  when(count =/= limit)(count := count + 1)
  assumeInitial(ClockDomain.current.isResetActive)
  assert(count < bound)
}

class VerdictsTest extends AnyFunSuite {
  private val folder = Files.createTempDirectory("verdicts")
  private val verdicts = new Verdicts(Some(folder), "yosys 1")

  test("an answer is found for the same Verilog, engine and tools, and for no other") {
    verdicts.keep("assert(a); // A.scala:1", "pdr", "proved")
    assert(verdicts.find("assert(a); // A.scala:7", "pdr").contains("proved"))
    assert(new Verdicts(Some(folder), "yosys 1").find("assert(a); // A.scala:1", "pdr").contains("proved"))
    assert(verdicts.find("assert(b); // A.scala:1", "pdr").isEmpty)
    assert(verdicts.find("assert(a); // A.scala:1", "bmc3").isEmpty)
    assert(new Verdicts(Some(folder), "yosys 2").find("assert(a); // A.scala:1", "pdr").isEmpty)
  }

  test("without a folder nothing is kept") {
    val none = new Verdicts(None, "yosys 1")
    none.keep("assert(a);", "pdr", "proved")
    assert(none.find("assert(a);", "pdr").isEmpty)
  }

  test("a proof that holds does not hide one that fails, by either tool and however often they are tried") {
    for (_ <- 0 until 2) {
      Pdr.prove(new CountsTo(limit = 9, bound = 10))
      assertThrows[AssertionError](Pdr.prove(new CountsTo(limit = 10, bound = 10)))
      Proof().withProve(12).doVerify(new CountsTo(limit = 9, bound = 10))
      assertThrows[Exception](Proof().withProve(12).doVerify(new CountsTo(limit = 10, bound = 10)))
    }
  }
}
