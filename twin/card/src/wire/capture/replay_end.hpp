// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "wire/capture/pcap_file.hpp"
#include "wire/wire_end.hpp"
#include "wire/wire_setting.hpp"

namespace meridian {

struct ReplaySetting {
  std::string file;
  bool recorded_times = false;  // else back to back at line rate
  double speed = 1.0;           // of recorded times: 2 is twice as fast
  std::uint64_t loops = 1;      // 0: for ever
  bool pad = true;              // to 60 bytes: a capture made by the sender lacks the padding of its MAC
  std::uint64_t start_ps = 0;   // twin time of the first frame
};

/// Sends the frames of a capture file to the card; what the card sends is counted and dropped.
///
/// The file is read through once at the start, so that InputError comes then. Frames that were cut by the capture's
/// snap length, and what follows the place where a file breaks off, are left out and counted. A frame whose recorded
/// time lies before its predecessor's goes right behind it. A loop begins one mean distance of frames after the last
/// frame of the one before.
class ReplayEnd : public WireEnd {
 public:
  ReplayEnd(const ReplaySetting& setting, const WireSetting& wire);

  void receive(const TxFrame& frame) override;
  std::vector<RxFrame> poll(std::uint64_t now_ps, std::size_t pending) override;
  std::uint64_t next_ps() const override { return next_ps_; }

  void report(const WireReport& report) const override {
    report("sent", static_cast<double>(statistics_.sent));
    report("loops", static_cast<double>(statistics_.loops));
    report("received", static_cast<double>(statistics_.received));
    report("left_out", static_cast<double>(statistics_.left_out));
    report("broken_off", statistics_.broken_off ? 1 : 0);
  }

  struct Statistics {
    std::uint64_t sent = 0;      // handed over
    std::uint64_t loops = 0;     // begun
    std::uint64_t received = 0;  // from the card
    std::uint64_t left_out = 0;  // frames of the file that cannot be sent as they were
    bool broken_off = false;     // the file ends within a frame
  };
  const Statistics& statistics() const { return statistics_; }

 private:
  void scan();
  void read();

  ReplaySetting setting_;
  Ahead ahead_;
  std::optional<PcapReader> reader_;
  std::uint64_t first_ns_ = 0;             // recorded time of the first frame
  std::uint64_t loop_ns_ = 0;              // recorded time from one loop to the next
  std::optional<std::uint64_t> start_ps_;  // of this loop
  std::optional<Bytes> frame_;             // the next one
  std::uint64_t frame_ps_ = 0;             // and its time since the start of the loop
  std::uint64_t next_ps_;
  Statistics statistics_;
};

}  // namespace meridian
