// SPDX-License-Identifier: Apache-2.0
#include "bench/dma/register_run.hpp"

#include <utility>

#include "base/error.hpp"
#include "bench/dma/spread_of.hpp"
#include "meridian_regs.h"

namespace meridian {

namespace {

using Json = nlohmann::json;

constexpr std::uint32_t scratch = MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_SCRATCH;
constexpr std::uint32_t step_ps = 2'000'000;
constexpr double us = 1e6;

}  // namespace

RegisterRun::RegisterRun(const DmaSetting& setting, unsigned count)
    : setting_(setting),
      count_(count),
      random_(setting.host.seed),
      run_(setting),
      flight_ps_(setting.qdma.pcie.unlimited ? 0 : 500ULL * setting.qdma.pcie.round_trip_ns) {}

/// An access that the host makes at any moment from now on: returns when it does, and stops as it is at the card.
std::uint64_t RegisterRun::arrive() {
  run_.run_until(run_.now_ps() + random_.below(step_ps));
  const std::uint64_t start_ps = run_.now_ps();
  run_.run_until(start_ps + flight_ps_ + run_.engine().access_wait_ps());
  return start_ps;
}

std::uint64_t RegisterRun::read() {
  const std::uint64_t start_ps = arrive();
  const std::uint64_t asked_ps = run_.now_ps();
  if (run_.engine().read_register(scratch) != written_)
    throw CheckError("the scratch register of the shell does not read back what was written");
  shell_read_ps_.push_back(run_.now_ps() - asked_ps);
  const std::uint64_t end_ps = run_.engine().answer() + flight_ps_;
  run_.run_until(end_ps);
  return end_ps - start_ps;
}

std::uint64_t RegisterRun::write() {
  const std::uint64_t start_ps = arrive();
  const std::uint64_t asked_ps = run_.now_ps();
  run_.engine().write_register(scratch, ++written_);
  shell_write_ps_.push_back(run_.now_ps() - asked_ps);
  return run_.now_ps() - start_ps;
}

Json RegisterRun::measure() {
  run_.run_until(run_.now_ps() + setting_.warm_ps);
  run_.side().begin(setting_.measure_ps);
  const DmaRun::Counts before = run_.counts();
  std::vector<std::uint64_t> reads, writes;
  for (unsigned number = 0; number < count_; ++number) {
    writes.push_back(write());
    reads.push_back(read());
  }
  const DmaRun::Counts after = run_.counts();
  run_.check_moved(before, after);
  run_.side().end();
  Json found{{"count", count_},
             {"engine", run_.engine().name()},
             {"source", run_.side().source()},
             {"read_us", spread_of(std::move(reads), us)},
             {"shell_read_us", spread_of(std::move(shell_read_ps_), us)},
             {"load", run_.rates(before, after)}};
  if (run_.engine().posts_registers()) return found;
  found["write_us"] = spread_of(std::move(writes), us);
  found["shell_write_us"] = spread_of(std::move(shell_write_ps_), us);
  return found;
}

}  // namespace meridian
