// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "shell/axil.hpp"
#include "shell/ps_memory.hpp"

namespace meridian {
namespace {

struct MemoryBench {
  std::uint64_t awaddr = 0, wdata = 0, araddr = 0, rdata = 0;
  std::uint8_t awid = 0, awlen = 0, awsize = 3, awburst = 1, awvalid = 0, awready = 0;
  std::uint8_t wstrb = 0xff, wlast = 0, wvalid = 0, wready = 0, bid = 0, bresp = 0, bvalid = 0, bready = 1;
  std::uint8_t arid = 0, arlen = 0, arsize = 3, arburst = 1, arvalid = 0, arready = 0;
  std::uint8_t rid = 0, rresp = 0, rlast = 0, rvalid = 0, rready = 1;
  PsMemory memory{AxiPins{awaddr,  awid,    awlen,   awsize, awburst, awvalid, awready, wdata,  wstrb, wlast,
                          wvalid,  wready,  bid,     bresp,  bvalid,  bready,  araddr,  arid,   arlen, arsize,
                          arburst, arvalid, arready, rdata,  rid,     rresp,   rlast,   rvalid, rready},
                  1};

  MemoryBench() { tick(); }
  void tick() {
    memory.sample(0);
    memory.drive();
  }
};

TEST(PsMemory, AnswersReadsAfterItsLatency) {
  MemoryBench bench;
  Bytes bytes(32);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  bench.memory.load(0x1ff8, bytes);  // over a page border
  bench.araddr = 0x1ff8;
  bench.arlen = 0;
  bench.arid = 5;
  bench.arvalid = 1;
  bench.tick();
  bench.araddr = 0x2000;
  bench.arlen = 1;
  bench.tick();
  bench.arvalid = 0;
  unsigned cycles = 1;
  while (bench.rvalid == 0 && cycles < 100) {
    bench.tick();
    ++cycles;
  }
  EXPECT_EQ(cycles + 1, PsMemory::Timing{}.read_latency);  // it is driven in one cycle and seen at the next edge
  EXPECT_EQ(bench.rid, 5);
  EXPECT_EQ(bench.rlast, 1);
  EXPECT_EQ(bench.rdata, 0x0807060504030201U);
  bench.tick();
  EXPECT_EQ(bench.rdata, 0x100f0e0d0c0b0a09U);
  EXPECT_EQ(bench.rlast, 0);
  bench.tick();
  EXPECT_EQ(bench.rlast, 1);
  bench.tick();
  EXPECT_TRUE(bench.memory.idle());
}

TEST(PsMemory, WritesByStrobe) {
  MemoryBench bench;
  bench.awaddr = 0x100;
  bench.awlen = 1;
  bench.awvalid = 1;
  bench.tick();
  bench.awvalid = 0;
  bench.wvalid = 1;
  bench.wdata = 0x1111111111111111;
  bench.wstrb = 0x0f;
  bench.tick();
  bench.wdata = 0x2222222222222222;
  bench.wstrb = 0xff;
  bench.wlast = 1;
  bench.tick();
  bench.wvalid = 0;
  for (int i = 0; i < 100 && !bench.memory.idle(); ++i) bench.tick();
  EXPECT_TRUE(bench.memory.idle());
  EXPECT_EQ(to_hex(bench.memory.store(0x100, 16)), "11111111000000002222222222222222");
}

TEST(PsMemory, RefusesWhatAxiForbids) {
  MemoryBench border;
  border.araddr = 0xff8;
  border.arlen = 1;
  border.arvalid = 1;
  EXPECT_THROW(border.tick(), CheckError);
  MemoryBench fixed;
  fixed.arburst = 0;
  fixed.arvalid = 1;
  EXPECT_THROW(fixed.tick(), CheckError);
  MemoryBench last;
  last.awlen = 1;
  last.awvalid = 1;
  last.tick();
  last.awvalid = 0;
  last.wvalid = last.wlast = 1;
  EXPECT_THROW(last.tick(), CheckError);
}

TEST(PsMemory, RefusesWhatChangesWhileItWaits) {
  const auto waits_with = [](auto change) {
    MemoryBench bench;
    bench.wvalid = 1;  // no address yet: it waits
    bench.tick();
    bench.tick();
    change(bench);
    bench.tick();
  };
  waits_with([](MemoryBench&) {});
  EXPECT_THROW(waits_with([](MemoryBench& bench) { bench.wdata ^= 1; }), CheckError);
  EXPECT_THROW(waits_with([](MemoryBench& bench) { bench.wstrb = 0x7f; }), CheckError);
  EXPECT_THROW(waits_with([](MemoryBench& bench) { bench.wlast = 1; }), CheckError);
  EXPECT_THROW(waits_with([](MemoryBench& bench) { bench.wvalid = 0; }), CheckError);
  MemoryBench reads;
  reads.rready = 0;
  reads.arvalid = 1;
  for (unsigned i = 0; i < 1000 && reads.arready != 0; ++i) reads.tick();
  reads.tick();
  reads.araddr = 0x40;
  EXPECT_THROW(reads.tick(), CheckError);
}

TEST(PsMemory, RefusesStrobesOutsideOfTheirBeat) {
  const auto writes = [](std::uint64_t address, unsigned strobe) {
    MemoryBench bench;
    bench.awsize = 2;  // four bytes
    bench.awaddr = address;
    bench.awvalid = 1;
    bench.tick();
    bench.awvalid = 0;
    bench.wvalid = bench.wlast = 1;
    bench.wstrb = static_cast<std::uint8_t>(strobe);
    bench.tick();
  };
  for (const unsigned strobe : {0x10U, 0x80U, 0xf0U}) writes(0x104, strobe);
  for (const unsigned strobe : {0x01U, 0x08U, 0x18U, 0xffU}) EXPECT_THROW(writes(0x104, strobe), CheckError) << strobe;
  writes(0x102, 0x0c);
  for (const unsigned strobe : {0x01U, 0x02U, 0x10U}) EXPECT_THROW(writes(0x102, strobe), CheckError) << strobe;
}

struct AxilBench {
  std::uint32_t awaddr = 0, wdata = 0, araddr = 0, rdata = 0;
  std::uint64_t awuser = 0, aruser = 0;
  std::uint8_t awprot = 0, awvalid = 0, awready = 0, wstrb = 0, wvalid = 0, wready = 0, bresp = 0, bvalid = 0,
               bready = 0;
  std::uint8_t arprot = 0, arvalid = 0, arready = 0, rresp = 0, rvalid = 0, rready = 0;
  AxilMaster master{AxilPins{awaddr, &awuser, awprot,  awvalid, awready, wdata,   wstrb, wvalid, wready, bresp, bvalid,
                             bready, araddr,  &aruser, arprot,  arvalid, arready, rdata, rresp,  rvalid, rready},
                    "test", 7};
};

TEST(AxilMaster, WaitsForBothHalvesOfAWrite) {
  AxilBench bench;
  const auto id = bench.master.write(0x44, 0x1234, 9, 3);
  bench.master.drive();
  EXPECT_EQ(bench.awvalid, 1);
  EXPECT_EQ(bench.wvalid, 1);
  EXPECT_EQ(bench.awuser, 9U);
  EXPECT_EQ(bench.wstrb, 3);
  bench.wready = 1;
  bench.master.sample(0);
  bench.master.drive();
  EXPECT_EQ(bench.awvalid, 1);
  EXPECT_EQ(bench.wvalid, 0);
  bench.wready = 0;
  bench.awready = 1;
  bench.master.sample(0);
  bench.master.drive();
  EXPECT_EQ(bench.awvalid, 0);
  EXPECT_FALSE(bench.master.waits_for().empty());
  bench.bvalid = 1;
  bench.bresp = 2;
  bench.master.sample(4000);
  const auto result = bench.master.pop();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->id, id);
  EXPECT_EQ(result->response, 2);
  EXPECT_TRUE(bench.master.idle());
}

TEST(AxilMaster, RefusesAnAnswerThatNobodyWaitsFor) {
  AxilBench bench;
  bench.rvalid = 1;
  EXPECT_THROW(bench.master.sample(0), CheckError);
}

}  // namespace
}  // namespace meridian
