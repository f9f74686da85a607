// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/random.hpp"
#include "bench/dma_run.hpp"

namespace meridian {

/// Accesses to a register of BAR2, one at a time, beside DMA: the way across the modelled link, and what the shell's
/// own AXI4-Lite bus takes for them. The bridge of the IP has no time of its own in the model.
class RegisterRun {
 public:
  /// The setting's mode is the load. count: accesses of each kind.
  RegisterRun(const DmaSetting& setting, unsigned count);

  nlohmann::json measure();

 private:
  void time_shell();
  std::uint64_t arrive(std::uint64_t shell_ps);
  nlohmann::json read();
  nlohmann::json write();

  DmaSetting setting_;
  unsigned count_;
  Random random_;
  DmaRun run_;
  std::uint64_t flight_ps_;
  std::vector<std::uint64_t> read_ps_, write_ps_;  // in the shell
};

}  // namespace meridian
