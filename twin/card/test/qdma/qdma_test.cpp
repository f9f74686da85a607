// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <functional>
#include <string>

#include "stream/streams.hpp"

namespace meridian {
namespace {

/// A shell that hands one frame and its completion to the sink; a test bends what it likes before it does.
struct C2hBench {
  std::array<std::uint32_t, 8> tdata{};
  std::uint8_t tlast = 0, mty = 0, marker = 0, port_id = 0, has_cmpt = 1, tvalid = 0, tready = 0;
  std::uint16_t len = 0, qid = 0;
  std::array<std::uint32_t, 16> entry{};
  std::uint8_t size = 0, type = 3, cmpt_port = 0, cmpt_marker = 0, trigger = 0, cmpt_valid = 0, cmpt_ready = 0;
  std::uint16_t dpar = 0, cmpt_qid = 0, packet_id = 0;
  std::uint8_t drop = 0, last = 0, cmp = 0, error = 0, status_valid = 0;
  std::uint16_t status_qid = 0;
  std::uint8_t tm_port = 0, qen = 0, byp = 0, dir = 0, mm = 0, tm_error = 0, qinv = 0, irq_arm = 0, vld = 0, rdy = 1;
  std::uint16_t tm_qid = 0, avl = 0, pidx = 0;
  QdmaC2h c2h{
      C2hPins{tdata, tlast, mty, marker, port_id, len, qid, has_cmpt, tvalid, tready},
      CmptPins{entry, size, dpar, cmpt_qid, type, packet_id, cmpt_port, cmpt_marker, trigger, cmpt_valid, cmpt_ready},
      C2hStatusPins{drop, last, cmp, error, status_qid, status_valid},
      TmStatusPins{tm_port, qen, byp, dir, mm, tm_error, tm_qid, avl, qinv, irq_arm, pidx, vld, rdy}, 1};
  std::uint64_t now = 0;

  C2hBench() { tick(); }

  void tick() {
    now += 4000;
    c2h.sample(now);
    c2h.drive();
  }

  void beat(std::uint16_t length, std::uint16_t offset) {
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned at = offset + i;
      reinterpret_cast<std::uint8_t*>(tdata.data())[i] = at < length ? static_cast<std::uint8_t>(at) : 0;
    }
    tlast = length - offset <= 32;
    mty = static_cast<std::uint8_t>(tlast != 0 ? 32 - (length - offset) : 0);
    tvalid = 1;
  }

  void completion(std::uint16_t length, std::uint16_t queue, std::uint16_t id) {
    entry[0] = (1U << 3) | (std::uint32_t{length} << 4) | (1U << 20);
    entry[1] = length | (std::uint32_t{id} << 16);
    dpar = 0;
    for (unsigned i = 0; i < 16; ++i)
      dpar = static_cast<std::uint16_t>(dpar | ((std::popcount(entry[i]) % 2 == 0 ? 1U : 0U) << i));
    cmpt_qid = queue;
    packet_id = id;
    cmpt_valid = 1;
  }

  void send(std::uint16_t length, std::uint16_t queue, std::uint16_t id, const std::function<void()>& bend = [] {}) {
    len = length;
    qid = queue;
    completion(length, queue, id);
    for (std::uint16_t offset = 0; offset < length; offset = static_cast<std::uint16_t>(offset + 32)) {
      beat(length, offset);
      bend();
      tick();
      cmpt_valid = 0;
    }
    tvalid = 0;
  }
};

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const CheckError& error) {
    return error.what();
  }
  return {};
}

TEST(QdmaC2h, DeliversFramesIntoPostedBuffers) {
  C2hBench bench;
  bench.c2h.set_buffer_size(5, 64);
  bench.c2h.post(5, 4);
  bench.send(60, 5, 1);
  bench.send(100, 5, 2);
  EXPECT_EQ(bench.c2h.buffers(5), 1U);  // 1 and 2 of 64 bytes each
  const auto first = bench.c2h.pop();
  const auto second = bench.c2h.pop();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->queue, 5);
  EXPECT_EQ(first->bytes.size(), 60U);
  EXPECT_EQ(second->bytes.size(), 100U);
  EXPECT_EQ(second->bytes[99], 99);
  EXPECT_EQ(second->packet_id, 2);
  EXPECT_NE(error_of([&] { bench.send(100, 5, 3); }).find("has 1 buffers"), std::string::npos);
}

