// SPDX-License-Identifier: Apache-2.0
#include "pcie/block_port.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace meridian {

namespace {

// MSI-X tables in BAR0, as docs/dma.md has them.
constexpr std::uint32_t pf_table = 0x30000, vf_table = 0x4000;
constexpr unsigned vectors = 16;
/// Where a write is a message: beyond all memory, a place a function and vector.
constexpr std::uint64_t messages_at = 0xffff'f000'0000'0000;

}  // namespace

BlockPort::BlockPort(const QdmaSetting& setting, pcie::Block& block, MemoryBus& host)
    : setting_(setting.pcie), block_(block), link_(setting.pcie, host) {
  if (setting.reset != PcieReset::all)
    throw InputError(
        "this shell has its own DMA engine, whose PCIe resets take a function's queues: choose --pcie-reset all");
  block_.set_sizes(setting_.max_payload, setting_.max_read_request);
  block_.on_answer = [this](const pcie::AccessAnswer& answer) { answered(answer); };
  block_.on_request = [this](pcie::Request request) { requested(std::move(request)); };
}

void BlockPort::read(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, Read done) {
  if (!fits(function, bar, offset, width)) return done(MERIDIAN_LINK_UNSUPPORTED, ones(width));
  while (open_.contains(tag_)) ++tag_;
  pcie::Access access;
  access.function = function;
  access.bar = bar;
  access.aperture = static_cast<unsigned>(std::countr_zero(bar_bytes(function, bar)));
  access.offset = static_cast<std::uint32_t>(offset);
  access.bytes = width;
  access.tag = tag_;
  open_[tag_++] = {width, static_cast<unsigned>(8 * (offset % 4)), std::move(done)};
  block_.access(access);
}

void BlockPort::write(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, std::uint64_t value) {
  if (!fits(function, bar, offset, width)) return;
  pcie::Access access;
  access.function = function;
  access.bar = bar;
  access.aperture = static_cast<unsigned>(std::countr_zero(bar_bytes(function, bar)));
  access.offset = static_cast<std::uint32_t>(offset);
  for (unsigned byte = 0; byte < width; ++byte) access.data.push_back(static_cast<std::uint8_t>(value >> (8 * byte)));
  block_.access(access);
}

void BlockPort::answered(const pcie::AccessAnswer& answer) {
  const auto found = open_.find(answer.tag);
  if (found == open_.end())
    throw CheckError("pcie: a completion for tag " + std::to_string(answer.tag) + ", which no read has");
  Open open = std::move(found->second);
  open_.erase(found);
  link_.flush();  // on its way to the host it pushes what was written before
  if (!answer.ok) return open.done(MERIDIAN_LINK_UNSUPPORTED, ones(open.width));
  if (answer.words.size() != (open.width + 3) / 4) throw CheckError("pcie: a read's answer has not its length");
  std::uint64_t value = answer.words[0];
  if (answer.words.size() > 1) value |= std::uint64_t{answer.words[1]} << 32;
  open.done(MERIDIAN_LINK_OK, value >> open.shift & ones(open.width));
}

void BlockPort::requested(pcie::Request request) {
  if (request.write && request.address >= messages_at)
    return link_.interrupt(request.function, static_cast<unsigned>(request.address >> 4) % vectors);
  if (request.write) {
    if (request.bytes > setting_.max_payload) throw CheckError("pcie: a write above the maximum payload size");
    return link_.write(request.function, request.address, request.data);
  }
  if (request.bytes > setting_.max_read_request) throw CheckError("pcie: a read above the maximum request size");
  link_.read(request.function, request.address, request.bytes,
             [this, request](bool ok, const Bytes& data) { complete(request, ok, data); });
}

/// In packets that end at multiples of the maximum payload size.
void BlockPort::complete(const pcie::Request& request, bool ok, const Bytes& data) {
  if (!ok) return block_.complete({request.tag, request.address, request.bytes, false, {}});
  for (std::uint32_t sent = 0; sent < request.bytes;) {
    const std::uint64_t at = request.address + sent;
    const std::uint32_t left = request.bytes - sent;
    const auto count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(left, setting_.max_payload - at % setting_.max_payload));
    block_.complete({request.tag, at, left, true, Bytes(data.begin() + sent, data.begin() + sent + count)});
    sent += count;
  }
}

void BlockPort::write_messages(unsigned function) {
  pcie::Access access;
  access.function = function;
  access.aperture = static_cast<unsigned>(std::countr_zero(bar_bytes(function, 0)));
  access.offset = function < first_vf ? pf_table : vf_table;
  for (unsigned vector = 0; vector < vectors; ++vector) {
    const std::uint64_t address = messages_at + 16 * vector;
    for (const std::uint32_t word :
         {static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32), vector, std::uint32_t{0}})
      for (unsigned byte = 0; byte < 4; ++byte) access.data.push_back(static_cast<std::uint8_t>(word >> (8 * byte)));
  }
  block_.access(access);
}

void BlockPort::enable_function(unsigned function, bool enabled, unsigned) {
  if (function >= functions_) return;
  link_.enable(function, enabled);
  block_.set_enabled(function, enabled);
  block_.set_msix(function, enabled);
  if (enabled) write_messages(function);
}

void BlockPort::reset_function(unsigned function, std::function<void()> done) {
  if (function >= functions_) {
    if (done) done();
    return;
  }
  resets_.emplace(function, std::move(done));
  if (!block_.in_reset(function)) block_.begin_reset(function);
}

void BlockPort::tick(std::uint64_t now_ps) {
  link_.run(now_ps);
  block_.hold_requests(link_.behind());
  while (const auto function = block_.pop_reset()) {
    std::vector<std::function<void()>> dones;
    for (auto [at, end] = resets_.equal_range(*function); at != end; ++at) dones.push_back(std::move(at->second));
    resets_.erase(*function);
    for (const auto& done : dones)
      if (done) done();
  }
}

void BlockPort::reset() {
  link_.reset();
  block_.reset();
  for (auto& [function, done] : std::exchange(resets_, {}))
    if (done) done();
  for (auto& [tag, open] : std::exchange(open_, {})) open.done(MERIDIAN_LINK_UNSUPPORTED, ones(open.width));
}

}  // namespace meridian
