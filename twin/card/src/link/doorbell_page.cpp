// SPDX-License-Identifier: Apache-2.0
#include "link/doorbell_page.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>

#include "link/message_reader.hpp"

namespace meridian {
namespace {

constexpr std::uint64_t cache_line = 64;

std::string name_of(unsigned function) {
  return "doorbells of function " + std::to_string(function) + ": ";
}

std::uint64_t bytes_of(unsigned function, std::uint64_t offset, std::uint64_t queues) {
  if (queues == 0 || queues > MERIDIAN_LINK_MAX_DOORBELLS)
    throw LinkError(name_of(function) + "of 1 to " + std::to_string(MERIDIAN_LINK_MAX_DOORBELLS) + " queues, not of " +
                    std::to_string(queues));
  if (offset % cache_line != 0) throw LinkError(name_of(function) + "they stand at a multiple of 64 in their file");
  return sizeof(meridian_link_doorbells) + queues * sizeof(meridian_link_queue_doorbells);
}

std::atomic_ref<std::uint64_t> word(std::uint64_t& place) {
  return std::atomic_ref(place);
}

}  // namespace

DoorbellPage::DoorbellPage(unsigned function, std::uint64_t offset, std::uint64_t queues, const Descriptor& file)
    : queues_(static_cast<unsigned>(queues)),
      mapping_(name_of(function), file, offset, bytes_of(function, offset, queues), true),
      head_(reinterpret_cast<meridian_link_doorbells*>(mapping_.bytes())),
      queue_(reinterpret_cast<meridian_link_queue_doorbells*>(mapping_.bytes() + sizeof(*head_))),
      seen_(queues) {}

void DoorbellPage::look(const Rung& rung) {
  for (unsigned first = 0; first < queues_; first += 64) {
    const auto bits = word(head_->rung[first / 64]);
    // An exchange takes the line from the client, so only when there is something to take.
    if (bits.load(std::memory_order_relaxed) == 0) continue;
    std::uint64_t taken = bits.exchange(0, std::memory_order_acquire);
    for (; taken != 0; taken &= taken - 1) {
      const unsigned queue = first + static_cast<unsigned>(std::countr_zero(taken));
      if (queue < queues_) look_at(queue, rung);
    }
  }
}

void DoorbellPage::look_at(unsigned queue, const Rung& rung) {
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint64_t now = word(queue_[queue].word[i]).load(std::memory_order_acquire);
    if (now == seen_[queue][i]) continue;
    seen_[queue][i] = now;
    rung(4 * queue + i, static_cast<std::uint32_t>(now));
  }
}

bool DoorbellPage::has_news() const {
  for (unsigned first = 0; first < queues_; first += 64)
    if (word(head_->rung[first / 64]).load(std::memory_order_relaxed) != 0) return true;
  return false;
}

void DoorbellPage::set_asleep(bool asleep) {
  std::atomic_ref(head_->asleep).store(asleep ? 1 : 0, std::memory_order_relaxed);
}

void DoorbellPages::add(unsigned function, std::uint64_t offset, std::uint64_t queues, const Descriptor& file) {
  if (pages_.contains(function)) throw LinkError(name_of(function) + "it has some already");
  pages_.emplace(function, DoorbellPage(function, offset, queues, file));
}

void DoorbellPages::forget(unsigned function) {
  if (pages_.erase(function) == 0) throw LinkError(name_of(function) + "it has none");
}

void DoorbellPages::look(const std::function<void(unsigned, unsigned, std::uint32_t)>& rung) {
  for (auto& [function, page] : pages_)
    page.look([&rung, function = function](unsigned index, std::uint32_t value) { rung(function, index, value); });
}

bool DoorbellPages::sleep() {
  if (pages_.empty()) return true;
  for (auto& [function, page] : pages_) page.set_asleep(true);
  // Against the client's barrier between its bit and its look at asleep.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const bool news = std::any_of(pages_.begin(), pages_.end(), [](const auto& one) { return one.second.has_news(); });
  if (news) wake();
  return !news;
}

void DoorbellPages::wake() {
  for (auto& [function, page] : pages_) page.set_asleep(false);
}

}  // namespace meridian
