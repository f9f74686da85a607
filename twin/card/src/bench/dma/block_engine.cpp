// SPDX-License-Identifier: Apache-2.0
#include "bench/dma/block_engine.hpp"

#include <optional>
#include <string>

#include "base/error.hpp"

namespace meridian {

BlockEngine::BlockEngine(const QdmaSetting& setting, Card& card, MemoryBus& host)
    : card_(card), port_(setting, *card.pcie(), host) {
  port_.keep_time();
  port_.extend_tags();
  card.pcie()->set_steady();
}

std::uint32_t BlockEngine::access(unsigned function, unsigned bar, std::uint32_t offset) {
  constexpr std::uint64_t limit_ps = 100'000'000;
  const std::string where = "BAR" + std::to_string(bar) + " address " + std::to_string(offset);
  std::optional<meridian_link_status> status;
  std::uint32_t value = 0;
  port_.read(function, bar, offset, 4, [&](meridian_link_status said, std::uint64_t got) {
    status = said;
    value = static_cast<std::uint32_t>(got);
  });
  card_.run_until([&] { return status.has_value(); }, limit_ps, "an answer of " + where);
  if (*status != MERIDIAN_LINK_OK) throw CheckError("the card refuses a read of " + where);
  return value;
}

}  // namespace meridian
