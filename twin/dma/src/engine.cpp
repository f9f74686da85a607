// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"

#include <verilated.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "VDmaEngine.h"

namespace meridian {

namespace {

constexpr unsigned beat_words = 8;
constexpr unsigned completion_words = 3;
constexpr unsigned memory_read = 0, memory_write = 1;
constexpr std::uint32_t requester = 0x0108;
constexpr std::uint32_t bar_address = 0xd0000000;
constexpr unsigned first_vf = 4;
constexpr unsigned vf_words = 8, vf_status_words = 16;  // of 252 VFs, a bit or two each
constexpr unsigned access_limit = 20'000;               // cycles
constexpr unsigned quiet_cycles = 1000, settle_limit = 2'000'000;
constexpr unsigned min_max_read = 128, min_payload = 128;  // bytes
constexpr unsigned beat_bytes = 32;

unsigned field(const std::vector<std::uint32_t>& words, unsigned low, unsigned bits) {
  return (words[low / 32] >> (low % 32)) & ((1U << bits) - 1);
}

void check(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("completion: " + what);
}

/// A pin of each PF and of each VF.
template <typename Pf, typename Vf>
void set_bit(unsigned function, Pf& pfs, Vf* vfs, bool value) {
  const auto set = [value](auto& word, unsigned bit) {
    word = static_cast<std::remove_reference_t<decltype(word)>>(value ? word | 1U << bit : word & ~(1U << bit));
  };
  if (function < first_vf)
    set(pfs, function);
  else
    set(vfs[(function - first_vf) / 32], (function - first_vf) % 32);
}

}  // namespace

Engine::Engine(std::uint64_t seed)
    : host(seed + 77, min_max_read << max_read_encoding(seed), min_payload << max_payload_encoding(seed)),
      c2h(seed + 99),
      context_(std::make_unique<VerilatedContext>()),
      random_(seed * 2 + 1) {
  context_->randReset(2);
  context_->randSeed(static_cast<int>(seed + 1));
  top_ = std::make_unique<VDmaEngine>(context_.get());
  top_->reset = 1;
  top_->m_axis_cq_tvalid = 0;
  top_->s_axis_cc_tready = 0;
  top_->cfg_function_status = 0;
  for (unsigned i = 0; i < vf_status_words; ++i) top_->cfg_vf_status[i] = 0;
  top_->cfg_flr_in_process = 0;
  top_->cfg_interrupt_msix_enable = top_->cfg_interrupt_msix_mask = 0;
  for (unsigned i = 0; i < vf_words; ++i)
    top_->cfg_vf_flr_in_process[i] = top_->cfg_interrupt_msix_vf_enable[i] = top_->cfg_interrupt_msix_vf_mask[i] = 0;
  top_->cfg_max_payload = static_cast<std::uint8_t>(max_payload_encoding(seed));
  top_->cfg_max_read_req = static_cast<std::uint8_t>(max_read_encoding(seed));
  top_->s_axis_rq_tready = 0;
  top_->pcie_rq_seq_num_vld0 = top_->pcie_rq_seq_num_vld1 = 0;
  top_->m_axis_rc_tvalid = 0;
  top_->io_qdma_dsc_crdt_in_valid = 0;
  top_->io_qdma_usr_flr_done_vld = 0;
  // No test accesses BAR2.
  top_->io_axil_aw_ready = top_->io_axil_w_ready = top_->io_axil_ar_ready = 0;
  top_->io_axil_b_valid = top_->io_axil_r_valid = 0;
  run(4);
  top_->reset = 0;
}

Engine::~Engine() = default;

/// As many cycles of a timer as it is told that nothing happens in, now and then. With 1 an edge is a cycle.
std::uint32_t Engine::skipped() const {
  constexpr std::uint32_t margin = 16, never = ~std::uint32_t{0};
  const std::uint32_t quiet = top_->sim_quiet_host;
  const bool may = top_->io_idle && quiet != never && quiet > 2 * margin && !top_->reset && host.open() == 0 &&
                   grants_.empty() && c2h.to_send() == 0 && hold_requests == 0 && since_skip_ > 2;
  return may && (random_ >> 44 & 15) == 0 ? quiet - margin : 1;
}

void Engine::tick() {
  top_->sim_skip_host = skipped();
  cycles_ += top_->sim_skip_host;
  last_event_ += top_->sim_skip_host - 1;
  since_skip_ = top_->sim_skip_host > 1 ? 0 : since_skip_ + 1;
  if (since_skip_ == 0) ++skips;
  top_->clk = 0;
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  top_->s_axis_cc_tready = (random_ & 3) != 0 ? 0xf : 0;
  top_->io_qdma_usr_flr_done_vld = !to_answer_.empty() && (answers_now || (answers_resets && (random_ >> 8 & 7) == 0));
  answers_now = false;
  if (top_->io_qdma_usr_flr_done_vld) {
    top_->io_qdma_usr_flr_done_fnc = static_cast<std::uint8_t>(to_answer_.front());
    to_answer_.erase(to_answer_.begin());
  }
  const bool completion = drive_streams();
  top_->eval();
  // What registers see at the edge.
  const bool beat = top_->s_axis_cc_tvalid && top_->s_axis_cc_tready != 0;
  if (!top_->reset) {
    const bool moves = top_->s_axis_cc_tvalid || top_->s_axis_rq_tvalid || top_->io_qdma_m_axis_h2c_valid ||
                       top_->io_qdma_tm_dsc_sts_valid || top_->io_qdma_axis_c2h_status_valid ||
                       top_->io_qdma_usr_flr_set || top_->io_doorbell_valid || top_->io_interrupt_valid;
    // What comes out is seen in `idle` two cycles later: so it was idle with something still to come.
    if (moves && top_->io_idle) throw std::runtime_error("the engine was idle, and then moved by itself");
    if (top_->io_idle) ++idle_cycles;
    sample_streams(completion);
    if (top_->io_interrupt_valid) {
      interrupts.emplace_back(top_->io_interrupt_payload_function, top_->io_interrupt_payload_vector);
      if (on_interrupt) on_interrupt(interrupts.back());
      last_event_ = cycles_;
    }
    if (top_->io_doorbell_valid) doorbells.push_back(top_->io_doorbell_payload_queue);
    if (top_->io_qdma_usr_flr_set) {
      resets.push_back(top_->io_qdma_usr_flr_fnc);
      to_answer_.push_back(top_->io_qdma_usr_flr_fnc);
    }
    if (beat) {
      const int count = std::popcount(top_->s_axis_cc_tkeep);
      for (int i = 0; i < count; ++i) arriving_.push_back(top_->s_axis_cc_tdata[i]);
      if (top_->s_axis_cc_tlast) take_completion();
    }
  }
  top_->clk = 1;
  top_->eval();
}

bool Engine::drive_streams() {
  top_->s_axis_rq_tready = takes_requests && hold_requests == 0 && (random_ >> 24 & 3) != 0 ? 0xf : 0;
  if (hold_requests != 0) last_event_ = cycles_;
  if (hold_requests != 0) --hold_requests;
  if (top_->s_axis_rq_tready != 0) host.offer();
  top_->io_qdma_m_axis_h2c_ready = takes_frames && (random_ >> 28 & 7) != 0;
  top_->io_qdma_tm_dsc_sts_ready = (random_ >> 32 & 3) == 0;
  top_->io_qdma_dsc_crdt_in_valid = !grants_.empty();
  if (!grants_.empty()) {
    top_->io_qdma_dsc_crdt_in_payload_qid = static_cast<std::uint16_t>(grants_.front().first);
    top_->io_qdma_dsc_crdt_in_payload_crdt = static_cast<std::uint16_t>(grants_.front().second);
    top_->io_qdma_dsc_crdt_in_payload_dir = 0;
    top_->io_qdma_dsc_crdt_in_payload_fence = 0;
  }
  pass_request();
  c2h.drive(*top_, top_->reset == 0);
  // A completion does not pass a write of the host that waits (PG213, "Receive Transaction Ordering").
  const RequesterHost::Beat* beat = top_->reset || (writes_ && !completes_) ? nullptr : host.next();
  top_->m_axis_rc_tvalid = beat != nullptr;
  if (beat == nullptr) return false;
  std::copy(beat->data.begin(), beat->data.end(), &top_->m_axis_rc_tdata[0]);
  top_->m_axis_rc_tkeep = beat->keep;
  top_->m_axis_rc_tuser[0] = static_cast<std::uint32_t>(beat->user);
  top_->m_axis_rc_tuser[1] = static_cast<std::uint32_t>(beat->user >> 32);
  top_->m_axis_rc_tuser[2] = 0;
  top_->m_axis_rc_tlast = beat->last;
  return true;
}

/// One at most, on either pair of pins.
void Engine::pass_request() {
  const bool passes = !inside_.empty() && inside_.front().until <= cycles_, second = (random_ >> 40 & 1) != 0;
  top_->pcie_rq_seq_num_vld0 = passes && !second;
  top_->pcie_rq_seq_num_vld1 = passes && second;
  if (!passes) return;
  top_->pcie_rq_seq_num0 = top_->pcie_rq_seq_num1 = static_cast<std::uint8_t>(inside_.front().number);
  passed_ += inside_.front().number;  // RequesterHost sees that it is 1 of a write and 0 of a read
  inside_.pop_front();
}

void Engine::sample_streams(bool completion) {
  if (completion && top_->m_axis_rc_tready) {
    completes_ = !top_->m_axis_rc_tlast;
    host.pop();
    last_event_ = cycles_;
  }
  if (c2h.sample(*top_)) last_event_ = cycles_;
  if (host.in_request() && !top_->s_axis_rq_tvalid) throw std::runtime_error("request: it has a gap");
  if (top_->s_axis_rq_tvalid && top_->s_axis_rq_tready != 0) {
    RequesterHost::Beat beat;
    std::copy_n(&top_->s_axis_rq_tdata[0], beat_words, beat.data.begin());
    beat.keep = top_->s_axis_rq_tkeep;
    beat.user = top_->s_axis_rq_tuser;
    beat.last = top_->s_axis_rq_tlast;
    if (!host.in_request()) {
      const std::uint64_t until = inside_.empty() ? 0 : inside_.back().until;
      inside_.push_back({std::max(until, cycles_ + (random_ >> 48 & 31)), static_cast<unsigned>(beat.user >> 24 & 15)});
      taken_ += inside_.back().number;
    }
    host.take(beat);
    last_event_ = cycles_;
  }
  if (top_->io_qdma_dsc_crdt_in_valid && top_->io_qdma_dsc_crdt_in_ready) {
    grants_.pop_front();
    last_event_ = cycles_;
  }
  const bool offers = top_->io_qdma_m_axis_h2c_valid;
  if (frame_waits_ && (!offers || top_->io_qdma_m_axis_h2c_payload_tuser_qid != waiting_queue_))
    throw std::runtime_error("m_axis_h2c: a beat that was offered is taken back");
  frame_waits_ = offers && !top_->io_qdma_m_axis_h2c_ready;
  waiting_queue_ = top_->io_qdma_m_axis_h2c_payload_tuser_qid;
  if (offers && top_->io_qdma_m_axis_h2c_ready) take_frame_beat();
  if (top_->io_qdma_tm_dsc_sts_valid && top_->io_qdma_tm_dsc_sts_ready) {
    messages.push_back({static_cast<std::uint16_t>(top_->io_qdma_tm_dsc_sts_payload_qid),
                        static_cast<std::uint16_t>(top_->io_qdma_tm_dsc_sts_payload_avl),
                        static_cast<std::uint16_t>(top_->io_qdma_tm_dsc_sts_payload_pidx),
                        top_->io_qdma_tm_dsc_sts_payload_dir != 0, top_->io_qdma_tm_dsc_sts_payload_qen != 0,
                        top_->io_qdma_tm_dsc_sts_payload_qinv != 0, top_->io_qdma_tm_dsc_sts_payload_error != 0});
    last_event_ = cycles_;
  }
}

void Engine::take_frame_beat() {
  last_event_ = cycles_;
  const unsigned queue = top_->io_qdma_m_axis_h2c_payload_tuser_qid;
  const bool last = top_->io_qdma_m_axis_h2c_payload_tlast, error = top_->io_qdma_m_axis_h2c_payload_tuser_err;
  const unsigned empty = top_->io_qdma_m_axis_h2c_payload_tuser_mty;
  if (!last && empty != 0) throw std::runtime_error("m_axis_h2c: a beat before the last one is not full");
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&top_->io_qdma_m_axis_h2c_payload_tdata[0]);
  const bool has_data = !top_->io_qdma_m_axis_h2c_payload_tuser_zero_byte && !error;
  if (has_data) arriving_frame_.insert(arriving_frame_.end(), bytes, bytes + beat_bytes - empty);
  if (!last) return;
  frames.push_back({queue, std::move(arriving_frame_), top_->io_qdma_m_axis_h2c_payload_tuser_mdata, error,
                    Bytes(bytes + beat_bytes - empty, bytes + beat_bytes)});
  arriving_frame_.clear();
}

