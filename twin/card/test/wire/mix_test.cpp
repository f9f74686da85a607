// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ptp_slave.hpp"
#include "wire/capture/capture_end.hpp"
#include "wire/delay_loss.hpp"
#include "wire/make_wire_end.hpp"
#include "wire/mix_end.hpp"
#include "wire_ends.hpp"

namespace meridian {
namespace {

constexpr std::uint64_t ms = 1'000'000'000;

TEST(MixEnd, JoinsAGrandmasterAndTrafficInOrder) {
  auto end =
      make_wire_end("ptp:log_sync=-7,transport=ethernet+traffic:size=1518,count=20000+traffic:id=1,rate=1kpps", {});
  WireBench bench(*end);
  bench.run_until(12 * ms);
  unsigned syncs = 0, follow_ups = 0, first = 0, second = 0;
  std::uint64_t sync_ps = 0;
  for (const auto& frame : bench.take()) {
    if (big_endian(frame.bytes, 12, 2) == 0x88f7) {
      const auto message = slave_read(frame, 14);
      if (message.type == 0) ++syncs, sync_ps = frame.sfd_ps;
      if (message.type != 8) continue;
      ++follow_ups;
      EXPECT_NEAR(static_cast<double>(message.timestamp_ns) + message.correction_ns,
                  static_cast<double>(sync_ps) / 1000, 0.02);
      continue;
    }
    const auto mark = mark_of(frame);
    EXPECT_EQ(mark.sent_ps, frame.sfd_ps);
    if (mark.generator == 0) {
      EXPECT_EQ(mark.sequence, first++);
    } else {
      EXPECT_EQ(mark.sequence, second++);
      // Not kept waiting by the stream for longer than what waits at the MAC.
      EXPECT_LT(frame.sfd_ps - mark.sequence * ms, 4'000'000U);
    }
  }
  EXPECT_EQ(syncs, 2U);
  EXPECT_EQ(follow_ups, 2U);
  EXPECT_EQ(second, 13U);
  EXPECT_EQ(first, 20'000U);
  std::map<std::string, double> report;
  end->report([&](std::string_view name, double value) { report.emplace(name, value); });
  EXPECT_EQ(report.at("traffic.sent"), 20'000);
  EXPECT_EQ(report.at("traffic2.sent"), 13);
  EXPECT_EQ(report.at("ptp.sent_sync"), 2);
}

TEST(MixEnd, SharesTheWireBetweenStreams) {
  auto end = make_wire_end("traffic:size=512+traffic:size=512,id=1", {});
  WireBench bench(*end);
  bench.run_until(ms);
  std::map<unsigned, unsigned> counts;
  for (const auto& frame : bench.take()) ++counts[mark_of(frame).generator];
  EXPECT_NEAR(counts[0], counts[1], 2);
  EXPECT_NEAR(static_cast<double>(counts[0] + counts[1]), 1e9 / ((512 + 20) * 320), 2.0);
}

TEST(MixEnd, GoesOnAfterTheMacDroppedItsFrames) {
  auto end = make_wire_end("traffic+none", {});
  ASSERT_FALSE(end->poll(0, 0).empty());
  // The MAC was reset: none of them will ever begin.
  EXPECT_FALSE(end->poll(1'000'000, 0).empty());
}

TEST(MixEnd, GivesToAll) {
  std::vector<TxFrame> one, two;
  std::vector<MixEnd::Named> ends;
  ends.emplace_back("keep", std::make_unique<KeepEnd>(one));
  ends.emplace_back("keep", std::make_unique<KeepEnd>(two));
  MixEnd end(std::move(ends));
  end.receive({.bytes = Bytes(60)});
  EXPECT_EQ(one.size(), 1U);
  EXPECT_EQ(two.size(), 1U);
  EXPECT_TRUE(end.done());
  EXPECT_FALSE(end.descriptor().has_value());
}

/// Has something whenever it is tended.
class TendedEnd : public WireEnd {
 public:
  explicit TendedEnd(unsigned& tended) : tended_(tended) {}
  void receive(const TxFrame&) override {}
  std::vector<RxFrame> poll(std::uint64_t, std::size_t) override { return {}; }
  std::uint64_t next_ps() const override { return never_ps; }
  bool tend() override { return ++tended_ != 0; }

 private:
  unsigned& tended_;
};

TEST(WrappedEnds, AreTendedToo) {
  unsigned tended[3] = {};
  std::vector<MixEnd::Named> ends;
  ends.emplace_back("plain", std::make_unique<TendedEnd>(tended[0]));
  ends.emplace_back(
      "late", std::make_unique<DelayLoss>(std::make_unique<TendedEnd>(tended[1]), DelayLossSetting{}, WireSetting{}));
  TestFile file(".pcapng");
  auto capture = std::make_shared<CaptureFile>(file.path(), std::vector<CaptureInterface>{{"wire", 0}});
  ends.emplace_back("kept", std::make_unique<CaptureEnd>(std::make_unique<TendedEnd>(tended[2]), capture, 0));
  MixEnd mix(std::move(ends));
  EXPECT_TRUE(mix.tend());
  for (const unsigned count : tended) EXPECT_EQ(count, 1U);
  EXPECT_FALSE(make_wire_end("none+none", {})->tend());
}

}  // namespace
}  // namespace meridian
