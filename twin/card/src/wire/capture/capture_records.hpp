// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/frame.hpp"
#include "link/descriptor.hpp"

namespace meridian {

/// What a capture file says of a frame. Lengths in bytes, without the FCS.
struct CaptureRecord {
  std::uint16_t link_type = 0;  // 1: Ethernet
  std::uint32_t length = 0;     // on the wire
  std::uint32_t kept = 0;       // of it in the file
  bool faulty = false;          // it was received with an error
  std::uint64_t time_ns = 0;    // since 1970; 0 for a time before that
  Bytes data;                   // what was kept; empty for a frame longer than any that is sent
};

/// Records of pcap and pcapng files (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng), one by one, with a bound on the
/// memory that a file can take whatever it says. libpcap is not used: it refuses interfaces that differ in link type or
/// snap length, and tells neither the length of an interface's FCS nor errors of frames.
class CaptureRecords {
 public:
  /// Longest frame whose bytes are read.
  static constexpr std::uint32_t longest = 65535;

  /// InputError tells the file and the reason when it is not a capture, or not a regular file.
  explicit CaptureRecords(const std::string& path);

  /// The next record, nothing at the end of the file, or where it breaks off.
  std::optional<CaptureRecord> next();

  /// Of all records of a pcap; nothing for a pcapng, whose interfaces have one each.
  std::optional<std::uint16_t> link_type() const {
    return ng_ ? std::nullopt : std::optional(interfaces_[0].link_type);
  }

  /// Why the file ends before its time; empty for a whole one.
  const std::string& broken() const { return broken_; }

 private:
  struct Interface {
    std::uint16_t link_type = 0;
    std::uint32_t snap = 0;       // 0: no limit
    std::uint32_t fcs = 0;        // bytes that end each frame
    std::uint8_t resolution = 6;  // of times: negative power of ten, or with the highest bit set of two
    std::int64_t offset_s = 0;    // of times
  };
  struct Option {
    std::uint16_t code = 0, length = 0;
    std::uint64_t at = 0;  // of its value
  };

  std::optional<CaptureRecord> next_of_pcap();
  std::optional<CaptureRecord> next_block();
  bool section();
  void interface(std::uint64_t at, std::uint64_t end);
  std::optional<CaptureRecord> packet(std::uint32_t type, std::uint64_t at, std::uint64_t end);
  std::optional<CaptureRecord> record(const Interface& from, std::uint64_t at, std::uint32_t kept, std::uint32_t length,
                                      std::uint64_t time_ns, std::uint32_t flags);
  std::optional<Option> next_option(std::uint64_t& at, std::uint64_t end);
  std::nullopt_t torn(std::string why);
  bool read(std::uint64_t at, std::span<std::uint8_t> to);
  template <typename Number>
  Number number(std::uint64_t at);

  Descriptor file_;
  std::uint64_t size_ = 0, at_ = 0;
  bool ng_ = false;           // pcapng
  bool swapped_ = false;      // numbers are in the other order of bytes
  bool nanoseconds_ = false;  // of pcap: fractions of seconds are so
  std::vector<Interface> interfaces_;
  std::string broken_;
};

}  // namespace meridian
