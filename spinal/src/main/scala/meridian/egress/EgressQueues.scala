// SPDX-License-Identifier: Apache-2.0
package meridian.egress

import meridian.ShellParam
import meridian.frame._
import meridian.meta.HostTxMeta
import spinal.core._
import spinal.lib._

/** The transmit queues of a port for frames of the host, one a class: in the place of the port's buffer.
  *
  * [[EgressAdmission]] decides what is stored, a [[PacketBuffer]] a class stores it and crosses to the clock of the MAC,
  * and [[meridian.mac.MacTx]] chooses whose frame goes next, the upper class first.
  *
  * A class has memory for EgressClass.pacedBytes beside what others may have there. The pacer lets paced frames of so many
  * bytes be on their way, so none of them finds its class full, unless frames grow suddenly: then it waits.
  *
  * Latency, last beat taken to first beat offered: that of PacketBuffer, 4 macTx cycles and the phase of the clocks.
  * Throughput: one beat a cycle at host, and at each of classes. host.ready is low for a paced frame without room only.
  *
  * Either side may be reset alone, as PacketBuffer tells.
  */
class EgressQueues(p: ShellParam, val hostCd: ClockDomain, val macTxCd: ClockDomain) extends Component {
  val io = new Bundle {

    /** Host clock. */
    val host = slave(FrameStream(p.hostBytes, HardType(HostTxMeta(p))))
    val paced = out(p.txBeatsType()) // beats of paced frames in all classes; stays at its highest value
    val lost = out Bits (EgressClass.count bits) // see EgressAdmission

    /** MacTx clock, by class. */
    val classes = Vec(master(FrameStream(p.hostBytes, HardType(new NoData))), EgressClass.count)
    val idle = out Bool ()
  }
  val words = EgressClass.bytes(p) / p.hostBytes
  val buffers = List.fill(EgressClass.count)(
    // The shortest frames have a word, so descriptors never run out before words.
    new PacketBuffer(
      p.hostBytes,
      EgressClass.bytes(p),
      HardType(Bool()),
      words,
      hostCd,
      macTxCd,
      marks = Seq((paced: Bool) => paced)
    )
  )

  val host = hostCd on new Area {
    val admission = new EgressAdmission(p)
    admission.io.input << io.host
    io.lost := admission.io.lost
    val most = EgressClass.unpacedBytes(p) / p.hostBytes - EgressClass.slackWords
    for ((store, buffer) <- admission.io.stores.zip(buffers)) {
      buffer.io.push << store.push
      buffer.io.drop := store.drop
      buffer.io.abort := store.abort
      store.up := buffer.io.up
      // Occupancy may be less than what is marked, for a moment.
      store.full := RegNext(buffer.io.occupancy >= (buffer.io.marked.head +^ most)) init False
    }
    val marked = RegNext(buffers.map(_.io.marked.head).reduce(_ +^ _))
    io.paced := marked.sat(widthOf(marked) - widthOf(io.paced))
  }

  for ((to, buffer) <- io.classes.zip(buffers)) {
    to.arbitrationFrom(buffer.io.pop)
    to.data := buffer.io.pop.data
    to.mty := buffer.io.pop.mty
    to.last := buffer.io.pop.last
  }
  io.idle := buffers.map(_.io.idle).andR
}
