// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "stream/streams.hpp"

namespace meridian {

/// The values at the pins of the QDMA's streams where no shell is behind them; a class that plays the shell's part
/// inherits them. words: 32-bit words of a beat.
template <unsigned words>
class PinStorage {
 public:
  Qdma make_streams(std::uint64_t seed) {
    return {QdmaC2h(C2hPins{tdata_, tlast_, mty_, marker_, port_, len_, qid_, has_cmpt_, tvalid_, tready_},
                    CmptPins{entry_, size_, parity_, entry_qid_, type_, packet_, entry_port_, entry_marker_, trigger_,
                             entry_valid_, entry_ready_},
                    C2hStatusPins{drop_, last_, cmp_, error_, status_qid_, status_valid_},
                    TmStatusPins{tm_port_, qen_, byp_, dir_, mm_, tm_error_, tm_qid_, avl_, qinv_, irq_arm_, pidx_,
                                 tm_valid_, tm_ready_},
                    seed),
            QdmaH2c(H2cPins{h_data_, h_crc_, h_qid_, h_port_, h_err_, h_mdata_, h_mty_, h_zero_, h_last_, h_valid_,
                            h_ready_},
                    seed),
            QdmaFlr(FlrPins{flr_fnc_, flr_set_, flr_done_fnc_, flr_done_}),
            QdmaCredit(CreditPins{crdt_, crdt_qid_, crdt_dir_, fence_, crdt_valid_, crdt_ready_}, seed)};
  }

 protected:
  static constexpr unsigned beat_bytes = 4 * words;

  /// Offers the shell's completion of 8 bytes for the next frame, which has this queue and length.
  void offer_entry(unsigned queue, std::size_t length) {
    constexpr std::uint32_t used = 1U << 3, end_of_frame = 1U << 20;
    len_ = static_cast<std::uint16_t>(length);
    qid_ = entry_qid_ = static_cast<std::uint16_t>(queue);
    ++packet_;
    entry_[0] = used | std::uint32_t{len_} << 4 | end_of_frame;
    entry_[1] = len_ | std::uint32_t{packet_} << 16;
    parity_ = 0;
    for (unsigned word = 0; word < entry_.size(); ++word)
      if (std::popcount(entry_[word]) % 2 == 0) parity_ = static_cast<std::uint16_t>(parity_ | 1U << word);
    entry_valid_ = 1;
  }

  // C2H, of the frame and of its completion.
  std::array<std::uint32_t, words> tdata_{};
  std::uint8_t tlast_ = 0, mty_ = 0, marker_ = 0, port_ = 0, has_cmpt_ = 1, tvalid_ = 0, tready_ = 0;
  std::uint16_t len_ = 0, qid_ = 0;
  std::array<std::uint32_t, 16> entry_{};
  std::uint8_t size_ = 0, type_ = 3, entry_port_ = 0, entry_marker_ = 0, trigger_ = 0, entry_valid_ = 0,
               entry_ready_ = 0;
  std::uint16_t parity_ = 0, entry_qid_ = 0, packet_ = 0;
  // What the IP tells.
  std::uint8_t drop_ = 0, last_ = 0, cmp_ = 0, error_ = 0, status_valid_ = 0;
  std::uint16_t status_qid_ = 0;
  std::uint8_t tm_port_ = 0, qen_ = 0, byp_ = 0, dir_ = 0, mm_ = 0, tm_error_ = 0, qinv_ = 0, irq_arm_ = 0,
               tm_valid_ = 0, tm_ready_ = 1;
  std::uint16_t tm_qid_ = 0, avl_ = 0, pidx_ = 0;
  // H2C.
  std::array<std::uint32_t, words> h_data_{};
  std::uint32_t h_crc_ = 0, h_mdata_ = 0;
  std::uint16_t h_qid_ = 0;
  std::uint8_t h_port_ = 0, h_err_ = 0, h_mty_ = 0, h_zero_ = 0, h_last_ = 0, h_valid_ = 0, h_ready_ = 1;
  // Credits.
  std::uint16_t crdt_ = 0, crdt_qid_ = 0;
  std::uint8_t crdt_dir_ = 0, fence_ = 0, crdt_valid_ = 0, crdt_ready_ = 0;
  // Function resets.
  std::uint8_t flr_fnc_ = 0, flr_set_ = 0, flr_done_fnc_ = 0, flr_done_ = 0;
};

}  // namespace meridian
