// SPDX-License-Identifier: Apache-2.0
#include "twin/twin.hpp"

#include <algorithm>
#include <utility>

namespace meridian {

namespace {

constexpr std::uint64_t settle_ps = 5'000'000;  // before an event: the carried clocks lock again in less
constexpr std::uint64_t worth_ps = 1'000'000;   // a shorter skip saves no steps
constexpr unsigned steps_a_look = 32;           // the sockets, and the question whether all rests, are dear
constexpr std::uint64_t nap_ps =
    1'000'000'000;  // to follow the wall clock closer while nothing happens is not worth a processor
constexpr int longest_wait_ms = 50;
constexpr std::uint64_t longest_start_ps = 1'000'000'000;

}  // namespace

CardNode& Twin::add(const CardNodeSetting& setting, std::vector<std::unique_ptr<WireEnd>> ends) {
  cards_.push_back(std::make_unique<CardNode>(setting, std::move(ends), *this));
  // The shell's tables fill after reset.
  while (cards_.back()->busy() && cards_.back()->now_ps() < longest_start_ps) cards_.back()->step();
  started_ps_ = std::max(started_ps_, cards_.back()->now_ps());
  return *cards_.back();
}

std::uint64_t Twin::now_ps() const {
  std::uint64_t now = never_ps;
  for (const auto& card : cards_) now = std::min(now, card->now_ps());
  return now;
}

/// Of the card that is behind.
void Twin::step() {
  const auto behind = std::min_element(cards_.begin(), cards_.end(),
                                       [](const auto& a, const auto& b) { return a->now_ps() < b->now_ps(); });
  (*behind)->step();
}

void Twin::steps() {
  for (unsigned i = 0; i < steps_a_look * cards_.size(); ++i) step();
}

/// An access waits for its answer.
bool Twin::owes() const {
  return std::any_of(cards_.begin(), cards_.end(), [](const auto& card) { return card->owes(); });
}

/// Not a step more than what was asked for takes, so that the same messages find the same card.
bool Twin::pass_lockstep() {
  const std::uint64_t now = now_ps();
  const std::uint64_t limit = limit_ps();
  if (now >= limit && !owes()) return false;
  const std::uint64_t event = next_event_ps();
  if (!busy() && !owes() && event > now + settle_ps + worth_ps && limit > now + worth_ps) {
    const std::uint64_t target = std::min({event - settle_ps, limit, now + Card::longest_skip_ps});
    for (const auto& card : cards_) card->skip_to(target);
  }
  for (unsigned i = 0; i < steps_a_look && (now_ps() < limit || owes()); ++i) step();
  return true;
}

bool Twin::busy() {
  bool any = false;
  for (const auto& card : cards_) any = card->busy() || any;
  return any;
}

std::uint64_t Twin::next_event_ps() const {
  std::uint64_t next = never_ps;
  for (const auto& card : cards_) next = std::min(next, card->next_event_ps());
  return next;
}

/// How far time may go now.
std::uint64_t Twin::limit_ps() const {
  if (lockstep_) return std::min(advanced_ ? advance_to_ps_ : now_ps(), end_ps_);
  if (mode_ == TwinTime::free) return end_ps_;
  const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(WallClock::now() - started_);
  return std::min(started_ps_ + 1000 * static_cast<std::uint64_t>(passed.count()), end_ps_);
}

/// Some steps, or a skip; false when time has to stand still.
bool Twin::pass_time() {
  if (lockstep_) return pass_lockstep();
  if (busy()) {
    steps();
    return true;
  }
  const std::uint64_t now = now_ps();
  const std::uint64_t limit = limit_ps();
  const std::uint64_t event = next_event_ps();
  if (now >= limit || (event == never_ps && limit == never_ps)) return false;
  if (event > now + settle_ps + worth_ps && limit > now + worth_ps) {
    const std::uint64_t target = std::min({event - settle_ps, limit, now + Card::longest_skip_ps});
    for (const auto& card : cards_) card->skip_to(target);
  }
  steps();
  return true;
}

/// The card has nothing to do and is as late as it may be: it sleeps. Whoever wakes it catches up first.
bool Twin::rests() {
  if (mode_ != TwinTime::wall || lockstep_ || busy()) return false;
  const std::uint64_t now = now_ps();
  const std::uint64_t limit = limit_ps();
  return limit < end_ps_ && limit < now + nap_ps && next_event_ps() > now + settle_ps + nap_ps;
}

void Twin::catch_up() {
  if (mode_ != TwinTime::wall || lockstep_) return;
  while (!busy() && now_ps() < limit_ps() && next_event_ps() > now_ps() + settle_ps && pass_time()) continue;
}

void Twin::set_lockstep(bool on) {
  lockstep_ = mode_ == TwinTime::lockstep || (on && cards_.size() == 1);
  started_ = WallClock::now();
  started_ps_ = advance_to_ps_ = now_ps();
  if (advanced_) std::exchange(advanced_, nullptr)(MERIDIAN_LINK_OK);
}

void Twin::advance(std::uint64_t ps, LinkCard::Done done) {
  if (!lockstep_ || advanced_) {
    done(lockstep_ ? MERIDIAN_LINK_BUSY : MERIDIAN_LINK_INVALID);
    return;
  }
  advance_to_ps_ = std::max(advance_to_ps_, now_ps()) + ps;
  advanced_ = std::move(done);
}

void Twin::poll(int timeout_ms) {
  // Of several, each in turn may be the one that is spoken to.
  const int share = timeout_ms / static_cast<int>(cards_.size());
  for (const auto& card : cards_) card->poll(share);
}

/// How long nothing will happen unless somebody outside does something.
int Twin::patience_ms() const {
  if (lockstep_ || mode_ == TwinTime::free) return longest_wait_ms;
  const std::uint64_t event = next_event_ps();
  const std::uint64_t now = now_ps();
  const std::uint64_t ahead_ps = event > now + settle_ps ? event - now - settle_ps : 0;
  return static_cast<int>(std::min<std::uint64_t>(ahead_ps / 1'000'000'000, longest_wait_ms));
}

void Twin::run(const std::atomic<bool>& stop) {
  started_ = WallClock::now();
  while (!stop && now_ps() < end_ps_) {
    if (std::any_of(cards_.begin(), cards_.end(), [](const auto& card) { return card->waits(); })) {
      poll(1);
      continue;
    }
    const bool passed = !rests() && pass_time();
    if (advanced_ && now_ps() >= advance_to_ps_) std::exchange(advanced_, nullptr)(MERIDIAN_LINK_OK);
    poll(passed ? 0 : patience_ms());
  }
}

}  // namespace meridian
