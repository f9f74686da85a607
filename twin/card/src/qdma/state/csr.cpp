// SPDX-License-Identifier: Apache-2.0
#include "qdma/state/csr.hpp"

#include "qdma/qdma_ip.hpp"

namespace meridian {

namespace {

constexpr std::uint32_t identifier_value = 0x1fd30000;
constexpr std::uint32_t stream_only = 0x30000;

/// One field of 6 bits a PF, a bitmap of BARs.
std::uint32_t bars(unsigned pfs, std::uint32_t bitmap) {
  std::uint32_t value = 0;
  for (unsigned pf = 0; pf < pfs; ++pf) value |= bitmap << (6 * pf);
  return value;
}

bool read_only(std::uint32_t offset) {
  if (offset >= reg::glbl2_identifier && offset <= reg::misc_cap) return true;
  if (offset >= 0xa88 && offset <= 0xaac) return true;  // statistics
  switch (offset) {
    case reg::identifier:
    case 0x014:
    case 0x020:
    case reg::dsc_error_log0:
    case reg::dsc_error_log1:
    case reg::dsc_error_log2:
    case reg::trq_error_log:
    case reg::prefetch_cache_depth:
    case reg::write_back_buffer_depth:
    case reg::old_vf_version:
    case reg::c2h_mm_status:
    case reg::h2c_mm_status:
      return true;
    default:
      return false;
  }
}

}  // namespace

Csr::Csr(const QdmaSetting& setting)
    : misc_cap_(setting.version == QdmaVersion::eqdma5 ? 0x02200003 : 0x01100003),
      vf_version_(setting.version == QdmaVersion::eqdma5 ? 0x1fd30220 : 0x1fd30110),
      pf_bars_int_(bars(setting.pfs, 1)),
      pf_bars_ext_(bars(setting.pfs, 4)),
      queues_(setting.queues),
      cycle_ps_(1'000'000 / setting.user_mhz) {
  reset();
}

void Csr::reset() {
  words_.fill(0);
  set(reg::identifier, identifier_value);
  set(reg::glbl2_identifier, 0x1fd70000);
  set(reg::pf_barlite_int, pf_bars_int_);
  set(reg::pf_vf_barlite_int, pf_bars_int_);
  set(reg::pf_barlite_ext, pf_bars_ext_);
  set(reg::pf_vf_barlite_ext, pf_bars_ext_);
  set(reg::channel_inst, stream_only);
  set(reg::channel_mdma, stream_only);
  set(reg::channel_strm, stream_only);
  set(reg::channel_cap, queues_);
  set(reg::misc_cap, misc_cap_);
  set(reg::timer_tick, 25);
  set(reg::completion_format, 0x00020001);
  set(reg::prefetch_cache_depth, 64);
  set(reg::write_back_buffer_depth, 32);
}

void Csr::write(std::uint32_t offset, std::uint32_t value) {
  if (!read_only(offset)) words_[offset / 4] = value;
}

std::uint64_t Csr::timer_ps(unsigned index) const {
  return std::uint64_t{read(reg::timer_count + 4 * index) & 0xffff} * read(reg::timer_tick) * cycle_ps_;
}

}  // namespace meridian
