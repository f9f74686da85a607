// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "shell/card.hpp"
#include "twin/port_wire.hpp"
#include "twin/ps_tap.hpp"
#include "wire/capture/capture_file.hpp"

namespace meridian {

/// Captures of a running card: pcapng with an interface for each wire (wire0, ...), one for the streams between the
/// shell and its DMA engine (host), and one for each ring pair of the PS (ps0, ...). Inbound is towards the card on the
/// wire, and from the card elsewhere: as the machine there sees it.
class Taps {
 public:
  Taps(Card& card, std::vector<PortWire>& wires, PsTap& ps) : card_(card), wires_(wires), ps_(ps) {}

  /// From now on into this file; InputError if it cannot be written.
  void start(const std::filesystem::path& file);

  /// Ends it; the number of frames written.
  std::uint64_t stop();

 private:
  Card& card_;
  std::vector<PortWire>& wires_;
  PsTap& ps_;
  std::shared_ptr<CaptureFile> file_;
};

}  // namespace meridian
