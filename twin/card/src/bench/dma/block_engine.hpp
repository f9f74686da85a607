// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/host/engine_port.hpp"
#include "pcie/block_port.hpp"
#include "shell/card.hpp"

namespace meridian {

/// The DMA engine of our own, as it is in the shell, behind the model of the integrated block for PCIe. The block takes
/// requests and answers in every cycle unless the link is behind, and the host has enabled Extended Tag; the link is
/// that of the model of the QDMA IP.
class BlockEngine final : public EnginePort {
 public:
  BlockEngine(const QdmaSetting& setting, Card& card, MemoryBus& host);

  const char* name() const override { return "meridian"; }
  void enable_function(unsigned function) override { port_.enable_function(function, true, 0); }
  std::uint32_t read(unsigned function, std::uint32_t offset) override { return access(function, 0, offset); }
  void write(unsigned function, std::uint32_t offset, std::uint32_t value) override {
    port_.write(function, 0, offset, 4, value);
  }
  void push(unsigned function, std::uint32_t offset, std::span<const std::uint8_t> bytes) override {
    port_.push(function, offset, bytes);
  }
  std::uint32_t read_register(std::uint32_t address) override { return access(0, 2, address); }
  void write_register(std::uint32_t address, std::uint32_t value) override { port_.write(0, 2, address, 4, value); }
  bool posts_registers() const override { return true; }
  std::size_t waiting() const override { return port_.waiting(); }
  std::uint64_t access_wait_ps() const override { return port_.link().access_wait_ps(); }
  std::uint64_t answer() override { return port_.link().answer(); }
  void tick(std::uint64_t now_ps) override { port_.tick(now_ps); }

 private:
  std::uint32_t access(unsigned function, unsigned bar, std::uint32_t offset);

  Card& card_;
  BlockPort port_;
};

}  // namespace meridian
