// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.filter.mactable._
import spinal.core.sim._

/** MAC table commands, groups, buffer sizes, and the ports' default functions. */
class FilterRegsTest extends RegsSuite {
  run("commands of the filter and ports reach it, and its answers are read", 3) { s =>
    import s._
    bar2.write(0x110000, BigInt("44332211", 16))
    bar2.write(0x110004, BigInt("6655", 16))
    bar2.write(0x110008, 1 << 16 | 1 << 15 | 0x123)
    bar2.write(0x11000c, 1 << 8 | 9)
    bar2.write(0x110010, 1)
    assert(bar2.read(0x110014) == 1)
    bar2.write(0x110000, 0)
    bar2.write(0x110010, 2) // one is under way: ignored
    assert(bar2.read(0x110018) == 1)
    assert(dut.macCommand.valid.toBoolean)
    assert(dut.macCommand.query.address.toBigInt == BigInt("665544332211", 16))
    assert(dut.macCommand.query.port.toInt == 1 && dut.macCommand.query.vid.toInt == 0x123)
    assert(dut.macCommand.anyVlan.toBoolean)
    assert(dut.macCommand.value.isGroup.toBoolean && dut.macCommand.value.index.toInt == 9)
    assert(dut.macCommand.operation.toEnum == meridian.filter.mactable.MacOperation.remove)
    dut.macCommand.ready #= true
    dut.hostClock.waitSampling(2)
    assert(!dut.macCommand.valid.toBoolean)
    dut.macAnswer.valid #= true
    dut.macAnswer.status #= meridian.filter.mactable.MacStatus.notFound
    dut.macAnswer.value.index #= 0x42
    dut.macAnswer.value.isGroup #= false
    dut.hostClock.waitSampling()
    dut.macAnswer.valid #= false
    assert(bar2.read(0x110014) == (2 << 4 | 0x42 << 8))
    bar2.write(0x110010, 3)
    assert(bar2.read(0x110018) == 2)

    assert(group.size == 16 * 8 && group.values.forall(_ == 0))
    bar2.write(0x110020, 3 << 16 | 13)
    bar2.write(0x110024, BigInt("80000001", 16))
    bar2.write(0x110020, 2 << 16 | 13)
    assert(bar2.read(0x110024) == 0)
    bar2.write(0x110020, 3 << 16 | 13)
    assert(bar2.read(0x110024) == BigInt("80000001", 16))
    assert(group((13, 3)) == BigInt("80000001", 16) && group.values.count(_ != 0) == 1)

    var sizes = List[(Int, Int)]()
    dut.hostClock.onSamplings {
      if (dut.bufferSize.valid.toBoolean) sizes :+= ((dut.bufferSize.queue.toInt, dut.bufferSize.bytes.toInt))
    }
    bar2.write(0x110034, 200 << 16 | 4096)
    bar2.write(0x110034, 201 << 16 | 2048)
    assert(sizes == List((200, 4096), (201, 2048)))
    // What a reset takes from its function has no size any more, whatever is written meanwhile.
    sizes = Nil
    val released = Seq.fill(200)(random.nextInt(256))
    val written = fork {
      for (i <- 0 until 60) bar2.write(0x110034, 256 + i << 16 | 1000 + i)
    }
    for (queue <- released) {
      dut.released.valid #= true
      dut.released.payload #= queue
      dut.hostClock.waitSampling()
      dut.released.valid #= false
      if (random.nextBoolean()) dut.hostClock.waitSampling(random.nextInt(12))
    }
    written.join()
    dut.hostClock.waitSampling(4)
    assert(sizes.filter(_._1 < 256) == released.map((_, 0)))
    assert(sizes.filter(_._1 >= 256) == (0 until 60).map(i => (256 + i, 1000 + i)))
    bar2.write(0x110030, 1)
    assert(dut.enforce.toBoolean)

    bar2.write(0x111010, BigInt("80000007", 16))
    assert(dut.ports(1).defaultValid.toBoolean && dut.ports(1).defaultFunction.toInt == 7)
    assert(!dut.ports(0).defaultValid.toBoolean)
    assert(bar2.read(0x111014) == 1)
  }

  run("the key of the hash goes to the table word by word, and is read by nobody", 3) { s =>
    import s._
    var words = List[(Int, BigInt, Boolean)]()
    dut.hostClock.onSamplings {
      val key = dut.hashKey
      if (key.word.valid.toBoolean) words :+= ((key.word.word.toInt, key.word.data.toBigInt, key.start.toBoolean))
      assert(key.word.valid.toBoolean || !key.start.toBoolean)
    }
    val written = for (_ <- 0 until 20) yield {
      val (word, data) = (random.nextInt(3), BigInt(32, random))
      bar2.write(0x110040 + 4 * word, data)
      assert((0 until 3).forall(i => bar2.read(0x110040 + 4 * i) == 0))
      (word, data, word == 2)
    }
    assert(words == written)
    // A VF has its own page at every address.
    for (word <- 0 until 3) bar2.writeFull(0x110040 + 4 * word, 1, function = 4)
    dut.hostClock.waitSampling(10)
    assert(words == written)

    assert(bar2.read(0x11004c) == 0 && bar2.read(0x110050) == 0)
    for ((drawing, drawn) <- Seq((true, false), (true, true), (false, true))) {
      dut.hashKey.drawing #= drawing
      dut.hashKey.drawn #= drawn
      assert(bar2.read(0x11004c) == (if (drawing) 1 else 0) + (if (drawn) 2 else 0))
    }
    dut.hashKey.refused #= true
    dut.hostClock.waitSampling(3)
    dut.hashKey.refused #= false
    dut.hostClock.waitSampling()
    assert(bar2.read(0x110050) == 3)
  }
}
