// SPDX-License-Identifier: Apache-2.0
#include "stream/qdma_c2h.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.hpp"

namespace meridian {

namespace {

constexpr std::size_t early_limit = 64;  // completions the IP holds for frames to come
constexpr unsigned message_limit = 65535;

/// What every public driver looks for in the completion of a frame, its first 8 bytes (CompletionLayout.scala).
std::uint64_t entry_of(std::uint64_t length, std::uint64_t packet_id) {
  constexpr std::uint64_t descriptor_used = 1U << 3, end_of_frame = 1U << 20;
  return descriptor_used | (length << 4) | end_of_frame | (length << 32) | (packet_id << 48);
}

bool odd_parity(std::uint32_t word, bool parity) {
  return (std::popcount(word) + (parity ? 1 : 0)) % 2 == 1;
}

}  // namespace

QdmaC2h::QdmaC2h(C2hPins data, CmptPins completion, C2hStatusPins status, TmStatusPins tm, std::uint64_t seed)
    : data_(data), completion_(completion), status_pins_(status), tm_(tm), random_(seed), queue_(queues) {}

void QdmaC2h::fail(const std::string& what, std::uint64_t now_ps) const {
  throw CheckError("qdma c2h at " + std::to_string(now_ps) + " ps: " + what);
}

void QdmaC2h::post(unsigned queue, unsigned count) {
  if (queue >= queues || count == 0 || count > message_limit)
    throw InputError("post: choose a queue below 2048 and a count of 1 to 65535");
  Queue& q = queue_[queue];
  q.enabled = true;
  q.free += count;
  q.pidx = static_cast<std::uint16_t>(q.pidx + count);
  messages_.push_back(
      {static_cast<std::uint16_t>(queue), static_cast<std::uint16_t>(count), q.pidx, true, true, false});
}

void QdmaC2h::stop(unsigned queue) {
  if (queue >= queues) throw InputError("stop: choose a queue below 2048");
  Queue& q = queue_[queue];
  messages_.push_back({static_cast<std::uint16_t>(queue), static_cast<std::uint16_t>(std::min(q.free, message_limit)),
                       q.pidx, true, false, true});
  const unsigned size = q.size;
  q = Queue{};
  q.size = size;
}

void QdmaC2h::set_buffer_size(unsigned queue, unsigned bytes) {
  if (queue >= queues) throw InputError("buffer size: choose a queue below 2048");
  queue_[queue].size = bytes;
}

void QdmaC2h::tell_h2c(unsigned queue, unsigned count) {
  messages_.push_back({static_cast<std::uint16_t>(queue), static_cast<std::uint16_t>(count), 0, false, true, false});
}

void QdmaC2h::report(unsigned queue, bool drop, bool error) {
  status_.push_back({static_cast<std::uint16_t>(queue), drop, error});
  if (drop || error)
    ++statistics_.dropped;
  else
    ++statistics_.frames;
}

void QdmaC2h::set_ready_percent(unsigned data, unsigned completion) {
  if (data == 0 || data > 100 || completion == 0 || completion > 100)
    throw InputError("ready: choose 1 to 100 percent (use stall to stop)");
  data_ready_ = data;
  completion_ready_ = completion;
}

std::optional<C2hFrame> QdmaC2h::pop() {
  if (done_.empty()) return std::nullopt;
  C2hFrame frame = std::move(done_.front());
  done_.pop_front();
  return frame;
}

std::string QdmaC2h::waits_for() const {
  if (in_frame_) return "the rest of a c2h frame for queue " + std::to_string(control_.qid);
  if (!waiting_.empty()) return "the completion of c2h frame number " + std::to_string(waiting_.front().packet_id);
  if (!early_.empty()) return "the c2h frame number " + std::to_string(early_.front().packet_id) + " of a completion";
  if (!messages_.empty()) return "tm_dsc_sts_rdy";
  return {};
}

void QdmaC2h::reset() {
  for (Queue& q : queue_) {
    const unsigned size = q.size;
    q = Queue{};
    q.size = size;
  }
  waiting_.clear();
  early_.clear();
  messages_.clear();
  status_.clear();
  packet_id_ = completion_id_ = 0;
  in_frame_ = held_ = completion_held_ = starved_ = false;
  data_.tready = completion_.tready = 0;
  status_pins_.valid = tm_.vld = 0;
}

QdmaC2h::Control QdmaC2h::control() const {
  return {data_.ctrl_marker, data_.ctrl_port_id, data_.ctrl_has_cmpt, data_.ctrl_len, data_.ctrl_qid};
}

void QdmaC2h::check_held(std::uint64_t now_ps) {
  const bool valid = data_.tvalid != 0;
  if (held_) {
    if (!valid) fail("tvalid fell before tready", now_ps);
    if (control() != held_control_ || data_.mty != held_mty_ || data_.tlast != held_last_ ||
        !std::equal(held_data_.begin(), held_data_.end(), data_.tdata.begin()))
      fail("a beat changed while it waited for tready", now_ps);
  }
  held_ = valid && data_.tready == 0;
  if (held_) {
    ++statistics_.stalled;
    held_control_ = control();
    held_mty_ = data_.mty;
    held_last_ = data_.tlast;
    held_data_.assign(data_.tdata.begin(), data_.tdata.end());
  }

  const bool completion_valid = completion_.tvalid != 0;
  if (completion_held_) {
    if (!completion_valid) fail("completion: tvalid fell before tready", now_ps);
    if (!std::equal(held_entry_.begin(), held_entry_.end(), completion_.tdata.begin()))
      fail("completion: it changed while it waited for tready", now_ps);
  }
  completion_held_ = completion_valid && completion_.tready == 0;
  if (completion_held_) std::copy_n(completion_.tdata.begin(), held_entry_.size(), held_entry_.begin());
}

void QdmaC2h::take_beat(std::uint64_t now_ps) {
  const std::size_t width = 4 * data_.tdata.size();
  if (!in_frame_) {
    control_ = control();
    if (control_.marker != 0) fail("ctrl_marker is set", now_ps);
    if (control_.has_cmpt == 0) fail("ctrl_has_cmpt is 0: every frame has a completion here", now_ps);
    if (control_.port_id != 0) fail("ctrl_port_id is not 0", now_ps);
    if (control_.len == 0) fail("ctrl_len is 0", now_ps);
    if (control_.qid >= queues) fail("ctrl_qid is beyond 2047", now_ps);
    frame_ = C2hFrame{};
    frame_.queue = control_.qid;
    frame_.packet_id = ++packet_id_;
    frame_.t_first_ps = now_ps;
    frame_.bytes.reserve(control_.len + width);
    in_frame_ = true;
  } else if (control() != control_) {
    fail("ctrl_* changed inside a frame", now_ps);
  }
  ++statistics_.beats;
  const bool last = data_.tlast != 0;
  if (last && data_.mty >= width) fail("mty is not below the width of a beat", now_ps);
  const auto* beat = reinterpret_cast<const std::uint8_t*>(data_.tdata.data());
  const auto* end = beat + (last ? width - data_.mty : width);
  if (std::any_of(end, beat + width, [](std::uint8_t byte) { return byte != 0; }))
    fail("bytes behind the end of a frame are not 0: they may be another's", now_ps);
  frame_.bytes.insert(frame_.bytes.end(), beat, end);
  if (!last) {
    if (frame_.bytes.size() >= control_.len) fail("a frame goes on beyond ctrl_len", now_ps);
    return;
  }
  if (frame_.bytes.size() != control_.len)
    fail("ctrl_len is " + std::to_string(control_.len) + " but the frame has " + std::to_string(frame_.bytes.size()) +
             " bytes",
         now_ps);
  in_frame_ = false;
  frame_.t_ps = now_ps;
  waiting_.push_back(std::move(frame_));
}

void QdmaC2h::take_completion(std::uint64_t now_ps) {
  constexpr unsigned size_16_bytes = 1;
  constexpr unsigned has_payload = 3;
  const std::uint16_t expected = ++completion_id_;
  if (completion_.size > size_16_bytes) fail("completion: size is neither 0 (8 bytes) nor 1 (16 bytes)", now_ps);
  if (completion_.ctrl_cmpt_type != has_payload) fail("completion: type is not 3 (has payload)", now_ps);
  if (completion_.ctrl_marker != 0) fail("completion: marker is set", now_ps);
  if (completion_.ctrl_port_id != 0) fail("completion: port_id is not 0", now_ps);
  if (completion_.ctrl_wait_pld_pkt_id != expected)
    fail("completion: waits for frame " + std::to_string(completion_.ctrl_wait_pld_pkt_id) + ", expected " +
             std::to_string(expected),
         now_ps);
  CompletionEntry entry;
  entry.bytes = 8U << completion_.size;
  for (unsigned word = 0; word < completion_.tdata.size(); ++word) {
    if (!odd_parity(completion_.tdata[word], ((completion_.dpar >> word) & 1) != 0))
      fail("completion: parity of word " + std::to_string(word) + " is wrong", now_ps);
    if (4 * word < entry.bytes)
      entry.words[word / 2] |= std::uint64_t{completion_.tdata[word]} << (32 * (word % 2));
    else if (completion_.tdata[word] != 0)
      fail("completion: word " + std::to_string(word) + " is behind its end and not 0", now_ps);
  }
  if (early_.size() >= early_limit) fail("completion: 64 of them came before their frames", now_ps);
  early_.push_back({completion_.ctrl_qid, expected, entry});
}

void QdmaC2h::match(std::uint64_t now_ps) {
  starved_ = false;
  while (!waiting_.empty() && !early_.empty()) {
    C2hFrame& frame = waiting_.front();
    const Completion& completion = early_.front();
    if (frame.packet_id != completion.packet_id) fail("frames and completions are not one to one", now_ps);
    if (frame.queue != completion.qid)
      fail("completion for queue " + std::to_string(completion.qid) + " of a frame for queue " +
               std::to_string(frame.queue),
           now_ps);
    if (completion.entry.words[0] != entry_of(frame.bytes.size(), frame.packet_id))
      fail("completion: its entry does not tell of frame " + std::to_string(frame.packet_id) + ", " +
               std::to_string(frame.bytes.size()) + " bytes",
           now_ps);
    if (raw_) {
      frame.completion = completion.entry;
      frame.t_ps = now_ps;
      if (tap_) tap_(frame);
      done_.push_back(std::move(frame));
      waiting_.pop_front();
      early_.pop_front();
      continue;
    }
    Queue& q = queue_[frame.queue];
    const auto length = static_cast<unsigned>(frame.bytes.size());
    const unsigned need = q.size == 0 ? 1 : (length + q.size - 1) / q.size;
    const bool drop = !unlimited_ && q.free < need;
    if (drop && q.enabled && no_buffer_ == NoBuffer::fail)
      fail("a frame of " + std::to_string(length) + " bytes for queue " + std::to_string(frame.queue) + ", which has " +
               std::to_string(q.free) + " buffers",
           now_ps);
    if (drop && q.enabled && no_buffer_ == NoBuffer::stall) {
      starved_ = true;
      return;
    }
    status_.push_back({frame.queue, drop, false});
    if (drop) {
      ++statistics_.dropped;
    } else {
      if (!unlimited_) q.free -= need;
      frame.completion = completion.entry;
      frame.t_ps = now_ps;
      ++statistics_.frames;
      statistics_.bytes += frame.bytes.size();
      statistics_.last_ps = now_ps;
      if (tap_) tap_(frame);
      done_.push_back(std::move(frame));
    }
    waiting_.pop_front();
    early_.pop_front();
  }
}

void QdmaC2h::sample(std::uint64_t now_ps) {
  check_held(now_ps);
  if (data_.tvalid != 0 && data_.tready != 0) take_beat(now_ps);
  if (completion_.tvalid != 0 && completion_.tready != 0) take_completion(now_ps);
  match(now_ps);
  if (tm_.vld != 0 && tm_.rdy != 0) messages_.pop_front();
}

void QdmaC2h::drive() {
  data_.tready = !stall_ && !starved_ && random_.percent(data_ready_);
  completion_.tready = !stall_ && !starved_ && random_.percent(completion_ready_);

  status_pins_.valid = !status_.empty();
  if (!status_.empty()) {
    status_pins_.qid = status_.front().qid;
    status_pins_.drop = status_.front().drop;
    status_pins_.last = 1;
    status_pins_.cmp = !status_.front().drop;
    status_pins_.error = status_.front().error;
    status_.pop_front();
  }

  tm_.vld = !messages_.empty();
  if (!messages_.empty()) {
    const DescriptorMessage& message = messages_.front();
    tm_.qid = message.qid;
    tm_.avl = message.avl;
    tm_.pidx = message.pidx;
    tm_.dir = message.c2h;
    tm_.qen = message.qen;
    tm_.qinv = message.qinv;
    tm_.port_id = tm_.byp = tm_.mm = tm_.irq_arm = 0;
    tm_.error = message.error;
  }
}

}  // namespace meridian
