// SPDX-License-Identifier: Apache-2.0
#include "bench/dma/self_test_block.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "bench/dma/test_frames.hpp"
#include "meridian_regs.h"

namespace meridian {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t limit_ps = 100'000'000;
constexpr double cycle_ns = static_cast<double>(TestFrames::period_ps) / 1000;

std::uint32_t field(std::uint32_t value, std::uint32_t mask, unsigned shift) {
  return (value & mask) >> shift;
}

/// Least latency of a place of the histogram, in cycles: four places for each power of two.
std::uint64_t least_of(unsigned place) {
  return place < 4 ? place : (4ULL + place % 4) << (place / 4 - 1);
}

}  // namespace

SelfTestBlock::SelfTestBlock(Card& card, EnginePort& engine) : card_(card), engine_(engine) {
  const std::uint32_t has = engine_.read_register(MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_CAPABILITIES);
  if ((has & MERIDIAN_IDENT_CAPABILITIES_SELF_TEST_MASK) == 0)
    throw InputError("this shell has no self-test block: build one with scripts/build-card --self-test true");
}

std::uint32_t SelfTestBlock::read(std::uint32_t offset) {
  return engine_.read_register(MERIDIAN_SELF_TEST_BASE + offset);
}

void SelfTestBlock::write(std::uint32_t offset, std::uint32_t value) {
  engine_.write_register(MERIDIAN_SELF_TEST_BASE + offset, value);
}

std::uint64_t SelfTestBlock::both_words(std::uint32_t offset) {
  const std::uint64_t low = read(offset);
  return low | std::uint64_t{read(offset + 4)} << 32;
}

std::uint64_t SelfTestBlock::counter(std::uint32_t offset) {
  return both_words(offset);
}

unsigned SelfTestBlock::start(const Test& test) {
  constexpr std::uint32_t take_and_force = MERIDIAN_SELF_TEST_MODE_TAKE_MASK | MERIDIAN_SELF_TEST_MODE_FORCE_MASK;
  write(MERIDIAN_SELF_TEST_MODE, (test.generate ? MERIDIAN_SELF_TEST_MODE_GENERATE_MASK : 0U) |
                                     (test.check ? MERIDIAN_SELF_TEST_MODE_CHECK_MASK : 0U) | take_and_force);
  write(MERIDIAN_SELF_TEST_FUNCTION, test.function);
  write(MERIDIAN_SELF_TEST_QUEUES, test.queues << MERIDIAN_SELF_TEST_QUEUES_COUNT_SHIFT);
  write(MERIDIAN_SELF_TEST_SIZE, test.bytes | test.bytes << MERIDIAN_SELF_TEST_SIZE_LAST_SHIFT);
  write(MERIDIAN_SELF_TEST_SIZE_STEP, 0);
  write(MERIDIAN_SELF_TEST_INTERVAL, test.interval);
  write(MERIDIAN_SELF_TEST_RATE, 0);
  write(MERIDIAN_SELF_TEST_FRAMES, test.frames);
  write(MERIDIAN_SELF_TEST_DESTINATION_LOW, static_cast<std::uint32_t>(TestFrames::destination));
  write(MERIDIAN_SELF_TEST_DESTINATION_HIGH, static_cast<std::uint32_t>(TestFrames::destination >> 32));
  write(MERIDIAN_SELF_TEST_SOURCE_LOW, static_cast<std::uint32_t>(TestFrames::source));
  write(MERIDIAN_SELF_TEST_SOURCE_HIGH, static_cast<std::uint32_t>(TestFrames::source >> 32));
  write(MERIDIAN_SELF_TEST_COMMAND, MERIDIAN_SELF_TEST_COMMAND_START_MASK);
  const std::uint64_t end_ps = card_.now_ps() + limit_ps;
  for (;;) {
    const std::uint32_t status = read(MERIDIAN_SELF_TEST_STATUS);
    const std::uint32_t refusal =
        field(status, MERIDIAN_SELF_TEST_STATUS_REFUSAL_MASK, MERIDIAN_SELF_TEST_STATUS_REFUSAL_SHIFT);
    if (refusal != 0)
      throw CheckError("the self-test refuses to start with code " + std::to_string(refusal) +
                       " (SELF_TEST_REFUSAL of docs/registers.md)");
    constexpr std::uint32_t starting = 1;
    const std::uint32_t state =
        field(status, MERIDIAN_SELF_TEST_STATUS_STATE_MASK, MERIDIAN_SELF_TEST_STATUS_STATE_SHIFT);
    if (state != starting)
      return field(status, MERIDIAN_SELF_TEST_STATUS_RUN_MASK, MERIDIAN_SELF_TEST_STATUS_RUN_SHIFT);
    if (card_.now_ps() > end_ps) throw HangError("the self-test does not start within 100 us");
  }
}

