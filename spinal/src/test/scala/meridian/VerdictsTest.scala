// SPDX-License-Identifier: Apache-2.0
package meridian

import org.apache.commons.io.FileUtils
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._

import java.nio.file.{Files, Path}

/** It counts to a limit, and is said to stay below another, and to reach a third. */
class CountsTo(limit: Int, bound: Int, aim: Int = 3) extends Component {
  val count = Reg(UInt(4 bits)) init 0
  when(count =/= limit)(count := count + 1)
  assumeInitial(ClockDomain.current.isResetActive)
  assert(count < bound)
  cover(count === aim)
}

class VerdictsTest extends AnyFunSuite with BeforeAndAfterAll {
  private val folder = Files.createTempDirectory("verdicts")
  private val verdicts = new Verdicts(Some(folder), "yosys 1")
  override def afterAll(): Unit = FileUtils.deleteDirectory(folder.toFile)

  private def known = folder.toFile.list.length

  test("an answer is known for the same Verilog, engine and tools, and for no other") {
    verdicts.keep("assert(a); // A.scala:1", "pdr", "proved")
    assert(verdicts.know("assert(a); // A.scala:7", "pdr", "proved"))
    assert(new Verdicts(Some(folder), "yosys 1").know("assert(a); // A.scala:1", "pdr", "proved"))
    assert(!verdicts.know("assert(a); // A.scala:1", "pdr", "reached"))
    assert(!verdicts.know("assert(b); // A.scala:1", "pdr", "proved"))
    assert(!verdicts.know("assert(a); // A.scala:1", "bmc3", "proved"))
    assert(!new Verdicts(Some(folder), "yosys 2").know("assert(a); // A.scala:1", "pdr", "proved"))
  }

  test("what stands behind // in a string counts") {
    verdicts.keep("(url = \"https://a\")", "pdr", "proved")
    assert(!verdicts.know("(url = \"https://b\")", "pdr", "proved"))
  }

  test("without a folder, or with one that cannot be written, nothing is kept") {
    for (place <- Seq(None, Some(Path.of("/dev/null/proofs")))) {
      val none = new Verdicts(place, "yosys 1")
      none.keep("assert(a);", "pdr", "proved")
      assert(!none.know("assert(a);", "pdr", "proved"))
    }
  }

  test("memories that are read from files are refused") {
    assertThrows[IllegalArgumentException](verdicts.keep("$readmemb(\"a.bin\", ram);", "pdr", "proved"))
  }

  test("PDR: what holds is kept, and hides nothing that fails") {
    val pdr = new Pdr(verdicts)
    val before = known
    for (_ <- 0 until 2) {
      pdr.prove(new CountsTo(limit = 9, bound = 10))
      assertThrows[AssertionError](pdr.prove(new CountsTo(limit = 10, bound = 10)))
      assertThrows[AssertionError](pdr.bounded(new CountsTo(limit = 9, bound = 10, aim = 11), cycles = 20))
      pdr.bounded(new CountsTo(limit = 9, bound = 9), cycles = 7)
      assertThrows[AssertionError](pdr.bounded(new CountsTo(limit = 9, bound = 9), cycles = 20))
      assert(known == before + 5, "asserts and cover of the two that hold, and the assert beside a cover that does not")
    }
  }

  test("SymbiYosys: what holds is kept, and hides nothing that fails") {
    def proof = new SymbiYosys(verdicts).addEngin(SmtBmc(solver = SmtBmcSolver.Z3))
    val before = known
    for (_ <- 0 until 2) {
      proof.withBMC(12).doVerify(new CountsTo(limit = 9, bound = 10))
      proof.withBMC(5).doVerify(new CountsTo(limit = 9, bound = 9))
      val error = intercept[Exception](proof.withBMC(12).doVerify(new CountsTo(limit = 9, bound = 9)))
      assert(error.getMessage.contains("SymbiYosys failure"), error)
      assert(known == before + 2)
    }
  }
}
