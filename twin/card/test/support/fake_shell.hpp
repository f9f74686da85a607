// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "stream/streams.hpp"

namespace meridian {

/// The shell's end of the QDMA streams: sends what it is told to, takes what comes, answers function resets.
class FakeShell {
 public:
  struct Taken {
    unsigned queue;
    Bytes bytes;
    std::uint32_t metadata;
  };
  struct Status {
    unsigned queue;
    bool drop, error;
  };

  std::vector<Taken> taken;
  std::vector<DescriptorMessage> messages;
  std::vector<Status> status;
  std::vector<unsigned> resets;
  bool h2c_ready = true;
  bool status_ready = true;
  bool answers_resets = true;

  /// A frame for a queue, behind those before it.
  void send(unsigned queue, Bytes bytes) { frames_.push_back({queue, std::move(bytes)}); }
  std::size_t to_send() const { return frames_.size() + (active_ || entry_valid_ != 0 ? 1 : 0); }

  Qdma make_streams(std::uint64_t seed) {
    return {QdmaC2h(C2hPins{tdata_, tlast_, mty_, marker_, port_, len_, qid_, has_cmpt_, tvalid_, tready_},
                    CmptPins{entry_, size_, dpar_, entry_qid_, type_, packet_, entry_port_, entry_marker_, trigger_,
                             entry_valid_, entry_ready_},
                    C2hStatusPins{drop_, last_, cmp_, error_, status_qid_, status_valid_},
                    TmStatusPins{tm_port_, qen_, byp_, dir_, mm_, tm_error_, tm_qid_, avl_, qinv_, irq_arm_, pidx_,
                                 vld_, rdy_},
                    seed),
            QdmaH2c(H2cPins{h_data_, h_crc_, h_qid_, h_port_, h_err_, h_mdata_, h_mty_, h_zero_, h_last_, h_valid_,
                            h_ready_},
                    seed),
            QdmaFlr(FlrPins{flr_fnc_, flr_set_, flr_done_fnc_, flr_done_})};
  }

  /// What the shell's registers see at the edge, before the models drive.
  void sample() {
    if (tvalid_ != 0 && tready_ != 0) offset_ += 32;
    if (entry_valid_ != 0 && entry_ready_ != 0) entry_valid_ = 0;
    if (h_valid_ != 0 && h_ready_ != 0) take_beat();
    if (vld_ != 0 && rdy_ != 0)
      messages.push_back({tm_qid_, avl_, pidx_, dir_ != 0, qen_ != 0, qinv_ != 0, tm_error_ != 0});
    if (status_valid_ != 0) status.push_back({status_qid_, drop_ != 0, error_ != 0});
    if (flr_set_ != 0) {
      resets.push_back(flr_fnc_);
      to_answer_.push_back(flr_fnc_);
    }
  }

  void drive() {
    h_ready_ = h2c_ready;
    rdy_ = status_ready;
    flr_done_ = answers_resets && !to_answer_.empty();
    if (flr_done_ != 0) {
      flr_done_fnc_ = to_answer_.front();
      to_answer_.pop_front();
    }
    if (active_ && offset_ >= frame_.second.size()) active_ = false;
    if (!active_ && !frames_.empty() && entry_valid_ == 0) begin();
    tvalid_ = active_;
    if (active_) beat();
  }

 private:
  void begin() {
    frame_ = std::move(frames_.front());
    frames_.pop_front();
    active_ = true;
    offset_ = 0;
    len_ = static_cast<std::uint16_t>(frame_.second.size());
    qid_ = entry_qid_ = static_cast<std::uint16_t>(frame_.first);
    packet_ = ++number_;
    entry_[0] = (1U << 3) | (std::uint32_t{len_} << 4) | (1U << 20);
    entry_[1] = len_ | (std::uint32_t{packet_} << 16);
    dpar_ = 0;
    for (unsigned i = 0; i < 16; ++i)
      dpar_ = static_cast<std::uint16_t>(dpar_ | ((std::popcount(entry_[i]) % 2 == 0 ? 1U : 0U) << i));
    entry_valid_ = 1;
  }

  void beat() {
    const std::size_t left = frame_.second.size() - offset_;
    const std::size_t count = std::min<std::size_t>(left, 32);
    tdata_.fill(0);
    std::memcpy(tdata_.data(), frame_.second.data() + offset_, count);
    tlast_ = left <= 32;
    mty_ = static_cast<std::uint8_t>(tlast_ != 0 ? 32 - count : 0);
  }

  void take_beat() {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(h_data_.data());
    if (h_zero_ == 0) arriving_.insert(arriving_.end(), bytes, bytes + 32 - h_mty_);
    if (h_last_ != 0) taken.push_back({h_qid_, std::exchange(arriving_, {}), h_mdata_});
  }

  std::array<std::uint32_t, 8> tdata_{}, h_data_{};
  std::array<std::uint32_t, 16> entry_{};
  std::uint8_t tlast_ = 0, mty_ = 0, marker_ = 0, port_ = 0, has_cmpt_ = 1, tvalid_ = 0, tready_ = 0;
  std::uint16_t len_ = 0, qid_ = 0;
  std::uint8_t size_ = 0, type_ = 3, entry_port_ = 0, entry_marker_ = 0, trigger_ = 0, entry_valid_ = 0,
               entry_ready_ = 0;
  std::uint16_t dpar_ = 0, entry_qid_ = 0, packet_ = 0;
  std::uint8_t drop_ = 0, last_ = 0, cmp_ = 0, error_ = 0, status_valid_ = 0;
  std::uint16_t status_qid_ = 0;
  std::uint8_t tm_port_ = 0, qen_ = 0, byp_ = 0, dir_ = 0, mm_ = 0, tm_error_ = 0, qinv_ = 0, irq_arm_ = 0, vld_ = 0,
               rdy_ = 1;
  std::uint16_t tm_qid_ = 0, avl_ = 0, pidx_ = 0;
  std::uint32_t h_crc_ = 0, h_mdata_ = 0;
  std::uint16_t h_qid_ = 0;
  std::uint8_t h_port_ = 0, h_err_ = 0, h_mty_ = 0, h_zero_ = 0, h_last_ = 0, h_valid_ = 0, h_ready_ = 1;
  std::uint8_t flr_fnc_ = 0, flr_set_ = 0, flr_done_fnc_ = 0, flr_done_ = 0;

  std::deque<std::pair<unsigned, Bytes>> frames_;
  std::pair<unsigned, Bytes> frame_;
  std::size_t offset_ = 0;
  std::uint16_t number_ = 0;
  bool active_ = false;
  Bytes arriving_;
  std::deque<std::uint8_t> to_answer_;
};

}  // namespace meridian
