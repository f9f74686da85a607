// SPDX-License-Identifier: Apache-2.0
#include "wire/ptp/grandmaster.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/error.hpp"
#include "wire/frame/ip_frame.hpp"
#include "wire/ptp/gptp_tlv.hpp"

namespace meridian {

namespace {

std::uint64_t interval_ps(std::int8_t log) {
  return static_cast<std::uint64_t>(std::llround(std::ldexp(1e12, log)));
}

PtpClockIdentity identity_of(const MacAddress& mac) {
  return {mac[0], mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
}

std::string_view type_name(std::size_t type) {
  switch (static_cast<PtpType>(type)) {
    case PtpType::sync:
      return "sync";
    case PtpType::delay_req:
      return "delay_req";
    case PtpType::pdelay_req:
      return "pdelay_req";
    case PtpType::pdelay_resp:
      return "pdelay_resp";
    case PtpType::follow_up:
      return "follow_up";
    case PtpType::delay_resp:
      return "delay_resp";
    case PtpType::pdelay_resp_follow_up:
      return "pdelay_resp_follow_up";
    case PtpType::announce:
      return "announce";
    case PtpType::signaling:
      return "signaling";
    case PtpType::management:
      return "management";
  }
  return {};
}

GrandmasterSetting checked(GrandmasterSetting setting) {
  if (setting.gptp) {
    setting.transport = PtpTransport::ethernet;
    setting.major_sdo = 1;
    setting.two_step = true;
  }
  for (const auto log : {setting.log_announce, setting.log_sync, setting.log_delay_req})
    if (log < -10 || log > 10) throw InputError("grandmaster: log intervals are -10 to 10");
  if (std::abs(static_cast<double>(setting.asymmetry_ps)) > static_cast<double>(setting.delay_ps))
    throw InputError("grandmaster: the asymmetry is more than the delay");
  if (setting.major_sdo > 15) throw InputError("grandmaster: majorSdoId is 0 to 15");
  return setting;
}

}  // namespace

Grandmaster::Grandmaster(const GrandmasterSetting& setting, const WireSetting& wire)
    : setting_(checked(setting)),
      wire_(wire),
      path_(setting_.transport, setting_.address, setting_.gptp, setting_.tags),
      clock_(std::make_shared<GrandmasterClock>(setting_.clock)),
      port_{identity_of(setting_.address.mac), 1},
      to_card_ps_(setting_.delay_ps + static_cast<std::uint64_t>(setting_.asymmetry_ps)),
      from_card_ps_(setting_.delay_ps - static_cast<std::uint64_t>(setting_.asymmetry_ps)),
      next_announce_ps_(setting_.start_ps),
      next_sync_ps_(setting_.start_ps + 1'000'000) {}

PtpHeader Grandmaster::header(PtpType type, std::uint16_t sequence, std::int8_t log_interval) const {
  PtpHeader header;
  header.type = type;
  header.major_sdo = setting_.major_sdo;
  header.domain = setting_.domain;
  header.source = port_;
  header.sequence = sequence;
  header.log_interval = log_interval;
  return header;
}

void Grandmaster::send(const Bytes& message, PtpPath::To to, std::uint64_t leaves_ps, Hook hook) {
  queue(path_.wrap(message, is_event(static_cast<PtpType>(message[0] & 15)), to), leaves_ps, std::move(hook));
}

void Grandmaster::queue(Bytes frame, std::uint64_t leaves_ps, Hook hook) {
  RxFrame out;
  out.bytes = std::move(frame);
  out.at_ps = leaves_ps + to_card_ps_;
  if (hook)
    out.on_start = [clock = clock_, path = path_, way_ps = to_card_ps_, hook = std::move(hook)](Bytes& bytes,
                                                                                                std::uint64_t sfd_ps) {
      hook(path.message(bytes), clock->at(static_cast<std::int64_t>(sfd_ps - way_ps)));
      path.update_checksum(bytes);
    };
  out_.emplace(out.at_ps, std::move(out));
}

void Grandmaster::send_two_step(const Bytes& event, const Bytes& follow_up, PtpPath::To to, std::uint64_t leaves_ps,
                                std::int64_t correction) {
  // The hook of a frame that the card's MAC drops is never called; such a one has left when it was to leave.
  const auto left = std::make_shared<std::optional<PtpInstant>>();
  const auto planned_ps = static_cast<std::int64_t>(leaves_ps + wire::preamble * wire_.byte_ps());
  send(event, to, leaves_ps, [left](std::span<std::uint8_t>, const PtpInstant& sent) { *left = sent; });
  send(follow_up, to, leaves_ps + setting_.follow_up_ps,
       [left, planned_ps, correction, clock = clock_](std::span<std::uint8_t> message, const PtpInstant&) {
         const PtpInstant sent = *left ? **left : clock->at(planned_ps);
         put_timestamp(message, sent);
         put_correction(message, add_corrections(correction, scaled_ns(0, sent.ps)));
       });
}

void Grandmaster::announce(std::uint64_t at_ps) {
  PtpHeader head = header(PtpType::announce, announce_sequence_++, setting_.log_announce);
  if (setting_.ptp_timescale) head.flags |= ptp_flag::ptp_timescale;
  if (setting_.utc_offset_valid) head.flags |= ptp_flag::utc_offset_valid;
  if (setting_.traceable) head.flags |= ptp_flag::time_traceable | ptp_flag::frequency_traceable;
  if (setting_.leap == PtpLeap::inserted) head.flags |= ptp_flag::leap61;
  if (setting_.leap == PtpLeap::deleted) head.flags |= ptp_flag::leap59;
  Bytes message = build_ptp(head, setting_.gptp ? path_trace_tlv(port_.clock) : Bytes{});
  put_be(message, 44, setting_.utc_offset);
  message[47] = setting_.priority1;
  message[48] = setting_.clock_class;
  message[49] = setting_.clock_accuracy;
  put_be(message, 50, setting_.variance);
  message[52] = setting_.priority2;
  put_bytes(message, 53, port_.clock);
  put_be(message, 61, setting_.steps_removed);
  message[63] = setting_.time_source;
  send(message, PtpPath::To::all, at_ps);
}

void Grandmaster::sync(std::uint64_t at_ps) {
  PtpHeader head = header(PtpType::sync, sync_sequence_++, setting_.log_sync);
  if (!setting_.two_step) {
    send(build_ptp(head), PtpPath::To::all, at_ps, [](std::span<std::uint8_t> message, const PtpInstant& sent) {
      put_timestamp(message, sent);
      put_correction(message, scaled_ns(0, sent.ps));
    });
    return;
  }
  head.flags |= ptp_flag::two_step;
  const Bytes event = build_ptp(head);
  head.type = PtpType::follow_up;
  head.flags = 0;
  const Bytes follow_up = build_ptp(head, setting_.gptp ? follow_up_information_tlv() : Bytes{});
  send_two_step(event, follow_up, PtpPath::To::all, at_ps, 0);
}

std::vector<RxFrame> Grandmaster::poll(std::uint64_t now_ps, std::size_t pending) {
  // After a jump of time what was missed is not made up for.
  const auto advance = [now_ps](std::uint64_t& next_ps, std::int8_t log) {
    const std::uint64_t interval = interval_ps(log);
    next_ps += (1 + (now_ps > next_ps ? (now_ps - next_ps) / interval : 0)) * interval;
  };
  if (next_announce_ps_ <= now_ps) {
    announce(std::max(next_announce_ps_, now_ps));
    advance(next_announce_ps_, setting_.log_announce);
  }
  if (next_sync_ps_ <= now_ps) {
    sync(std::max(next_sync_ps_, now_ps));
    advance(next_sync_ps_, setting_.log_sync);
  }
  std::vector<RxFrame> frames;
  for (; !out_.empty() && out_.begin()->first <= now_ps + hand_over_ps; out_.erase(out_.begin())) {
    if (pending + frames.size() >= most_pending) {  // the card's MAC stands still
      ++statistics_.overrun;
      continue;
    }
    RxFrame& frame = out_.begin()->second;
    const auto type = static_cast<std::size_t>(frame.bytes[path_.offset()] & 15);
    if (get_be<std::uint16_t>(frame.bytes, path_.type_at()) != layout::type_arp) ++statistics_.sent[type];
    frames.push_back(std::move(frame));
  }
  return frames;
}

std::uint64_t Grandmaster::next_ps() const {
  std::uint64_t next = std::min(next_announce_ps_, next_sync_ps_);
  if (!out_.empty()) {
    const std::uint64_t due = out_.begin()->first;
    next = std::min(next, due - std::min(due, hand_over_ps));
  }
  return next;
}

void Grandmaster::report(const WireReport& report) const {
  const auto each = [&](std::string_view prefix, const auto& counts) {
    for (std::size_t type = 0; type < counts.size(); ++type)
      if (!type_name(type).empty())
        report(std::string(prefix) + std::string(type_name(type)), static_cast<double>(counts[type]));
  };
  each("sent_", statistics_.sent);
  each("received_", statistics_.received);
  for (std::size_t i = 0; i < drop_names.size(); ++i)
    report("dropped_" + std::string(drop_names[i]), static_cast<double>(statistics_.dropped[i]));
  report("dropped_overrun", static_cast<double>(statistics_.overrun));
  report("arp_answered", static_cast<double>(statistics_.arp_answered));
}

}  // namespace meridian
