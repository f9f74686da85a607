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
      flight_ps_(setting.qdma.pcie.unlimited ? 0 : 500ULL * setting.qdma.pcie.round_trip_ns),
      card_(*run_.side().card()) {}

/// An access that the host makes at any moment from now on: returns when it does, and stops as it is at the card.
std::uint64_t RegisterRun::arrive() {
  run_.run_until(run_.now_ps() + random_.below(step_ps));
  const std::uint64_t start_ps = run_.now_ps();
  run_.run_until(start_ps + flight_ps_ + run_.ip().access_wait_ps());
  return start_ps;
}

/// What the shell says of an access, which is waited for.
AxilResult RegisterRun::answer(std::uint64_t id) {
  constexpr std::uint64_t limit_ps = 100'000'000;
  card_.run_until([this] { return card_.pf_bus().has_result(); }, limit_ps, "an answer of the scratch register");
  const AxilResult result = *card_.pf_bus().pop();
  if (result.id != id || result.response != 0) throw CheckError("the shell refuses an access to its scratch register");
  return result;
}

std::uint64_t RegisterRun::read() {
  const std::uint64_t start_ps = arrive();
  const std::uint64_t asked_ps = run_.now_ps();
  const AxilResult got = answer(card_.pf_bus().read(scratch));
  if (got.data != written_) throw CheckError("the scratch register of the shell does not read back what was written");
  shell_read_ps_.push_back(got.t_ps - asked_ps);
  const std::uint64_t end_ps = run_.ip().answer() + flight_ps_;
  run_.run_until(end_ps);
  return end_ps - start_ps;
}

std::uint64_t RegisterRun::write() {
  const std::uint64_t start_ps = arrive();
  const std::uint64_t asked_ps = run_.now_ps();
  const AxilResult done = answer(card_.pf_bus().write(scratch, ++written_));
  shell_write_ps_.push_back(done.t_ps - asked_ps);
  return done.t_ps - start_ps;
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
  return {{"count", count_},
          {"source", run_.side().source()},
          {"read_us", spread_of(std::move(reads), us)},
          {"write_us", spread_of(std::move(writes), us)},
          {"shell_read_us", spread_of(std::move(shell_read_ps_), us)},
          {"shell_write_us", spread_of(std::move(shell_write_ps_), us)},
          {"load", run_.rates(before, after)}};
}

}  // namespace meridian
