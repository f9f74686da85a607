// SPDX-License-Identifier: Apache-2.0
#include "twin/taps.hpp"

#include <string>
#include <utility>

namespace meridian {

void Taps::start(const std::filesystem::path& path) {
  stop();
  const unsigned ports = Card::ports();
  std::vector<CaptureInterface> interfaces;
  for (unsigned port = 0; port < ports; ++port) interfaces.push_back({"wire" + std::to_string(port), 0});
  interfaces.push_back({"host", 0});
  for (unsigned port = 0; port < ports; ++port) interfaces.push_back({"ps" + std::to_string(port), 0});
  file_ = std::make_shared<CaptureFile>(path, interfaces);

  for (unsigned port = 0; port < ports; ++port)
    wires_[port].set_tap([file = file_, port](std::uint64_t time_ps, const Bytes& frame, CaptureDirection direction,
                                              bool bad) { file->write(port, time_ps, frame, direction, bad); });
  card_.set_host_tap([file = file_, ports](bool to_host, std::uint64_t time_ps, const Bytes& frame) {
    file->write(ports, time_ps, frame, to_host ? CaptureDirection::inbound : CaptureDirection::outbound);
  });
  ps_.set_tap(
      [this, file = file_, ports](unsigned port, CaptureDirection direction, std::span<const std::uint8_t> frame) {
        if (port < ports) file->write(ports + 1 + port, card_.now_ps(), frame, direction);
      });
}

std::uint64_t Taps::stop() {
  if (!file_) return 0;
  for (PortWire& wire : wires_) wire.set_tap({});
  card_.set_host_tap({});
  ps_.set_tap({});
  const auto file = std::exchange(file_, nullptr);
  file->flush();
  return file->frames();
}

}  // namespace meridian
