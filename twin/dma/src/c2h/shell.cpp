// SPDX-License-Identifier: Apache-2.0
#include "c2h/shell.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "VDmaEngine.h"

namespace meridian {

namespace {

constexpr unsigned beat_bytes = 32, beat_words = 8, entry_words = 16;
constexpr unsigned pace = 85;  // percent of cycles in which something is offered
constexpr unsigned has_payload = 3;

}  // namespace

void C2hShell::send(unsigned queue, Bytes bytes) {
  packet_ = (packet_ + 1) & 0xffff;
  entries_.push_back({queue, static_cast<unsigned>(bytes.size()), packet_});
  frames_.emplace_back(queue, std::move(bytes));
}

void C2hShell::drive(VDmaEngine& top, bool runs) {
  // What is offered stays until it is taken.
  if (!beat_offered_ && !frames_.empty() && runs && (sends || offset_ != 0) && random_.percent(pace)) {
    beat_offered_ = true;
    offer_beat(top);
  }
  if (!entry_offered_ && !entries_.empty() && runs && random_.percent(pace)) {
    entry_offered_ = true;
    offer_entry(top);
  }
  top.io_qdma_s_axis_c2h_valid = beat_offered_;
  top.io_qdma_s_axis_c2h_cmpt_valid = entry_offered_;
}

void C2hShell::offer_beat(VDmaEngine& top) const {
  const auto& [queue, bytes] = frames_.front();
  const std::size_t left = bytes.size() - offset_, count = std::min<std::size_t>(left, beat_bytes);
  std::array<std::uint32_t, beat_words> data{};
  std::memcpy(data.data(), bytes.data() + offset_, count);
  std::copy(data.begin(), data.end(), &top.io_qdma_s_axis_c2h_payload_tdata[0]);
  top.io_qdma_s_axis_c2h_payload_tlast = left <= beat_bytes;
  top.io_qdma_s_axis_c2h_payload_mty = static_cast<std::uint8_t>(beat_bytes - count);
  top.io_qdma_s_axis_c2h_payload_tcrc = 0;
  top.io_qdma_s_axis_c2h_payload_ctrl_len = static_cast<std::uint16_t>(bytes.size());
  top.io_qdma_s_axis_c2h_payload_ctrl_qid = static_cast<std::uint16_t>(queue);
  top.io_qdma_s_axis_c2h_payload_ctrl_has_cmpt = 1;
  top.io_qdma_s_axis_c2h_payload_ctrl_marker = 0;
  top.io_qdma_s_axis_c2h_payload_ctrl_port_id = 0;
  top.io_qdma_s_axis_c2h_payload_ctrl_ecc = 0;
}

void C2hShell::offer_entry(VDmaEngine& top) const {
  const Entry& entry = entries_.front();
  constexpr std::uint32_t used = 1U << 3, end_of_frame = 1U << 20;
  std::array<std::uint32_t, entry_words> data{};
  data[0] = used | entry.length << 4 | end_of_frame;
  data[1] = entry.length | entry.packet << 16;
  std::copy(data.begin(), data.end(), &top.io_qdma_s_axis_c2h_cmpt_payload_tdata[0]);
  std::uint16_t parity = 0;
  for (unsigned word = 0; word < entry_words; ++word)
    if (std::popcount(data[word]) % 2 == 0) parity = static_cast<std::uint16_t>(parity | 1U << word);
  top.io_qdma_s_axis_c2h_cmpt_payload_dpar = parity;
  top.io_qdma_s_axis_c2h_cmpt_payload_size = 0;
  top.io_qdma_s_axis_c2h_cmpt_payload_ctrl_qid = static_cast<std::uint16_t>(entry.queue);
  top.io_qdma_s_axis_c2h_cmpt_payload_ctrl_cmpt_type = has_payload;
  top.io_qdma_s_axis_c2h_cmpt_payload_ctrl_wait_pld_pkt_id = static_cast<std::uint16_t>(entry.packet);
  top.io_qdma_s_axis_c2h_cmpt_payload_ctrl_port_id = 0;
  top.io_qdma_s_axis_c2h_cmpt_payload_ctrl_marker = 0;
  top.io_qdma_s_axis_c2h_cmpt_payload_ctrl_user_trig = 0;
  top.io_qdma_s_axis_c2h_cmpt_payload_ctrl_col_idx = 0;
  top.io_qdma_s_axis_c2h_cmpt_payload_ctrl_err_idx = 0;
  top.io_qdma_s_axis_c2h_cmpt_payload_ctrl_no_wrb_marker = 0;
}

bool C2hShell::sample(VDmaEngine& top) {
  bool passes = false;
  if (beat_offered_ && top.io_qdma_s_axis_c2h_ready) {
    passes = true;
    beat_offered_ = false;
    offset_ += beat_bytes;
    if (offset_ >= frames_.front().second.size()) {
      frames_.pop_front();
      offset_ = 0;
    }
  }
  if (entry_offered_ && top.io_qdma_s_axis_c2h_cmpt_ready) {
    passes = true;
    entry_offered_ = false;
    entries_.pop_front();
  }
  if (top.io_qdma_axis_c2h_status_valid) {
    passes = true;
    status.push_back({top.io_qdma_axis_c2h_status_payload_qid, top.io_qdma_axis_c2h_status_payload_drop != 0,
                      top.io_qdma_axis_c2h_status_payload_error != 0});
    const bool cmp = top.io_qdma_axis_c2h_status_payload_cmp;
    if (cmp == status.back().drop || !top.io_qdma_axis_c2h_status_payload_last)
      throw std::runtime_error("axis_c2h_status: cmp or last is wrong");
  }
  return passes;
}

}  // namespace meridian
