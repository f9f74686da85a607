// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/frame.hpp"

struct pcap;

namespace meridian {

/// Ethernet frames of a capture file, read one by one. InputError tells the file, the frame and what is wrong: not a
/// capture, not Ethernet, a frame of which the capture kept a part only, a file that breaks off.
class PcapReader {
 public:
  explicit PcapReader(std::string path);

  /// The next frame, nothing at the end of the file.
  std::optional<Bytes> next();

  /// When the frame that next() gave last was captured, since 1970; 0 for a time before that.
  std::uint64_t time_ns() const { return time_ns_; }

  std::uint64_t count() const { return count_; }

 private:
  struct Close {
    void operator()(pcap* file) const;
  };

  std::string path_;
  std::unique_ptr<pcap, Close> file_;
  std::uint64_t count_ = 0;
  std::uint64_t time_ns_ = 0;
};

}  // namespace meridian
