// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/mac_bench.hpp"
#include "wire/make_wire_end.hpp"
#include "wire_ends.hpp"

namespace meridian {
namespace {

/// Ends of the wire at the MAC model itself, polled as the seam says.
struct WireAtMac {
  explicit WireAtMac(const std::string& spec) : end(make_wire_end(spec, {})) {}

  void run(std::uint64_t cycles) {
    for (std::uint64_t i = 0; i < cycles; ++i) {
      const std::uint64_t now_ps = bench.cycle * period_ps;
      if (end->next_ps() <= now_ps)
        for (auto& frame : end->poll(now_ps, bench.mac.waiting())) bench.mac.send(std::move(frame));
      bench.tick();
      if (bench.tvalid == 0) continue;
      if (bytes.empty()) stamp_ns = bench.tstamp[0];
      for (unsigned lane = 0; lane < 8; ++lane)
        if ((bench.tkeep >> lane & 1) != 0) bytes.push_back(static_cast<std::uint8_t>(bench.tdata >> (8 * lane)));
      if (bench.tlast == 0) continue;
      frames.push_back({std::exchange(bytes, {}), bench.mac.statistics().last_sfd_ps, bench.tuser != 0});
      stamps.push_back(stamp_ns);
    }
  }

  std::unique_ptr<WireEnd> end;
  RxBench bench;
  Bytes bytes;
  std::uint32_t stamp_ns = 0;
  std::vector<Arrived> frames;
  std::vector<std::uint32_t> stamps;
};

TEST(WireAtMac, TrafficFillsTheWireAndSaysWhenItCame) {
  for (const std::size_t size : {64U, 65U, 67U, 1518U}) {
    WireAtMac wire("traffic:size=" + std::to_string(size));
    constexpr std::uint64_t cycles = 100'000;
    wire.run(cycles);
    EXPECT_NEAR(static_cast<double>(wire.frames.size()), 8.0 * cycles / static_cast<double>(size + 20), 2.0) << size;
    for (std::size_t i = 0; i < wire.frames.size(); ++i) {
      const auto mark = mark_of(wire.frames[i]);
      ASSERT_EQ(mark.sequence, i);
      ASSERT_EQ(mark.sent_ps, wire.frames[i].sfd_ps);
      expect_stamp(wire.stamps[i], mark.sent_ps);
    }
  }
}

TEST(WireAtMac, DelayIsExactWhateverTheMacsClock) {
  WireAtMac wire("traffic:size=100,rate=30%,delay_in=3us,jitter_in=1us");
  wire.run(50'000);
  ASSERT_GT(wire.frames.size(), 900U);
  for (const auto& frame : wire.frames) {
    const std::uint64_t late_ps = frame.sfd_ps - mark_of(frame).sent_ps;
    ASSERT_GE(late_ps, 3'000'000U);
    ASSERT_LE(late_ps, 4'100'000U);
  }
}

}  // namespace
}  // namespace meridian
