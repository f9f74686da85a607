// SPDX-License-Identifier: Apache-2.0
#include "pcie/block.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/error.hpp"

namespace meridian::pcie {

namespace {

constexpr unsigned first_vf = 4;
constexpr unsigned master_bit = 2;  // of the four of a PF on cfg_function_status
constexpr unsigned all_ready = 0xf;
constexpr unsigned passed_a_cycle = 2;

/// A sequence number's bits in s_axis_rq_tuser.
unsigned number_of(std::uint64_t user) {
  return static_cast<unsigned>((user >> 24 & 0xf) | (user >> 60 & 3) << 4);
}

template <typename Word>
void set_bits(Word& word, unsigned shift, unsigned mask, unsigned value) {
  word = static_cast<Word>((word & ~(mask << shift)) | value << shift);
}

/// Of the two bits of a VF on cfg_vf_status.
constexpr unsigned vf_enable_bit = 0, vf_master_bit = 1;
void set_vf_status(WidePin pin, unsigned vf, unsigned bit, bool value) {
  set_bits(pin[(vf - first_vf) / 16], 2 * (vf - first_vf) % 32 + bit, 1, value);
}

/// A pin of each PF, and of each VF.
void set_pin(unsigned function, Pin pfs, WidePin vfs, bool value) {
  if (function < first_vf)
    set_bits(pfs, function, 1, value);
  else
    set_bits(vfs[(function - first_vf) / 32], (function - first_vf) % 32, 1, value);
}

void take(std::vector<std::uint32_t>& packet, WidePin data, unsigned keep, bool last) {
  const bool whole = keep != 0 && std::has_single_bit(keep + 1);
  if (!whole || (!last && keep != 0xff)) throw CheckError("pcie: double words are missing in a beat");
  packet.insert(packet.end(), data.begin(), data.begin() + std::popcount(keep));
}

void show(const Beat& beat, WidePin data, Pin keep, WidePin user, Pin last) {
  std::copy(beat.data.begin(), beat.data.end(), data.begin());
  std::copy(beat.user.begin(), beat.user.end(), user.begin());
  keep = beat.keep;
  last = beat.last;
}

}  // namespace

Block::Block(const PciePins& pins, std::uint64_t seed) : pins_(pins), random_(seed), completions_(seed ^ 0xc0) {
  reset();
}

void Block::reset() {
  accesses_.reset();
  completions_.reset();
  steady_answer_.reset();
  steady_request_.reset();
  answer_.clear();
  request_.clear();
  inside_.clear();
  taken_ = passed_ = 0;
  resets_to_begin_.clear();
  resets_.clear();
  resets_done_.clear();
  access_shown_ = completion_shown_ = false;
  pins_.cq_tvalid = pins_.rc_tvalid = pins_.cc_tready = pins_.rq_tready = 0;
  pins_.rq_seq_num_vld0 = pins_.rq_seq_num_vld1 = 0;
  pins_.function_status = 0;
  pins_.flr_in_process = pins_.msix_enable = pins_.msix_mask = 0;
  for (WidePin pin : {pins_.vf_status, pins_.vf_flr_in_process, pins_.vf_msix_enable, pins_.vf_msix_mask})
    std::fill(pin.begin(), pin.end(), 0U);
}

void Block::set_sizes(unsigned max_payload, unsigned max_read_request) {
  const auto encoded = [](unsigned bytes) { return static_cast<std::uint8_t>(std::countr_zero(bytes) - 7); };
  pins_.max_payload = encoded(std::bit_floor(max_payload));
  pins_.max_read_req = encoded(std::bit_floor(max_read_request));
}

void Block::set_vf_enable(unsigned vf, bool enabled) {
  set_vf_status(pins_.vf_status, vf, vf_enable_bit, enabled);
}

void Block::set_master(unsigned function, bool enabled) {
  if (function < first_vf)
    set_bits(pins_.function_status, 4 * function + master_bit, 1, enabled);
  else
    set_vf_status(pins_.vf_status, function, vf_master_bit, enabled);
}

void Block::set_msix(unsigned function, bool enabled) {
  set_pin(function, pins_.msix_enable, pins_.vf_msix_enable, enabled);
}

void Block::begin_reset(unsigned function) {
  resets_to_begin_.push_back({function, reset_delay});
}

bool Block::idle() const {
  return accesses_.size() == 0 && completions_.empty() && request_.empty() && inside_.empty() && resets_.empty() &&
         resets_to_begin_.empty();
}

std::optional<unsigned> Block::pop_reset() {
  // What it has sent before leaves before.
  if (resets_done_.empty() || resets_done_.front().behind > passed_) return std::nullopt;
  const unsigned function = resets_done_.front().function;
  resets_done_.pop_front();
  return function;
}

std::string Block::waits_for() const {
  if (accesses_.size() != 0) return "m_axis_cq_tready";
  if (!completions_.empty()) return "m_axis_rc_tready";
  if (!request_.empty()) return "the end of a request";
  if (!inside_.empty()) return "a request on its way to the link";
  if (!resets_to_begin_.empty()) return "the beginning of a function level reset";
  return resets_.empty() ? std::string() : "cfg_flr_done of function " + std::to_string(resets_.front());
}

void Block::sample() {
  accesses_.tick((pins_.cq_np_req & 1) != 0);
  if (access_shown_ && pins_.cq_tready != 0) {
    accesses_.pop();
    access_shown_ = false;
  }
  if (completion_shown_ && pins_.rc_tready != 0) {
    completions_.pop();
    completion_shown_ = false;
  }
  sample_answers();
  sample_requests();
  const unsigned vf_done = pins_.vf_flr_done != 0 ? pins_.vf_flr_func_num : 0;
  std::erase_if(resets_, [&](unsigned function) {
    const bool done = function < first_vf ? (pins_.flr_done >> function & 1) != 0 : vf_done == function;
    if (done) {
      set_pin(function, pins_.flr_in_process, pins_.vf_flr_in_process, false);
      resets_done_.push_back({function, taken_});
    }
    return done;
  });
}

void Block::sample_answers() {
  steady_answer_.check(pins_.cc_tvalid != 0, pins_.cc_tready != 0, pins_.cc_tdata, pins_.cc_tkeep, pins_.cc_tlast != 0,
                       0);
  if (pins_.cc_tvalid == 0 || pins_.cc_tready == 0) return;
  take(answer_, pins_.cc_tdata, pins_.cc_tkeep, pins_.cc_tlast != 0);
  if (pins_.cc_tlast == 0) return;
  const AccessAnswer answer = decode_answer(answer_);
  answer_.clear();
  if (on_answer) on_answer(answer);
}

void Block::sample_requests() {
  steady_request_.check(pins_.rq_tvalid != 0, pins_.rq_tready != 0, pins_.rq_tdata, pins_.rq_tkeep, pins_.rq_tlast != 0,
                        pins_.rq_tuser);
  if (!request_.empty() && pins_.rq_tvalid == 0) throw CheckError("pcie: s_axis_rq has a gap within a request");
  if (pins_.rq_tvalid == 0 || pins_.rq_tready == 0) return;
  if (request_.empty()) request_user_ = pins_.rq_tuser;
  take(request_, pins_.rq_tdata, pins_.rq_tkeep, pins_.rq_tlast != 0);
  if (pins_.rq_tlast == 0) return;
  Request request = decode_request(request_, request_user_);
  request_.clear();
  if (on_taken) on_taken(request);
  // Now and then it stays for long.
  const unsigned cycles = steady_ ? 0 : random_.below(random_.below(8) == 0 ? 64 : 8);
  const std::uint64_t earliest = inside_.empty() ? 0 : inside_.back().until;
  taken_ += request.write;
  inside_.push_back({std::move(request), std::max(earliest, cycle_ + cycles), number_of(request_user_)});
}

/// The pins tell of up to two requests a cycle.
void Block::pass_requests() {
  const std::array<std::pair<Pin, Pin>, passed_a_cycle> pins{
      {{pins_.rq_seq_num_vld0, pins_.rq_seq_num0}, {pins_.rq_seq_num_vld1, pins_.rq_seq_num1}}};
  for (auto [valid, number] : pins) {
    valid = !inside_.empty() && inside_.front().until <= cycle_ && (!hold_ || steady_);
    if (valid == 0) continue;
    number = static_cast<std::uint8_t>(inside_.front().number);
    Request request = std::move(inside_.front().request);
    inside_.pop_front();
    passed_ += request.write;
    if (on_request) on_request(std::move(request));
  }
}

void Block::drive() {
  std::erase_if(resets_to_begin_, [this](Beginning& reset) {
    if (--reset.cycles != 0) return false;
    set_pin(reset.function, pins_.flr_in_process, pins_.vf_flr_in_process, true);
    resets_.push_back(reset.function);
    return true;
  });
  pass_requests();
  ++cycle_;
  drive_accesses();
  drive_completions();
  // Each has cycles in which it takes nothing, as the block has them.
  pins_.cc_tready = steady_ || random_.below(8) != 0 ? all_ready : 0;
  pins_.rq_tready = !hold_ && (steady_ || random_.below(16) != 0) ? all_ready : 0;
}

/// A beat that is shown stands until it is taken.
void Block::drive_accesses() {
  if (access_shown_) return;
  const Beat* beat = gap() ? nullptr : accesses_.next();
  access_shown_ = beat != nullptr;
  pins_.cq_tvalid = access_shown_;
  if (access_shown_) show(*beat, pins_.cq_tdata, pins_.cq_tkeep, pins_.cq_tuser, pins_.cq_tlast);
}

void Block::drive_completions() {
  if (completion_shown_) return;
  const Beat* beat = gap() ? nullptr : completions_.next(accesses_.writes_taken());
  completion_shown_ = beat != nullptr;
  pins_.rc_tvalid = completion_shown_;
  if (completion_shown_) show(*beat, pins_.rc_tdata, pins_.rc_tkeep, pins_.rc_tuser, pins_.rc_tlast);
}

}  // namespace meridian::pcie
