// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/frame.hpp"

namespace meridian {

/// A place where frames are watched.
struct CaptureInterface {
  std::string name;
  std::uint64_t bits_per_second = 0;  // 0: unknown
};

enum class CaptureDirection : std::uint8_t { unknown = 0, inbound = 1, outbound = 2 };

/// A pcapng file: one section, an Ethernet interface block for each place, enhanced packet blocks with nanoseconds and
/// the direction. Of frames with a wrong FCS the block says so.
///
/// Frames of different places come here in the order in which they end, but carry the time at which they start; so
/// they are held back until 50 us have passed, and written in the order of their times.
class CaptureFile {
 public:
  /// epoch_ns: the time since 1970 that twin time 0 is shown as. InputError if the file cannot be written.
  CaptureFile(const std::filesystem::path& path, const std::vector<CaptureInterface>& interfaces,
              std::uint64_t epoch_ns = 0);
  ~CaptureFile();
  CaptureFile(const CaptureFile&) = delete;
  CaptureFile& operator=(const CaptureFile&) = delete;

  /// interface: index of the constructor's. Times are cut to whole nanoseconds.
  void write(unsigned interface, std::uint64_t time_ps, std::span<const std::uint8_t> bytes,
             CaptureDirection direction = CaptureDirection::unknown, bool bad_fcs = false);

  /// Everything held back goes to the file. InputError if it cannot be written.
  void flush();

  std::uint64_t frames() const { return frames_; }

 private:
  void put_header(const std::vector<CaptureInterface>& interfaces);
  void check();

  std::filesystem::path path_;
  std::ofstream file_;
  std::size_t interfaces_;
  std::uint64_t epoch_ns_;
  std::multimap<std::uint64_t, Bytes> held_;  // blocks by time
  std::uint64_t frames_ = 0;
};

}  // namespace meridian
