// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "wire/traffic/traffic_frame.hpp"
#include "wire/traffic/traffic_sink.hpp"
#include "wire/wire_end.hpp"
#include "wire/wire_setting.hpp"

namespace meridian {

struct TrafficSetting {
  enum class Sizes : std::uint8_t { list, range, imix };

  Sizes sizes = Sizes::list;
  std::vector<std::size_t> lengths{64};  // with FCS, as testers count: the list, in turn, or the range's two ends
  double line_share = 1.0;               // of line rate; without meaning when pps is not 0
  double pps = 0;
  std::uint64_t burst = 1;  // frames back to back, then a pause that restores the rate
  std::uint64_t count = 0;  // 0: for ever
  std::uint64_t start_ps = 0;
  std::uint64_t seed = 1;
  std::uint8_t generator = 0;  // tells its frames from those of others
  bool send = true;            // false: a sink only

  // Flow i has each of these plus i modulo its variants. Flows take turns.
  TrafficFlow first{{0x02, 0, 0, 0, 0, 0x01},
                    {0x02, 0, 0, 0, 0, 0x02},
                    {},
                    TrafficProtocol::udp,
                    {10, 0, 0, 2},
                    {10, 0, 0, 1},
                    49152,
                    9};
  std::uint32_t flows = 1;  // up to 65536
  std::uint32_t destinations = 1, sources = 1, vlans = 1, source_ips = 1, destination_ips = 1;
  std::uint32_t source_ports = 65536, destination_ports = 1;
};

/// A tester's port: sends numbered, stamped frames and judges those that come (of its own or of another TrafficEnd).
/// Every frame carries the exact end of its start-of-frame delimiter, so that latencies are exact to a picosecond.
///
/// A generator that falls more than a millisecond behind, as its card takes nothing, does not make up for it.
class TrafficEnd : public WireEnd {
 public:
  TrafficEnd(const TrafficSetting& setting, const WireSetting& wire);

  void receive(const TxFrame& frame) override { sink_.receive(frame); }
  std::vector<RxFrame> poll(std::uint64_t now_ps, std::size_t pending) override;
  std::uint64_t next_ps() const override { return next_ps_; }
  void report(const WireReport& report) const override;

  /// Frames that began on the wire.
  std::uint64_t sent() const { return *sent_; }
  const TrafficSink& sink() const { return sink_; }

 private:
  std::size_t next_length();
  RxFrame make();
  bool more() const { return setting_.send && (setting_.count == 0 || made_ < setting_.count); }
  bool paced() const { return setting_.pps > 0 || setting_.line_share < 1; }

  TrafficSetting setting_;
  WireSetting wire_;
  Ahead ahead_;
  Random random_;
  std::vector<TrafficFlow> flows_;
  std::vector<std::uint32_t> sequences_;  // by flow
  std::uint64_t made_ = 0;
  double slot_ps_ = 0;   // when the next frame is due
  double burst_ps_ = 0;  // and the burst it belongs to
  std::uint64_t next_ps_;
  std::shared_ptr<std::uint64_t> sent_ = std::make_shared<std::uint64_t>(0);
  TrafficSink sink_;
};

}  // namespace meridian