void Engine::settle() {
  const std::uint64_t start = cycles_;
  last_event_ = cycles_;
  while (host.open() != 0 || !grants_.empty() || c2h.to_send() != 0 || cycles_ - last_event_ < quiet_cycles) {
    if (cycles_ - start > settle_limit) throw std::runtime_error("the engine does not come to rest");
    tick();
  }
}

void Engine::take_completion() {
  check(arriving_.size() >= completion_words, "a descriptor is cut off");
  arrived_.push_back(std::move(arriving_));
  arriving_.clear();
}

void Engine::run(unsigned cycles) {
  for (unsigned i = 0; i < cycles; ++i) tick();
}

void Engine::offer(unsigned function, unsigned bar, std::uint32_t offset, unsigned words,
                   const std::vector<std::uint32_t>& payload) {
  const bool write = !payload.empty();
  writes_ = write;
  const unsigned aperture = function < first_vf ? 18 : 15;
  std::vector<std::uint32_t> sent = {bar_address + offset, 0,
                                     words | ((write ? memory_write : memory_read) << 11) | (requester << 16),
                                     tag_ | (function << 8) | (bar << 16) | (aperture << 19) | (5U << 28)};
  sent.insert(sent.end(), payload.begin(), payload.end());
  for (std::size_t from = 0; from < sent.size(); from += beat_words) {
    const unsigned count = static_cast<unsigned>(std::min<std::size_t>(beat_words, sent.size() - from));
    for (unsigned i = 0; i < beat_words; ++i) top_->m_axis_cq_tdata[i] = i < count ? sent[from + i] : 0;
    top_->m_axis_cq_tkeep = static_cast<std::uint8_t>((1U << count) - 1);
    top_->m_axis_cq_tlast = from + count == sent.size();
    // Byte enables: first, last, of each byte; and the start of the request.
    const std::uint64_t bytes = (std::uint64_t{1} << (4 * count)) - 1, without = from == 0 ? 0xffff : 0;
    const std::uint64_t start = from != 0 ? 0 : 0xf | (words > 1 ? 0xf0U : 0U) | (std::uint64_t{1} << 40);
    const std::uint64_t user = start | ((bytes & ~without) << 8);
    top_->m_axis_cq_tuser[0] = static_cast<std::uint32_t>(user);
    top_->m_axis_cq_tuser[1] = static_cast<std::uint32_t>(user >> 32);
    top_->m_axis_cq_tuser[2] = 0;
    top_->m_axis_cq_tvalid = 1;
    for (unsigned i = 0;; ++i) {
      if (i == access_limit) throw std::runtime_error("the engine takes no request any more");
      top_->clk = 0;
      top_->eval();
      const bool taken = top_->m_axis_cq_tready;
      tick();
      if (taken) break;
    }
    top_->m_axis_cq_tvalid = 0;
  }
  writes_ = false;
}

