// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/random.hpp"
#include "bench/dma/dma_run.hpp"

namespace meridian {

/// Accesses to a register of BAR2, one at a time, beside DMA of the self-test block: the way across the modelled link,
/// and the AXI4-Lite bus of the shell that the frames pass. The bridge of the IP has no time of its own in the model;
/// that of an engine of the card's is part of the shell's. Nobody is told when such an engine's write is done.
class RegisterRun {
 public:
  /// The setting's mode is the load, its source the block. count: accesses of each kind.
  RegisterRun(const DmaSetting& setting, unsigned count);

  nlohmann::json measure();

 private:
  std::uint64_t arrive();
  std::uint64_t read();
  std::uint64_t write();

  DmaSetting setting_;
  unsigned count_;
  Random random_;
  DmaRun run_;
  std::uint64_t flight_ps_;
  std::uint32_t written_ = 0;
  std::vector<std::uint64_t> shell_read_ps_, shell_write_ps_;  // of these, in the shell
};

}  // namespace meridian
