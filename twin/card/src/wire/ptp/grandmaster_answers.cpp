// SPDX-License-Identifier: Apache-2.0
#include "wire/frame/arp.hpp"
#include "wire/ptp/grandmaster.hpp"

namespace meridian {

void Grandmaster::answer_delay(const PtpHeader& request, const PtpPayload& payload, const PtpInstant& received,
                               std::uint64_t at_ps) {
  PtpHeader head = header(PtpType::delay_resp, request.sequence, setting_.log_delay_req);
  const bool unicast = (request.flags & ptp_flag::unicast) != 0;
  if (unicast) {
    head.flags |= ptp_flag::unicast;
    head.log_interval = 0x7f;
  }
  head.correction = add_corrections(request.correction, -scaled_ns(0, received.ps));
  Bytes message = build_ptp(head);
  put_timestamp(message, received);
  put_port(message, ptp_layout::requesting_port, request.source);
  if (unicast) {
    queue(path_.wrap(message, false, payload.from), at_ps, {});
  } else {
    send(message, PtpPath::To::all, at_ps);
  }
}

void Grandmaster::answer_pdelay(const PtpHeader& request, const PtpInstant& received, std::uint64_t at_ps) {
  PtpHeader head = header(PtpType::pdelay_resp, request.sequence, 0x7f);
  if (!setting_.two_step) {
    Bytes message = build_ptp(head);
    put_port(message, ptp_layout::requesting_port, request.source);
    send(message, PtpPath::To::peer, at_ps,
         [received, correction = request.correction](std::span<std::uint8_t> answer, const PtpInstant& sent) {
           put_correction(answer, add_corrections(correction, scaled_between(received, sent)));
         });
    return;
  }
  head.flags |= ptp_flag::two_step;
  head.correction = -scaled_ns(0, received.ps);
  Bytes message = build_ptp(head);
  put_timestamp(message, received);
  put_port(message, ptp_layout::requesting_port, request.source);
  head.type = PtpType::pdelay_resp_follow_up;
  head.flags = 0;
  head.correction = 0;
  Bytes follow_up = build_ptp(head);
  put_port(follow_up, ptp_layout::requesting_port, request.source);
  send_two_step(message, follow_up, PtpPath::To::peer, at_ps, request.correction);
}

bool Grandmaster::answer_arp(const TxFrame& frame) {
  if (setting_.transport != PtpTransport::udp4 || !path_.tags().match(frame.bytes)) return false;
  auto answer = arp_answer(path_.tags().strip(frame.bytes), setting_.address.mac, setting_.address.ip4);
  if (!answer) return false;
  path_.tags().insert(*answer);
  ++statistics_.arp_answered;
  queue(std::move(*answer), frame.t_end_ps + from_card_ps_ + setting_.turnaround_ps, {});
  return true;
}

std::optional<PtpPayload> Grandmaster::accept(const TxFrame& frame, PtpHeader& header) {
  const auto refuse = [&](Drop reason) {
    drop(reason);
    return std::nullopt;
  };
  const auto unwrapped = path_.unwrap(frame.bytes);
  if (const auto* fault = std::get_if<PtpFrameFault>(&unwrapped)) {
    static constexpr Drop reasons[] = {Drop::foreign, Drop::ip, Drop::udp};
    return refuse(reasons[static_cast<std::size_t>(*fault)]);
  }
  const auto& payload = std::get<PtpPayload>(unwrapped);
  const auto parsed = parse_ptp(std::span(frame.bytes).subspan(payload.offset, payload.length));
  if (const auto* fault = std::get_if<PtpFault>(&parsed)) {
    static constexpr Drop reasons[] = {Drop::version, Drop::type, Drop::length, Drop::tlv, Drop::timestamp};
    return refuse(reasons[static_cast<std::size_t>(*fault)]);
  }
  header = std::get<PtpHeader>(parsed);
  if (payload.event_port && *payload.event_port != is_event(header.type)) return refuse(Drop::wrong_port);
  if (header.major_sdo != setting_.major_sdo) return refuse(Drop::sdo);
  // In 802.1AS peer delay is common to all domains and runs in domain 0.
  const bool common = setting_.gptp && header.type == PtpType::pdelay_req && header.domain == 0;
  if (header.domain != setting_.domain && !common) return refuse(Drop::domain);
  return payload;
}

void Grandmaster::receive(const TxFrame& frame) {
  if (frame.bad) return drop(Drop::bad_fcs);
  if (answer_arp(frame)) return;
  PtpHeader request;
  const auto payload = accept(frame, request);
  if (!payload) return;
  ++statistics_.received[static_cast<std::size_t>(request.type)];
  const PtpInstant received = clock_->at(static_cast<std::int64_t>(frame.t_ps + from_card_ps_));
  const std::uint64_t answer_ps = frame.t_end_ps + from_card_ps_ + setting_.turnaround_ps;
  if (request.type == PtpType::delay_req) answer_delay(request, *payload, received, answer_ps);
  if (request.type == PtpType::pdelay_req) answer_pdelay(request, received, answer_ps);
}

}  // namespace meridian
