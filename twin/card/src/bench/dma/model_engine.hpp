// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/host/engine_port.hpp"
#include "qdma/qdma_ip.hpp"
#include "shell/card.hpp"

namespace meridian {

/// The model of the QDMA IP. BAR2 is the shell's bus of registers, to which the IP's bridge adds no time.
class ModelEngine final : public EnginePort {
 public:
  /// card: the shell behind the streams, if there is one.
  ModelEngine(const QdmaSetting& setting, Qdma& streams, MemoryBus& host, Card* card)
      : ip_(setting, streams, host), card_(card) {}

  const char* name() const override { return "qdma_model"; }
  void enable_function(unsigned function) override { ip_.enable_function(function, true, 0); }
  std::uint32_t read(unsigned function, std::uint32_t offset) override { return ip_.read(function, offset); }
  void write(unsigned function, std::uint32_t offset, std::uint32_t value) override {
    ip_.write(function, offset, value);
  }
  void push(unsigned function, std::uint32_t offset, std::span<const std::uint8_t> bytes) override;
  std::uint32_t read_register(std::uint32_t address) override;
  void write_register(std::uint32_t address, std::uint32_t value) override;
  bool posts_registers() const override { return false; }
  std::size_t waiting() const override { return 0; }  // it takes each at once
  std::uint64_t access_wait_ps() const override { return ip_.access_wait_ps(); }
  std::uint64_t answer() override { return ip_.answer(); }
  void tick(std::uint64_t now_ps) override { ip_.tick(now_ps); }

 private:
  QdmaIp ip_;
  Card* card_;
};

}  // namespace meridian
