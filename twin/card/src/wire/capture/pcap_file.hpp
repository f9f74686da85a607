// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/frame.hpp"
#include "wire/capture/capture_records.hpp"

namespace meridian {

/// Ethernet frames of a capture file without their FCS, read one by one. A frame that cannot be sent as it was is left
/// out and counted; a file that breaks off ends there, with the reason. InputError tells the file and the reason when
/// it is not a capture, not a regular file, or holds no frame that can be sent.
class PcapReader {
 public:
  explicit PcapReader(std::string path);

  /// The next frame, nothing at the end of the file.
  std::optional<Bytes> next();

  /// When the frame that next() gave last was captured, since 1970; 0 for a time before that.
  std::uint64_t time_ns() const { return time_ns_; }

  /// Frames given so far.
  std::uint64_t count() const { return count_; }

  /// Frames left out so far: the capture's snap length cut them; they are empty, longer than 65,535 bytes or shorter
  /// than what was kept of them; they were received with an error; they are not Ethernet's.
  std::uint64_t cut() const { return cut_; }
  std::uint64_t unfit() const { return unfit_; }
  std::uint64_t faulty() const { return faulty_; }
  std::uint64_t foreign() const { return foreign_; }
  std::uint64_t left_out() const { return cut_ + unfit_ + faulty_ + foreign_; }

  /// Why the file ends before its time; empty for a whole one.
  const std::string& broken() const { return records_.broken(); }

 private:
  bool fits(const CaptureRecord& record);
  std::string why_no_frame() const;

  std::string path_;
  CaptureRecords records_;
  std::uint64_t count_ = 0, cut_ = 0, unfit_ = 0, faulty_ = 0, foreign_ = 0;
  std::uint64_t time_ns_ = 0;
};

}  // namespace meridian
