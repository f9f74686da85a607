// SPDX-License-Identifier: Apache-2.0
#include "pcie/completion_queue.hpp"

#include <algorithm>

namespace meridian::pcie {

void CompletionQueue::add(const Completion& completion, std::uint64_t behind) {
  auto read = std::find_if(reads_.begin(), reads_.end(),
                           [&](const Read& one) { return one.tag == completion.tag && !one.whole; });
  if (read == reads_.end()) read = reads_.insert(reads_.end(), {completion.tag, false, {}});
  read->packets.push_back({encode(completion), behind});
  read->whole = completion.ends();
}

std::size_t CompletionQueue::packets(std::uint8_t tag) const {
  std::size_t sum = 0;
  for (const Read& read : reads_)
    if (read.tag == tag) sum += read.packets.size();
  return sum;
}

const Beat* CompletionQueue::next(std::uint64_t taken) {
  if (!begun_) {
    if (reads_.empty()) return nullptr;
    read_ = random_.below(std::min(mixed, static_cast<std::uint32_t>(reads_.size())));
    // The rest of one may still have to be added.
    if (reads_[read_].packets.empty() || reads_[read_].packets.front().behind > taken) return nullptr;
    begun_ = true;
  }
  return &reads_[read_].packets.front().beats[beat_];
}

void CompletionQueue::pop() {
  Read& read = reads_[read_];
  if (++beat_ != read.packets.front().beats.size()) return;
  read.packets.pop_front();
  if (read.packets.empty() && read.whole) reads_.erase(reads_.begin() + static_cast<std::ptrdiff_t>(read_));
  beat_ = 0;
  begun_ = false;
}

void CompletionQueue::reset() {
  reads_.clear();
  beat_ = 0;
  begun_ = false;
}

}  // namespace meridian::pcie