SelfTestBlock::Counters SelfTestBlock::counters() {
  return {.sent_frames = counter(MERIDIAN_SELF_TEST_COUNTER_SENT_FRAMES),
          .sent_bytes = counter(MERIDIAN_SELF_TEST_COUNTER_SENT_BYTES),
          .frames = counter(MERIDIAN_SELF_TEST_COUNTER_CHECKED_FRAMES),
          .bytes = counter(MERIDIAN_SELF_TEST_COUNTER_CHECKED_BYTES),
          .good = counter(MERIDIAN_SELF_TEST_COUNTER_CHECKED_GOOD),
          .damaged = counter(MERIDIAN_SELF_TEST_COUNTER_CHECKED_DAMAGED),
          .foreign = counter(MERIDIAN_SELF_TEST_COUNTER_CHECKED_FOREIGN),
          .too_short = counter(MERIDIAN_SELF_TEST_COUNTER_CHECKED_TOO_SHORT),
          .marked = counter(MERIDIAN_SELF_TEST_COUNTER_CHECKED_MARKED),
          .skipped = counter(MERIDIAN_SELF_TEST_COUNTER_CHECKED_SKIPPED),
          .late = counter(MERIDIAN_SELF_TEST_COUNTER_CHECKED_LATE)};
}

void SelfTestBlock::open_window(std::uint64_t cycles) {
  write(MERIDIAN_SELF_TEST_CONTROL, MERIDIAN_SELF_TEST_CONTROL_RESET_MASK);
  write(MERIDIAN_SELF_TEST_WINDOW_LOW, static_cast<std::uint32_t>(cycles));
  write(MERIDIAN_SELF_TEST_WINDOW_HIGH, static_cast<std::uint32_t>(cycles >> 32));
  shown_ = read(MERIDIAN_SELF_TEST_STATUS) & MERIDIAN_SELF_TEST_STATUS_WINDOW_MASK;
  write(MERIDIAN_SELF_TEST_CONTROL, MERIDIAN_SELF_TEST_CONTROL_MODE_MASK);
  window_end_ps_ = card_.now_ps() + TestFrames::period_ps * cycles;
}

Json SelfTestBlock::median(std::uint64_t frames) {
  std::uint64_t below = 0;
  for (unsigned place = 0; place < MERIDIAN_SELF_TEST_HISTOGRAM_MAX; ++place) {
    below += read(static_cast<std::uint32_t>(MERIDIAN_SELF_TEST_HISTOGRAM(place)));
    if (2 * below < frames) continue;
    return Json::array(
        {cycle_ns * static_cast<double>(least_of(place)), cycle_ns * static_cast<double>(least_of(place + 1))});
  }
  throw CheckError("the histogram of the self-test has fewer frames than its window");
}

Json SelfTestBlock::window() {
  const std::uint64_t end_ps = std::max(card_.now_ps(), window_end_ps_) + limit_ps;
  while ((read(MERIDIAN_SELF_TEST_STATUS) & MERIDIAN_SELF_TEST_STATUS_WINDOW_MASK) == shown_)
    if (card_.now_ps() > end_ps) throw HangError("the window of the self-test's latencies does not end");
  // The next window is not shown before all of this one has been read, so the histogram is of the same.
  const std::uint64_t frames = both_words(MERIDIAN_SELF_TEST_LATENCY_FRAMES_LOW);
  if (frames == 0) return nullptr;
  const Json between = median(frames);
  const auto ns = [this](std::uint32_t offset) { return cycle_ns * static_cast<double>(both_words(offset)); };
  const double least = ns(MERIDIAN_SELF_TEST_LATENCY_MIN_LOW), most = ns(MERIDIAN_SELF_TEST_LATENCY_MAX_LOW);
  const double sum = ns(MERIDIAN_SELF_TEST_LATENCY_SUM_LOW);
  return {{"mean", sum / static_cast<double>(frames)},
          {"min", least},
          {"max", most},
          {"frames", frames},
          {"median_between", between}};
}

}  // namespace meridian