TEST(QdmaC2h, TakesCompletionsOf16Bytes) {
  C2hBench bench;
  bench.c2h.post(5, 2);
  bench.send(60, 5, 1, [&] { bench.size = 1, bench.entry[2] = 0x12345678, bench.entry[3] = 3, bench.dpar &= 0xfffb; });
  bench.size = 0, bench.entry[2] = bench.entry[3] = 0;
  bench.send(60, 5, 2);
  const auto wide = bench.c2h.pop();
  const auto narrow = bench.c2h.pop();
  ASSERT_TRUE(wide && narrow);
  EXPECT_EQ(wide->completion.bytes, 16U);
  EXPECT_EQ(wide->completion.words[1], 0x3'12345678U);
  EXPECT_EQ(narrow->completion.bytes, 8U);
  EXPECT_EQ(narrow->completion.words[1], 0U);
}

TEST(QdmaC2h, TellsOfBuffersAndOfAStoppedQueue) {
  C2hBench bench;
  bench.c2h.post(7, 3);
  bench.tick();
  EXPECT_EQ(bench.vld, 1);
  EXPECT_EQ(bench.tm_qid, 7);
  EXPECT_EQ(bench.avl, 3);
  EXPECT_EQ(bench.qen, 1);
  EXPECT_EQ(bench.dir, 1);
  bench.tick();
  EXPECT_EQ(bench.vld, 0);
  bench.c2h.stop(7);
  bench.tick();
  EXPECT_EQ(bench.qinv, 1);
  EXPECT_EQ(bench.qen, 0);
  EXPECT_EQ(bench.avl, 3);
  bench.send(60, 7, 1);  // was on its way: dropped, which is no error
  EXPECT_FALSE(bench.c2h.pop().has_value());
  bench.tick();
  EXPECT_EQ(bench.c2h.statistics().dropped, 1U);
}

struct Bend {
  const char* name;
  const char* expected;
  std::function<void(C2hBench&)> bend;
};

TEST(QdmaC2h, RefusesWhatBreaksARule) {
  const Bend bends[] = {
      {"len", "ctrl_len is 61", [](C2hBench& b) { b.len = 61; }},
      {"mty", "ctrl_len is 60", [](C2hBench& b) { b.mty = b.tlast != 0 ? 3 : 0; }},
      {"rest", "behind the end", [](C2hBench& b) { b.tdata[7] |= b.tlast != 0 ? 0x01000000U : 0; }},
      {"qid", "changed inside", [](C2hBench& b) { b.qid = b.tlast != 0 ? 6 : 5; }},
      {"has_cmpt", "has_cmpt", [](C2hBench& b) { b.has_cmpt = 0; }},
      {"parity", "parity of word 1", [](C2hBench& b) { b.dpar ^= 2; }},
      {"id", "waits for frame 3", [](C2hBench& b) { b.packet_id = 3; }},
      {"queue", "completion for queue 9", [](C2hBench& b) { b.cmpt_qid = 9; }},
      {"size", "size is neither", [](C2hBench& b) { b.size = 2; }},
      {"long", "behind its end", [](C2hBench& b) { b.entry[2] = 3; }},
      {"longer", "behind its end", [](C2hBench& b) { b.size = 1, b.entry[4] = 3; }},
      {"parity of all", "parity of word 15", [](C2hBench& b) { b.dpar ^= 0x8000; }},
      {"entry", "does not tell", [](C2hBench& b) { b.entry[1] ^= 3; }},  // two bits: the parity stays
  };
  for (const Bend& bend : bends) {
    C2hBench bench;
    bench.c2h.post(5, 10);
    const std::string error = error_of([&] { bench.send(60, 5, 1, [&] { bend.bend(bench); }); });
    EXPECT_NE(error.find(bend.expected), std::string::npos) << bend.name << ": " << error;
  }
}

TEST(QdmaC2h, SeesABeatThatChangesWhileItWaits) {
  C2hBench bench;
  bench.c2h.post(5, 10);
  bench.c2h.set_stall(true);
  bench.tick();
  bench.len = 60;
  bench.qid = 5;
  bench.beat(60, 0);
  bench.tick();
  bench.tick();
  EXPECT_EQ(bench.c2h.statistics().stalled, 2U);
  bench.tdata[0] ^= 1;
  EXPECT_NE(error_of([&] { bench.tick(); }).find("changed while it waited"), std::string::npos);
}

TEST(QdmaH2c, SendsFrameByFrameRoundRobin) {
  std::array<std::uint32_t, 8> tdata{};
  std::uint32_t tcrc = 0, mdata = 0;
  std::uint16_t qid = 0;
  std::uint8_t port_id = 0, err = 0, mty = 0, zero_byte = 0, tlast = 0, tvalid = 0, tready = 1;
  QdmaH2c h2c(H2cPins{tdata, tcrc, qid, port_id, err, mdata, mty, zero_byte, tlast, tvalid, tready}, 1);
  for (int i = 0; i < 2; ++i) {
    h2c.send(3, {Bytes(60, 0x33), false});
    h2c.send(9, {Bytes(64, 0x99), true});
  }
  h2c.send(4, {Bytes(), false});
  std::string order;
  for (int i = 0; i < 100 && !h2c.idle(); ++i) {
    h2c.drive(0);
    tready = i % 3 != 0;
    if (tvalid != 0 && tready != 0 && tlast != 0) {
      order += std::to_string(qid);
      EXPECT_EQ(mty, qid == 3 ? 4 : 0);
      EXPECT_EQ(zero_byte, qid == 4 ? 1 : 0);
      EXPECT_EQ(err, qid == 9 ? 1 : 0);
    }
    h2c.sample();
  }
  EXPECT_EQ(order, "34939");
  EXPECT_TRUE(h2c.idle());
}

}  // namespace
}  // namespace meridian