std::vector<std::uint32_t> Engine::read(unsigned function, std::uint32_t offset, unsigned words, unsigned bar) {
  ++tag_;
  const std::uint64_t behind = taken_;
  offer(function, bar, offset, words, {});
  std::vector<std::uint32_t> values;
  unsigned lower = offset & 0x7f;
  for (unsigned i = 0; values.size() < words; ++i) {
    if (i == access_limit) throw std::runtime_error("a read is not answered");
    tick();
    if (arrived_.empty()) continue;
    const std::vector<std::uint32_t> completion = std::move(arrived_.front());
    arrived_.erase(arrived_.begin());
    check(field(completion, 43, 3) == 0, "not successful");
    check(passed_ >= behind, "it passes a write that the block had before the read");
    check(field(completion, 0, 7) == lower, "lower address");
    check(field(completion, 16, 13) == 4 * (words - values.size()), "byte count");
    check(field(completion, 32, 11) == completion.size() - completion_words, "number of words");
    check(field(completion, 48, 16) == requester && field(completion, 64, 8) == tag_, "requester or tag");
    check(field(completion, 72, 8) == function, "completer's function");
    check(field(completion, 92, 3) == 5, "attributes");
    values.insert(values.end(), completion.begin() + completion_words, completion.end());
    lower = 0;
  }
  check(values.size() == words && arrived_.empty(), "more than was asked for");
  return values;
}

