// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/frame.hpp"

/// Packets on the four streams of the integrated block for PCIe, 256 bit wide and aligned to double words, as PG213 has
/// their descriptors.
namespace meridian::pcie {

constexpr unsigned beat_words = 8;

/// A beat of any stream; user is cut to what the stream has.
struct Beat {
  std::array<std::uint32_t, beat_words> data{};
  std::uint8_t keep = 0;  // of double words
  std::array<std::uint32_t, 3> user{};
  bool last = false;
};

/// An access of the host to a BAR: CQ.
struct Access {
  unsigned function = 0;
  unsigned bar = 0;
  unsigned aperture = 0;  // the BAR has 2 to the power of it in bytes
  std::uint32_t offset = 0;
  unsigned bytes = 4;    // of a read, which begin anywhere
  Bytes data;            // of a write; empty: a read
  std::uint8_t tag = 0;  // of a read
  unsigned traffic_class = 0;
  unsigned attributes = 0;  // ordering by identifier, relaxed ordering, no snoop
};
std::vector<Beat> encode(const Access& access);

/// The answer to a read of the host: CC.
struct AccessAnswer {
  std::uint8_t tag = 0;
  bool ok = false;
  std::vector<std::uint32_t> words;  // from the double word with the first byte on
  unsigned function = 0;             // that answers
  unsigned lower = 0;                // lowest 7 bits of the first byte's address
  unsigned bytes = 0;                // from there on
  unsigned traffic_class = 0;
  unsigned attributes = 0;
};

/// CheckError names the rule that is broken.
AccessAnswer decode_answer(std::span<const std::uint32_t> packet);

/// A request of the card: RQ.
struct Request {
  bool write = false;
  unsigned function = 0;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint8_t tag = 0;  // of a read
  Bytes data;            // of a write
};

/// user: that of the packet's first beat, with the byte enables. CheckError names the rule that is broken.
Request decode_request(std::span<const std::uint32_t> packet, std::uint64_t user);

/// A part of the answer to a read of the card: RC.
struct Completion {
  std::uint8_t tag = 0;
  std::uint64_t address = 0;  // of its first byte
  std::uint32_t left = 0;     // bytes from there to the end of the read
  bool ok = true;             // else the read is unsupported, and has no data
  Bytes data;

  bool ends() const { return !ok || data.size() == left; }
};
std::vector<Beat> encode(const Completion& completion);

}  // namespace meridian::pcie
