// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "link/host_port.hpp"
#include "qdma/qdma_ip.hpp"
#include "shell/card.hpp"
#include "twin/register_port.hpp"

namespace meridian {

/// BAR0 is that of the model of the QDMA IP; BAR2 is the shell's bus of registers.
class QdmaPort final : public HostPort {
 public:
  QdmaPort(const QdmaSetting& setting, Card& card, MemoryBus& host)
      : qdma_(setting, card.qdma(), host), registers_(card.pf_bus(), bar_bytes(0, 2)) {}

  void read(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, Read done) override;
  void write(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, std::uint64_t value) override;
  std::size_t pending() const override { return registers_.pending(); }
  std::size_t reads() const override { return registers_.reads(); }
  void collect() override { registers_.collect(); }
  void enable_function(unsigned function, bool enabled, unsigned parent) override {
    qdma_.enable_function(function, enabled, parent);
  }
  void reset_function(unsigned function, std::function<void()> done) override {
    qdma_.reset_function(function, std::move(done));
  }
  void reset() override;
  void tick(std::uint64_t now_ps) override { qdma_.tick(now_ps); }
  bool idle() const override { return qdma_.idle(); }
  std::uint64_t next_ps() const override { return qdma_.next_ps(); }

 private:
  QdmaIp qdma_;
  RegisterPort registers_;
};

}  // namespace meridian