void Engine::write(unsigned function, std::uint32_t offset, const std::vector<std::uint32_t>& words, unsigned bar) {
  offer(function, bar, offset, static_cast<unsigned>(words.size()), words);
}

void Engine::enable_function(unsigned function, bool enabled) {
  set_enables(function, enabled, true);
}

void Engine::set_enables(unsigned function, bool bus_master, bool vf_enable) {
  host.set_master(function, bus_master);
  const auto set = [](auto& word, unsigned shift, unsigned mask, unsigned value) {
    word = static_cast<std::remove_reference_t<decltype(word)>>((word & ~(mask << shift)) | value << shift);
  };
  if (function < first_vf)
    set(top_->cfg_function_status, 4 * function, 4, bus_master ? 4 : 0);
  else
    set(top_->cfg_vf_status[(function - first_vf) / 16], 2 * (function - first_vf) % 32, 3,
        (bus_master ? 2U : 0U) | (vf_enable ? 1U : 0U));
  run(4);
}

void Engine::set_msix(unsigned function, bool enabled, bool masked) {
  set_bit(function, top_->cfg_interrupt_msix_enable, &top_->cfg_interrupt_msix_vf_enable[0], enabled);
  set_bit(function, top_->cfg_interrupt_msix_mask, &top_->cfg_interrupt_msix_vf_mask[0], masked);
  run(4);
}

void Engine::set_in_process(unsigned function, bool in_process) {
  set_bit(function, top_->cfg_flr_in_process, &top_->cfg_vf_flr_in_process[0], in_process);
}

bool Engine::is_done(unsigned function) const {
  if (function < first_vf) return (top_->cfg_flr_done >> function & 1) != 0;
  return top_->cfg_vf_flr_done != 0 && top_->cfg_vf_flr_func_num == function;
}

bool Engine::waits_for_done(unsigned function, unsigned limit) {
  for (unsigned i = 0; i < limit; ++i) {
    tick();
    if (is_done(function)) return true;
  }
  return false;
}

}  // namespace meridian
