// SPDX-License-Identifier: Apache-2.0
#include "msix_tables.hpp"

namespace meridian {

namespace {

constexpr std::uint32_t entry_bytes = 16, pending_bytes = 8, control_word = 3;

}  // namespace

bool MsixTables::has(unsigned function, std::uint32_t offset) {
  const std::uint32_t in_table = offset - table(function), in_pending = offset - pending_bits(function);
  return in_table < entry_bytes * vectors || in_pending < pending_bytes;
}

std::uint32_t MsixTables::read(unsigned function, std::uint32_t offset) const {
  const Function& f = function_.at(function);
  const std::uint32_t in_pending = offset - pending_bits(function);
  if (in_pending < pending_bytes) return in_pending == 0 ? f.pending : 0;
  const std::uint32_t in_table = offset - table(function), word = in_table % entry_bytes / 4;
  const Entry& entry = f.entries.at(in_table / entry_bytes);
  return word == control_word ? entry.masked : entry.words.at(word);
}

void MsixTables::write(unsigned function, std::uint32_t offset, std::uint32_t value) {
  const std::uint32_t in_table = offset - table(function), word = in_table % entry_bytes / 4;
  if (in_table >= entry_bytes * vectors) return;
  Entry& entry = function_.at(function).entries.at(in_table / entry_bytes);
  if (word != control_word) {
    entry.words.at(word) = value;
    return;
  }
  entry.masked = (value & 1) != 0;
  send_pending(function);
}

void MsixTables::interrupt(unsigned function, unsigned vector) {
  if (function >= function_.size() || vector >= vectors) return;
  function_[function].pending |= 1U << vector;
  send_pending(function);
}

void MsixTables::allow(unsigned function, bool enabled, bool masked) {
  function_.at(function).enabled = enabled;
  function_.at(function).masked = masked;
  send_pending(function);
}

void MsixTables::set_master(unsigned function, bool on) {
  function_.at(function).master = on;
  send_pending(function);
}

void MsixTables::reset(unsigned function, bool by_pcie) {
  function_.at(function).pending = 0;
  if (by_pcie)
    for (Entry& entry : function_.at(function).entries) entry.masked = true;
}

void MsixTables::send_pending(unsigned function) {
  Function& f = function_.at(function);
  if (!f.enabled || f.masked || !f.master) return;
  for (unsigned vector = 0; vector < vectors; ++vector) {
    const Entry& entry = f.entries[vector];
    if (entry.masked || (f.pending >> vector & 1) == 0) continue;
    f.pending &= ~(1U << vector);
    messages.push_back(
        {function, (std::uint64_t{entry.words[1]} << 32 | entry.words[0]) & ~std::uint64_t{3}, entry.words[2]});
  }
}

}  // namespace meridian
