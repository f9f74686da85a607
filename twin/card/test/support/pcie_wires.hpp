// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pcie/packet.hpp"
#include "shell/pins.hpp"

namespace meridian {

/// Pins of the integrated block for PCIe without a shell: a test plays the shell.
struct PcieWires {
  std::array<std::uint32_t, 8> cq_data{}, cc_data{}, rq_data{}, rc_data{};
  std::array<std::uint32_t, 3> cq_user{}, rc_user{};
  std::uint8_t cq_keep = 0, cq_last = 0, cq_valid = 0, cq_ready = 0, cq_np_req = 1;
  std::uint8_t cc_keep = 0, cc_last = 0, cc_valid = 0, cc_ready = 0;
  std::uint8_t rq_keep = 0, rq_last = 0, rq_valid = 0, rq_ready = 0;
  std::uint8_t number0 = 0, has_number0 = 0, number1 = 0, has_number1 = 0;
  std::uint8_t rc_keep = 0, rc_last = 0, rc_valid = 0, rc_ready = 0;
  std::uint64_t rq_user = 0;
  std::uint16_t function_status = 0;
  std::array<std::uint32_t, 16> vf_status{};
  std::uint8_t max_payload = 0, max_read = 0, flr = 0, flr_done = 0, vf_done_number = 0, vf_done = 0;
  std::uint8_t msix = 0, msix_mask = 0;
  std::array<std::uint32_t, 8> vf_flr{}, vf_msix{}, vf_msix_mask{};

  PciePins pins() {
    return {cq_data,         cq_keep,   cq_user,     cq_last,   cq_valid, cq_ready,    cq_np_req,
            cc_data,         cc_keep,   cc_last,     cc_valid,  cc_ready, rq_data,     rq_keep,
            rq_user,         rq_last,   rq_valid,    rq_ready,  number0,  has_number0, number1,
            has_number1,     rc_data,   rc_keep,     rc_user,   rc_last,  rc_valid,    rc_ready,
            function_status, vf_status, max_payload, max_read,  flr,      flr_done,    vf_flr,
            vf_done_number,  vf_done,   msix,        msix_mask, vf_msix,  vf_msix_mask};
  }

  /// A beat of a request at the shell's outputs.
  void show_request(const std::vector<std::uint32_t>& words, std::size_t from, std::uint64_t user) {
    const std::size_t count = words.size() - from < 8 ? words.size() - from : 8;
    for (std::size_t i = 0; i < count; ++i) rq_data[i] = words[from + i];
    rq_keep = static_cast<std::uint8_t>((1U << count) - 1);
    rq_last = from + count == words.size();
    rq_user = user;
    rq_valid = 1;
  }
};

}  // namespace meridian
