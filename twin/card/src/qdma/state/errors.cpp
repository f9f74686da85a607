// SPDX-License-Identifier: Apache-2.0
#include "qdma/state/errors.hpp"

namespace meridian {

namespace {

struct LeafRegisters {
  std::uint32_t status, mask, summary;
};

constexpr LeafRegisters leaf_registers[] = {
    {0x254, 0x258, 1U << 2}, {0x264, 0x268, 1U << 3},  {0xaf0, 0xaf4, 1U << 8},
    {0xaf8, 0xafc, 1U << 8}, {0xe00, 0xe04, 1U << 16},
};
/// Leaves of what this model never meets: memory errors and requests of the bridge.
constexpr std::uint32_t quiet_leaves[] = {0x0e4, 0x0ec, 0x0f4, 0x0fc, 0x318};

constexpr std::uint32_t armed = 1U << 24, coalesced = 1U << 23;
constexpr std::uint32_t valid = 1U << 31;

}  // namespace

void Errors::raise(Leaf leaf, std::uint32_t bits) {
  const LeafRegisters& at = leaf_registers[static_cast<unsigned>(leaf)];
  csr_.set(at.status, get(at.status) | bits);
  if ((bits & get(at.mask)) == 0) return;
  csr_.set(reg::error_status, get(reg::error_status) | at.summary);
  tell();
}

void Errors::tell() {
  const std::uint32_t target = get(reg::error_interrupt);
  if ((target & armed) == 0 || (get(reg::error_status) & get(reg::error_mask)) == 0) return;
  csr_.set(reg::error_interrupt, target & ~armed);
  const unsigned function = target & 0xfff, vector = (target >> 12) & 0x7ff;
  if ((target & coalesced) != 0)
    interrupts_.aggregated(vector, {});
  else
    interrupts_.direct(function, vector);
}

void Errors::log_descriptor(bool c2h, unsigned queue, unsigned cidx, unsigned old_pidx, unsigned new_pidx) {
  if ((get(reg::dsc_error_log0) & valid) != 0) return;
  csr_.set(reg::dsc_error_log0, valid | (c2h ? 1U << 30 : 0) | queue);
  csr_.set(reg::dsc_error_log1, cidx << 12);
  csr_.set(reg::dsc_error_log2, (old_pidx << 16) | new_pidx);
}

void Errors::log_access(unsigned function, std::uint32_t offset) {
  if (get(reg::trq_error_log) != 0) return;
  csr_.set(reg::trq_error_log, (function << 17) | (offset & 0x1ffff));
}

bool Errors::write(std::uint32_t offset, std::uint32_t value) {
  bool mine = offset == reg::error_status;
  for (const LeafRegisters& leaf : leaf_registers) mine = mine || offset == leaf.status;
  for (const std::uint32_t leaf : quiet_leaves) mine = mine || offset == leaf;
  if (mine) {
    csr_.set(offset, get(offset) & ~value);
    if (get(offset) == 0 && offset == leaf_registers[0].status) csr_.set(reg::dsc_error_log0, 0);
    if (get(offset) == 0 && offset == leaf_registers[1].status) csr_.set(reg::trq_error_log, 0);
    return true;
  }
  if (offset != reg::error_interrupt && offset != reg::error_mask) return false;
  csr_.set(offset, value);
  tell();
  return true;
}

}  // namespace meridian
