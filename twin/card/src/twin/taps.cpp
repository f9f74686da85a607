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
  if (has_streams_) {
    card_.qdma().c2h.set_tap([file = file_, ports](const C2hFrame& frame) {
      file->write(ports, frame.t_ps, frame.bytes, CaptureDirection::inbound);
    });
    card_.qdma().h2c.set_tap([this, file = file_, ports](unsigned, const H2cFrame& frame) {
      file->write(ports, card_.now_ps(), frame.bytes, CaptureDirection::outbound);
    });
  }
  ps_.set_tap(
      [this, file = file_, ports](unsigned port, CaptureDirection direction, std::span<const std::uint8_t> frame) {
        if (port < ports) file->write(ports + 1 + port, card_.now_ps(), frame, direction);
      });
}

std::uint64_t Taps::stop() {
  if (!file_) return 0;
  for (PortWire& wire : wires_) wire.set_tap({});
  if (has_streams_) {
    card_.qdma().c2h.set_tap({});
    card_.qdma().h2c.set_tap({});
  }
  ps_.set_tap({});
  const auto file = std::exchange(file_, nullptr);
  file->flush();
  return file->frames();
}

}  // namespace meridian
