// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/frame.hpp"

struct pcap;

namespace meridian {

/// Ethernet frames of a capture file, read one by one. A frame that cannot be sent as it was is left out and counted; a
/// file that breaks off ends there, with the reason. InputError tells the file and the reason when it is not a capture,
/// not of Ethernet, or holds no frame that can be sent.
class PcapReader {
 public:
  explicit PcapReader(std::string path);

  /// The next frame, nothing at the end of the file.
  std::optional<Bytes> next();

  /// When the frame that next() gave last was captured, since 1970; 0 for a time before that.
  std::uint64_t time_ns() const { return time_ns_; }

  /// Frames given so far.
  std::uint64_t count() const { return count_; }

  /// Frames left out so far: the capture's snap length cut them; they are empty or longer than 65,535 bytes.
  std::uint64_t cut() const { return cut_; }
  std::uint64_t unfit() const { return unfit_; }

  /// Why the file ends before its time; empty for a whole one.
  const std::string& broken() const { return broken_; }

 private:
  std::string why_no_frame() const;

  struct Close {
    void operator()(pcap* file) const;
  };

  std::string path_;
  std::unique_ptr<pcap, Close> file_;
  std::uint64_t count_ = 0, cut_ = 0, unfit_ = 0;
  std::string broken_;
  std::uint64_t time_ns_ = 0;
};

}  // namespace meridian
