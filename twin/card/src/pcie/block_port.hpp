// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "link/host_port.hpp"
#include "pcie/block.hpp"
#include "qdma/pcie_link.hpp"
#include "qdma/qdma_ip.hpp"

namespace meridian {

/// A host behind the integrated block for PCIe: accesses to the BARs, memory, interrupts, resets.
///
/// Interrupts are messages of the shell's own MSI-X tables. Software's table is the machine's, which masks and keeps
/// vectors pending itself, so this class writes the shell's: each vector has an address of this class's own, and a
/// write to it is an interrupt of the machine.
class BlockPort final : public HostPort {
 public:
  BlockPort(const QdmaSetting& setting, pcie::Block& block, MemoryBus& host);

  void set_functions(unsigned functions) override { functions_ = functions; }
  void read(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, Read done) override;
  void write(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, std::uint64_t value) override;
  std::size_t pending() const override { return open_.size() + block_.accesses(); }
  std::size_t reads() const override { return open_.size(); }
  void collect() override {}
  void enable_function(unsigned function, bool enabled, unsigned parent) override;
  void reset_function(unsigned function, std::function<void()> done) override;
  void reset() override;
  void tick(std::uint64_t now_ps) override;
  bool idle() const override { return block_.idle() && link_.idle() && open_.empty(); }
  std::uint64_t next_ps() const override { return ~std::uint64_t{0}; }

 private:
  /// A read of the host without an answer.
  struct Open {
    unsigned width, shift;
    Read done;
  };

  void answered(const pcie::AccessAnswer& answer);
  void requested(pcie::Request request);
  void complete(const pcie::Request& request, bool ok, const Bytes& data);
  void write_messages(unsigned function);

  PcieSetting setting_;
  pcie::Block& block_;
  PcieLink link_;
  std::map<std::uint8_t, Open> open_;  // by tag
  unsigned functions_ = 256;
  std::uint8_t tag_ = 0;
  std::multimap<unsigned, std::function<void()>> resets_;  // what waits for a function's reset
};

}  // namespace meridian
