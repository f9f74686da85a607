// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "link/link_parts.hpp"

namespace meridian {

HostBus::HostBus(const LinkSetting& setting, LinkServer::Statistics& statistics)
    : setting_(setting), statistics_(statistics), whole_(MERIDIAN_LINK_PCIE, setting, statistics) {}

LinkBus& HostBus::of(unsigned function) {
  const auto found = owned_.find(function);
  return found == owned_.end() ? whole_ : found->second;
}

LinkBus& HostBus::add(unsigned function) {
  // What the host has said of it before says nothing of the new client.
  whole_.enable(function, false);
  return owned_.try_emplace(function, MERIDIAN_LINK_PCIE_FUNCTION, setting_, statistics_).first->second;
}

void HostBus::read(unsigned function, std::uint64_t address, std::uint32_t bytes, ReadDone done) {
  of(function).read(function, address, bytes, std::move(done));
}

void HostBus::write(unsigned function, std::uint64_t address, std::span<const std::uint8_t> data) {
  of(function).write(function, address, data);
}

void HostBus::interrupt(unsigned function, unsigned vector) {
  of(function).interrupt(function, vector);
}

}  // namespace meridian
