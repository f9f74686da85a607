// SPDX-License-Identifier: Apache-2.0
#include "stream/inner_streams.hpp"

#include <algorithm>
#include <cstring>

namespace meridian {

void InnerStreams::reset() {
  to_host_ = from_host_ = Frame{};
  waiting_.clear();
  completions_ = 0;
}

void InnerStreams::begin(Frame& frame, std::uint64_t now_ps) const {
  if (frame.begun) return;
  frame.begins_ps = now_ps;
  frame.begun = true;
  frame.watched = static_cast<bool>(tap_);
}

void InnerStreams::add(Frame& frame, WidePin data, std::size_t unused) {
  if (!frame.watched) return;
  const std::size_t before = frame.bytes.size();
  const std::size_t count = 4 * data.size() - std::min(unused, 4 * data.size());
  frame.bytes.resize(before + count);
  if (count != 0) std::memcpy(frame.bytes.data() + before, data.data(), count);
}

void InnerStreams::match(std::uint64_t now_ps) {
  for (; completions_ != 0 && !waiting_.empty(); --completions_) {
    if (tap_ && waiting_.front().watched) tap_(true, now_ps, waiting_.front().bytes);
    waiting_.pop_front();
  }
}

void InnerStreams::sample(std::uint64_t now_ps) {
  if (pins_.h2c_tvalid != 0) {
    begin(from_host_, now_ps);
    if (pins_.h2c_tready != 0) {
      add(from_host_, pins_.h2c_tdata, pins_.h2c_zero_byte != 0 ? 4 * pins_.h2c_tdata.size() : pins_.h2c_mty);
      if (pins_.h2c_tlast != 0) {
        const Frame frame = std::exchange(from_host_, {});
        if (tap_ && frame.watched) tap_(false, frame.begins_ps, frame.bytes);
      }
    }
  }
  if (pins_.c2h_tvalid != 0 && pins_.c2h_tready != 0) {
    begin(to_host_, now_ps);
    add(to_host_, pins_.c2h_tdata, pins_.c2h_tlast != 0 ? pins_.c2h_mty : 0);
    if (pins_.c2h_tlast != 0) waiting_.push_back(std::exchange(to_host_, {}));
  }
  if (pins_.cmpt_tvalid != 0 && pins_.cmpt_tready != 0) ++completions_;
  match(now_ps);
}

}  // namespace meridian
