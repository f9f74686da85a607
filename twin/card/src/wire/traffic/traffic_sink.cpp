// SPDX-License-Identifier: Apache-2.0
#include "wire/traffic/traffic_sink.hpp"

#include <algorithm>

namespace meridian {

void TrafficSink::receive(const TxFrame& frame) {
  if (frame.bad) {
    ++statistics_.bad_fcs;
    return;
  }
  const auto read = traffic_read(frame.bytes);
  if (const auto* fault = std::get_if<TrafficFault>(&read)) {
    statistics_.foreign += *fault == TrafficFault::foreign;
    statistics_.corrupt += *fault == TrafficFault::corrupt;
    statistics_.bad_checksum += *fault == TrafficFault::checksum;
    return;
  }
  const auto& mark = std::get<TrafficMark>(read);
  Flow& flow = flows_[std::uint32_t{mark.generator} << 16 | mark.flow];
  const std::uint64_t sequence = mark.sequence;
  if (sequence >= flow.next) {
    // The numbers between have their places in the window cleared, all of them when it moves by a window.
    if (sequence - flow.next >= window) {
      flow.seen.reset();
    } else {
      for (std::uint64_t n = flow.next; n < sequence; ++n) flow.seen.reset(n % window);
    }
    flow.next = sequence + 1;
  } else {
    const bool in_window = flow.next - sequence <= window;
    if (in_window && flow.seen.test(sequence % window)) {
      ++statistics_.duplicates;
      return;
    }
    ++statistics_.reordered;
    if (!in_window) {
      ++flow.received;
      ++statistics_.received;
      statistics_.bytes += frame.bytes.size();
      return;
    }
  }
  flow.seen.set(sequence % window);
  ++flow.received;
  if (statistics_.received++ == 0) statistics_.first_ps = frame.t_ps;
  statistics_.last_ps = frame.t_ps;
  statistics_.bytes += frame.bytes.size();
  latency_.add((frame.t_ps - mark.sent_ps) & TrafficMark::time_mask);
}

std::uint64_t TrafficSink::lost() const {
  std::uint64_t lost = 0;
  for (const auto& [key, flow] : flows_) lost += flow.next - std::min(flow.next, flow.received);
  return lost;
}

std::uint64_t TrafficSink::received_from(std::uint8_t generator) const {
  std::uint64_t received = 0;
  for (const auto& [key, flow] : flows_)
    if (key >> 16 == generator) received += flow.received;
  return received;
}

void TrafficSink::report(const WireReport& report) const {
  const auto count = [&](std::string_view name, std::uint64_t value) { report(name, static_cast<double>(value)); };
  count("received", statistics_.received);
  count("received_bytes", statistics_.bytes);
  count("lost", lost());
  count("duplicates", statistics_.duplicates);
  count("reordered", statistics_.reordered);
  count("corrupt", statistics_.corrupt);
  count("bad_checksum", statistics_.bad_checksum);
  count("bad_fcs", statistics_.bad_fcs);
  count("foreign", statistics_.foreign);
  if (latency_.count() == 0) return;
  report("latency_min_ns", static_cast<double>(latency_.least()) / 1000);
  report("latency_mean_ns", latency_.mean() / 1000);
  report("latency_p50_ns", static_cast<double>(latency_.percentile(0.50)) / 1000);
  report("latency_p99_ns", static_cast<double>(latency_.percentile(0.99)) / 1000);
  report("latency_max_ns", static_cast<double>(latency_.most()) / 1000);
}

}  // namespace meridian
