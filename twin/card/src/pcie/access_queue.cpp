// SPDX-License-Identifier: Apache-2.0
#include "pcie/access_queue.hpp"

#include <algorithm>
#include <utility>

namespace meridian::pcie {

void AccessQueue::add(const Access& access) {
  packets_.push_back({encode(access), !access.data.empty()});
  writes_added_ += packets_.back().posted;
}

void AccessQueue::tick(bool credit) {
  if (credit && !delivers_ && credits_ < most_credits) ++credits_;
  if (!credit && delivers_ && credits_ > 0) --credits_;
  delivers_ = false;
}

const Beat* AccessQueue::next() {
  if (!begun_) {
    const auto first = std::find_if(packets_.begin(), packets_.end(),
                                    [this](const Packet& packet) { return packet.posted || credits_ != 0; });
    if (first == packets_.end()) return nullptr;
    Packet packet = std::move(*first);
    packets_.erase(first);
    packets_.push_front(std::move(packet));
    begun_ = true;
    delivers_ = !packets_.front().posted;
  }
  return &packets_.front().beats[beat_];
}

void AccessQueue::pop() {
  if (++beat_ != packets_.front().beats.size()) return;
  writes_taken_ += packets_.front().posted;
  packets_.pop_front();
  beat_ = 0;
  begun_ = false;
}

void AccessQueue::reset() {
  *this = {};
}

}  // namespace meridian::pcie
