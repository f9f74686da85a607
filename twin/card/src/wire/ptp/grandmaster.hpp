// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "wire/ptp/grandmaster_clock.hpp"
#include "wire/ptp/ptp_message.hpp"
#include "wire/ptp/ptp_transport.hpp"
#include "wire/wire_end.hpp"
#include "wire/wire_setting.hpp"

namespace meridian {

/// The leap second at the end of the day.
enum class PtpLeap : std::uint8_t { none, inserted, deleted };

struct GrandmasterSetting {
  PtpTransport transport = PtpTransport::udp4;
  PtpAddress address{{0x02, 0x00, 0x5e, 0x15, 0x88, 0x01},
                     {192, 168, 42, 1},
                     {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x00, 0x00, 0x5e, 0xff, 0xfe, 0x15, 0x88, 0x01}};
  VlanTags tags;  // of all its frames; what comes without them is not for it
  bool two_step = true;
  std::uint8_t domain = 0;
  std::uint8_t major_sdo = 0;  // transportSpecific of older versions
  bool gptp = false;           // the additions of IEEE 802.1AS; takes Ethernet, two_step and major_sdo 1
  std::uint8_t priority1 = 128;
  std::uint8_t priority2 = 128;
  std::uint8_t clock_class = 6;        // locked to a primary reference
  std::uint8_t clock_accuracy = 0x20;  // within 25 ns
  std::uint16_t variance = 0x4e5d;     // offsetScaledLogVariance
  std::uint8_t time_source = 0x20;     // GNSS
  std::uint16_t steps_removed = 0;
  bool ptp_timescale = true;  // its time is TAI, else an arbitrary one
  std::int16_t utc_offset = 37;
  bool utc_offset_valid = true;
  bool traceable = true;  // time and frequency
  PtpLeap leap = PtpLeap::none;
  std::int8_t log_announce = 1;
  std::int8_t log_sync = 0;
  std::int8_t log_delay_req = 0;
  GrandmasterClockSetting clock;
  std::uint64_t delay_ps = 0;                // mean of both ways
  std::int64_t asymmetry_ps = 0;             // delayAsymmetry: the way to the card is that much longer than the mean
  std::uint64_t turnaround_ps = 10'000'000;  // from the end of a request to the answer
  std::uint64_t follow_up_ps = 20'000'000;   // from an event message to its follow-up
  std::uint64_t start_ps = 0;
};

/// A PTP grandmaster (IEEE 1588-2019): sends Announce and Sync, answers delay requests of both mechanisms and ARP.
/// It knows no other masters and always is one.
///
/// Every timestamp is that of the start-of-frame delimiter at the grandmaster's own port, delay and asymmetry of the
/// way taken into account, with its fraction of a nanosecond in correctionField: exact to 2^-16 ns. A unicast
/// Delay_Req gets a unicast answer.
class Grandmaster : public WireEnd {
 public:
  Grandmaster(const GrandmasterSetting& setting, const WireSetting& wire);

  void receive(const TxFrame& frame) override;
  std::vector<RxFrame> poll(std::uint64_t now_ps, std::size_t pending) override;
  std::uint64_t next_ps() const override;
  void report(const WireReport& report) const override;

  /// It goes on for ever, so what it will send of itself is nothing to wait for.
  bool done() const override { return out_.empty(); }

  GrandmasterClock& clock() { return *clock_; }
  const PtpPortIdentity& port() const { return port_; }

  static constexpr std::array<std::string_view, 12> drop_names = {"foreign",    "ip",     "udp",    "version",
                                                                  "type",       "length", "tlv",    "timestamp",
                                                                  "wrong_port", "sdo",    "domain", "bad_fcs"};
  enum class Drop : std::uint8_t {
    foreign,
    ip,
    udp,
    version,
    type,
    length,
    tlv,
    timestamp,
    wrong_port,
    sdo,
    domain,
    bad_fcs
  };
  struct Statistics {
    std::array<std::uint64_t, 16> sent{};      // by message type, given to the wire
    std::array<std::uint64_t, 16> received{};  // that were well formed and for this domain
    std::array<std::uint64_t, drop_names.size()> dropped{};
    std::uint64_t overrun = 0;  // not sent, as the card's MAC took nothing
    std::uint64_t arp_answered = 0;
  };
  const Statistics& statistics() const { return statistics_; }

 private:
  using Hook = std::function<void(std::span<std::uint8_t> message, const PtpInstant& sent)>;

  PtpHeader header(PtpType type, std::uint16_t sequence, std::int8_t log_interval) const;
  std::optional<PtpPayload> accept(const TxFrame& frame, PtpHeader& header);
  bool answer_arp(const TxFrame& frame);
  void announce(std::uint64_t at_ps);
  void sync(std::uint64_t at_ps);
  void answer_delay(const PtpHeader& request, const PtpPayload& payload, const PtpInstant& received,
                    std::uint64_t at_ps);
  void answer_pdelay(const PtpHeader& request, const PtpInstant& received, std::uint64_t at_ps);
  void send(const Bytes& message, PtpPath::To to, std::uint64_t leaves_ps, Hook hook = {});
  /// Sends an event message and, after follow_up_ps, the one that tells when it left, plus a correction in scaled ns.
  void send_two_step(const Bytes& event, const Bytes& follow_up, PtpPath::To to, std::uint64_t leaves_ps,
                     std::int64_t correction);
  void queue(Bytes frame, std::uint64_t leaves_ps, Hook hook);
  void drop(Drop reason) { ++statistics_.dropped[static_cast<std::size_t>(reason)]; }

  GrandmasterSetting setting_;
  WireSetting wire_;
  PtpPath path_;
  std::shared_ptr<GrandmasterClock> clock_;  // hooks of frames that wait at the MAC hold it too
  PtpPortIdentity port_;
  std::uint64_t to_card_ps_;
  std::uint64_t from_card_ps_;
  std::multimap<std::uint64_t, RxFrame> out_;  // by at_ps
  std::uint64_t next_announce_ps_;
  std::uint64_t next_sync_ps_;
  std::uint16_t announce_sequence_ = 0;
  std::uint16_t sync_sequence_ = 0;
  Statistics statistics_;
};

}  // namespace meridian
