// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.{LongTest, Pdr}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The lists of a port with the links of cells, as the pool joins them: any frames of one cell are appended, of cells that
  * are nowhere, and the heads of any lists are read and leave.
  */
class FrameListsProof extends Component {
  val e = PoolParam(1, 2, 4, 4, classes = 2, groups = 2, reserve = 1, minimum = 0, maxFrame = 4, ahead = 1, slack = 0)
  val lists = FormalDut(new FrameLists(e))
  val links = FormalDut(new CellLinks(e))
  assumeInitial(ClockDomain.current.isResetActive)
  val append = lists.io.append
  anyseq(append.valid)
  anyseq(append.payload)
  assume(append.first === append.last)
  links.io.write.valid := lists.io.link
  links.io.write.payload := append.first
  links.io.cell := lists.io.linkCell

  // The reader: asks for the head's link, looks at it in the next cycle, and ends in the one after.
  val begins = anyseq(Bool())
  val wanted = anyseq(e.listType())
  val asks, looks, ends = RegInit(False)
  val list = Reg(e.listType()) init 0
  val cell = Reg(e.cellType())
  val starts = begins && !asks && !looks && !ends && lists.io.some(wanted)
  asks := starts
  when(starts)(list := wanted)
  looks := asks
  ends := looks
  lists.io.list := list
  links.io.ask.valid := asks
  links.io.ask.payload := lists.io.head
  when(asks)(cell := lists.io.head)
  lists.io.done := ends
  lists.io.last := cell
  lists.io.next := RegNext(links.io.link)

  // Cells that are in a list; none is appended again before it has left.
  val listed = Reg(Bits(e.cells bits)) init 0
  assume(!append.valid || !listed(append.first))
  when(ends)(listed(cell) := False)
  when(append.valid)(listed(append.first) := True)
  when(asks)(assert(listed(lists.io.head), "the head of a list is a cell that is in none"))

  // Any frame of any list is followed, with the one behind it.
  val mine = anyconst(e.listType())
  val follow = anyseq(Bool())
  val followed, behind = RegInit(False)
  val frame, next = Reg(e.cellType())
  val comes = append.valid && append.list === mine
  when(comes) {
    when(!followed && follow) {
      followed := True
      frame := append.first
    } elsewhen (followed && !behind) {
      behind := True
      next := append.first
    }
  }
  val leaves = ends && list === mine && followed && cell === frame
  val left = RegInit(False) setWhen leaves
  val leftNow = RegNext(leaves) init False
  assume(!(comes && left)) // what comes then is not followed
  when(followed && !left)(assert(lists.io.some(mine), "a list that has a frame is empty"))
  when(leftNow) {
    assert(lists.io.some(mine) === behind, "a list is not what it has")
  }
  val asksMine = asks && list === mine
  when(left && behind && asksMine && RegNextWhen(True, leaves, False) && !RegNextWhen(True, asksMine && left, False)) {
    assert(lists.io.head === next, "the next of a frame is another")
  }
  cover(leaves && behind)
  cover(leaves && comes)
}

class FrameListsFormal extends AnyFunSuite {
  test("frames leave a list in the order in which they came, and none is lost, in the first 12 cycles") {
    Pdr.bounded(new FrameListsProof, 12, reduce = true)
  }
  test("the proof notices a link that is read in the cycle in which it is written", LongTest) {
    Pdr.catches(new FrameListsProof, "(late ? ", "(1'b0 ? ", cycles = 12)
  }
}
