// SPDX-License-Identifier: Apache-2.0
#include "wire/cable.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "wire_bench.hpp"

namespace meridian {
namespace {

TEST(Cable, JoinsTwoPortsWithExactDelay) {
  auto [a, b] = make_cable({.forth_ps = 5'000'000, .back_ps = 1'000}, {});
  WireBench port_a(*a), port_b(*b);
  port_a.send(Bytes(60, 'x'), true);
  port_a.run_until(2'000'000);
  port_a.send(Bytes(1514, 'y'));
  EXPECT_EQ(b->next_ps(), 5'000'000U - 1'000'000U);
  port_b.run_until(20'000'000);
  const auto frames = port_b.take();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].bytes, Bytes(60, 'x'));
  EXPECT_TRUE(frames[0].bad);
  EXPECT_EQ(frames[0].sfd_ps, 5'000'000U + 2560);  // the first one began with the bench itself
  EXPECT_EQ(frames[1].sfd_ps, 7'000'000U);
  EXPECT_FALSE(frames[1].bad);

  const std::uint64_t known_ps = port_b.now_ps() + 64 * 320;
  port_a.run_until(known_ps);
  port_b.send(Bytes(60, 'z'));
  EXPECT_EQ(port_b.now_ps(), known_ps);
  port_a.run_for(1'000'000);
  const auto back = port_a.take();
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].sfd_ps, known_ps + 2560);  // longer than the cable: it arrives when it is known
  std::map<std::string, double> report;
  a->report([&](std::string_view name, double value) { report.emplace(name, value); });
  EXPECT_EQ(report.at("passed"), 1);
  EXPECT_EQ(report.at("late"), 1);
}

}  // namespace
}  // namespace meridian
