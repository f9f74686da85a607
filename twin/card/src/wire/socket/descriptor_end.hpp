// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "wire/wire_end.hpp"

namespace meridian {

struct DescriptorSetting {
  std::size_t longest = 9600;  // bytes of a frame without FCS, either way
  std::size_t queue = 1024;    // frames to the outside that wait for it
};

/// What TapEnd and PacketSocketEnd share: frames through a file descriptor that never blocks. Short frames from outside
/// are padded to 60 bytes. While 64 frames wait at the MAC no more are read, and the outside's own queue fills.
class DescriptorEnd : public WireEnd {
 public:
  explicit DescriptorEnd(const DescriptorSetting& setting) : setting_(setting) {}
  ~DescriptorEnd() override;
  DescriptorEnd(const DescriptorEnd&) = delete;
  DescriptorEnd& operator=(const DescriptorEnd&) = delete;

  void receive(const TxFrame& frame) override;
  std::vector<RxFrame> poll(std::uint64_t now_ps, std::size_t pending) override;
  std::uint64_t next_ps() const override { return next_ps_; }
  std::optional<int> descriptor() const override;
  void report(const WireReport& report) const override;

  struct Statistics {
    std::uint64_t in = 0;            // to the card
    std::uint64_t in_too_long = 0;   // dropped, also those that wait for segmentation
    std::uint64_t in_too_short = 0;  // less than an Ethernet header
    std::uint64_t out = 0;           // from the card, taken by the outside
    std::uint64_t out_too_long = 0;
    std::uint64_t out_bad = 0;      // wrong FCS
    std::uint64_t out_dropped = 0;  // the queue was full
    std::uint64_t out_refused = 0;  // by the outside, as a device that is down does
  };
  const Statistics& statistics() const { return statistics_; }

 protected:
  enum class Io : std::uint8_t { done, again, too_long, refused };

  /// One frame from the outside or to it.
  virtual Io take(Bytes& frame) = 0;
  virtual Io give(const Bytes& frame) = 0;

  /// What errno says of a read or a write.
  static Io result_of(int error);

  int descriptor_ = -1;  // closed at the end

 private:
  void flush();
  void count(Io result);

  static constexpr std::size_t most_waiting = 64;
  DescriptorSetting setting_;
  std::deque<Bytes> outward_;
  std::uint64_t next_ps_ = never_ps;
  bool full_ = false;  // enough waits at the MAC
  Statistics statistics_;
};

}  // namespace meridian
