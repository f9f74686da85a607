// SPDX-License-Identifier: Apache-2.0
#include "shell/ps_memory.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace meridian {

namespace {

constexpr std::uint64_t address_limit = std::uint64_t{1} << 40;
constexpr unsigned incrementing = 1;
constexpr std::uint8_t decode_error = 3;

}  // namespace

void PsMemory::fail(const std::string& what, std::uint64_t now_ps) const {
  throw CheckError("ps memory at " + std::to_string(now_ps) + " ps: " + what);
}

std::uint8_t* PsMemory::byte_at(std::uint64_t address) {
  auto& page = pages_[address / page_bytes];
  if (page == nullptr) {
    if (pages_.size() > page_limit) throw CheckError("ps memory: more than 512 MB were written");
    page = std::make_unique<Page>();
  }
  return page->data() + address % page_bytes;
}

void PsMemory::load(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  if (address >= address_limit || bytes.size() > address_limit - address)
    throw InputError("ps memory: addresses have 40 bits");
  while (!bytes.empty()) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), page_bytes - address % page_bytes);
    std::memcpy(byte_at(address), bytes.data(), count);
    bytes = bytes.subspan(count);
    address += count;
  }
}

Bytes PsMemory::store(std::uint64_t address, std::size_t length) const {
  if (address >= address_limit || length > address_limit - address)
    throw InputError("ps memory: addresses have 40 bits");
  Bytes bytes(length);
  for (std::size_t done = 0; done < length;) {
    const std::size_t at = (address + done) % page_bytes;
    const std::size_t count = std::min(length - done, page_bytes - at);
    const auto page = pages_.find((address + done) / page_bytes);
    if (page != pages_.end()) std::memcpy(bytes.data() + done, page->second->data() + at, count);
    done += count;
  }
  return bytes;
}

std::string PsMemory::waits_for() const {
  for (const Burst& burst : writes_)
    if (!burst.complete) return "write data of the card's PS port";
  if (!reads_.empty()) return "m_axi_ps_rready";
  if (!writes_.empty()) return "m_axi_ps_bready";
  return {};
}

void PsMemory::reset() {
  reads_.clear();
  writes_.clear();
  held_aw_ = held_w_ = held_ar_ = Held{};
  read_offered_ = response_offered_ = false;
  pins_.awready = pins_.wready = pins_.arready = pins_.bvalid = pins_.rvalid = 0;
}

PsMemory::Burst PsMemory::check_burst(std::uint64_t address, unsigned length, unsigned size, unsigned kind,
                                      std::uint8_t id, std::uint64_t now_ps) const {
  if (kind != incrementing) fail("a burst is not INCR", now_ps);
  if (size > 3) fail("a burst is wider than the bus", now_ps);
  const std::uint64_t start = address >> size << size;
  const std::uint64_t bytes = (length + 1ULL) << size;
  if (start / page_bytes != (start + bytes - 1) / page_bytes) fail("a burst crosses 4 KB", now_ps);
  return {address, length + 1, size, id, 0};
}

void PsMemory::check_held(Held& held, bool valid, bool ready, std::uint64_t value, std::uint64_t more,
                          const char* channel, std::uint64_t now_ps) const {
  if (held.valid && !valid) fail(std::string(channel) + "valid fell before its ready", now_ps);
  if (held.valid && (held.value != value || held.more != more))
    fail(std::string(channel) + " changed while it waited for its ready", now_ps);
  held = {valid && !ready, value, more};
}

void PsMemory::take_write_beat(std::uint64_t now_ps) {
  const auto burst = std::find_if(writes_.begin(), writes_.end(), [](const Burst& b) { return !b.complete; });
  if (burst == writes_.end()) fail("write data without an address", now_ps);
  const std::uint64_t step = std::uint64_t{1} << burst->size;
  const std::uint64_t beat = burst->done == 0 ? burst->address : (burst->address / step + burst->done) * step;
  const std::uint64_t word = beat & ~std::uint64_t{7};
  for (unsigned lane = 0; lane < 8; ++lane)
    if (((pins_.wstrb >> lane) & 1) != 0) {
      if (word + lane < beat || word + lane >= beat / step * step + step) fail("wstrb outside of the beat", now_ps);
      const std::size_t at = word + lane - (burst->address & ~std::uint64_t{7});
      if (burst->data.size() <= at) {
        burst->data.resize(at + 1);
        burst->written.resize(at + 1);
      }
      burst->data[at] = static_cast<std::uint8_t>(pins_.wdata >> (8 * lane));
      burst->written[at] = true;
    }
  ++burst->done;
  ++statistics_.write_beats;
  if ((burst->done == burst->beats) != (pins_.wlast != 0)) fail("wlast does not stand on the last beat", now_ps);
  if (pins_.wlast != 0) {
    burst->complete = true;
    finish_write(*burst);
    burst->due = cycle_ + timing_.write_latency;
    ++statistics_.writes;
  }
}

void PsMemory::sample(std::uint64_t now_ps) {
  const auto shape = [](unsigned id, unsigned len, unsigned size, unsigned kind) {
    return (std::uint64_t{id} << 24) | (std::uint64_t{len} << 16) | (size << 8) | kind;
  };
  check_held(held_aw_, pins_.awvalid != 0, pins_.awready != 0, pins_.awaddr,
             shape(pins_.awid, pins_.awlen, pins_.awsize, pins_.awburst), "m_axi_ps_aw", now_ps);
  check_held(held_ar_, pins_.arvalid != 0, pins_.arready != 0, pins_.araddr,
             shape(pins_.arid, pins_.arlen, pins_.arsize, pins_.arburst), "m_axi_ps_ar", now_ps);
  check_held(held_w_, pins_.wvalid != 0, pins_.wready != 0, pins_.wdata,
             (std::uint64_t{pins_.wstrb} << 1) | pins_.wlast, "m_axi_ps_w", now_ps);

  if (pins_.rvalid != 0 && pins_.rready != 0) {
    read_offered_ = false;
    ++statistics_.read_beats;
    Burst& burst = reads_.front();
    if (++burst.done == burst.beats) {
      reads_.pop_front();
      ++statistics_.reads;
      statistics_.last_read_ps = now_ps;
    }
  }
  if (pins_.bvalid != 0 && pins_.bready != 0) {
    response_offered_ = false;
    writes_.pop_front();
  }
  if (pins_.arvalid != 0 && pins_.arready != 0) {
    reads_.push_back(check_burst(pins_.araddr, pins_.arlen, pins_.arsize, pins_.arburst, pins_.arid, now_ps));
    reads_.back().due = cycle_ + timing_.read_latency;
    start_read(reads_.back());
  }
  if (pins_.awvalid != 0 && pins_.awready != 0)
    writes_.push_back(check_burst(pins_.awaddr, pins_.awlen, pins_.awsize, pins_.awburst, pins_.awid, now_ps));
  if (pins_.wvalid != 0 && pins_.wready != 0) take_write_beat(now_ps);
}

void PsMemory::start_read(Burst& burst) {
  const std::uint64_t first = burst.address & ~std::uint64_t{7};
  const std::uint64_t step = std::uint64_t{1} << burst.size;
  const std::uint64_t end = ((burst.address / step + burst.beats) * step + 7) & ~std::uint64_t{7};
  if (attached_ == nullptr) {
    burst.answer->data = store(first, end - first);
    return;
  }
  ++burst.answer->awaited;
  attached_->read(0, first, static_cast<std::uint32_t>(end - first),
                  [answer = burst.answer](MemoryBus::Status status, std::span<const std::uint8_t> data) {
                    --answer->awaited;
                    answer->failed = status != MemoryBus::Status::ok;
                    answer->data.assign(data.begin(), data.end());
                  });
}

void PsMemory::finish_write(const Burst& burst) {
  const std::uint64_t first = burst.address & ~std::uint64_t{7};
  for (std::size_t from = 0; from < burst.data.size();) {
    if (!burst.written[from]) {
      ++from;
      continue;
    }
    std::size_t to = from;
    while (to < burst.data.size() && burst.written[to]) ++to;
    const auto run = std::span(burst.data).subspan(from, to - from);
    if (attached_ != nullptr) {
      ++burst.answer->awaited;
      attached_->write_answered(first + from, run, [answer = burst.answer](MemoryBus::Status status) {
        --answer->awaited;
        answer->failed = answer->failed || status != MemoryBus::Status::ok;
      });
    } else {
      load(first + from, run);
    }
    from = to;
  }
}

void PsMemory::read_beat() {
  const Burst& burst = reads_.front();
  const std::uint64_t first = burst.address & ~std::uint64_t{7};
  const std::uint64_t step = std::uint64_t{1} << burst.size;
  const std::uint64_t beat = (burst.address / step + burst.done) * step;
  pins_.rdata = load_word(burst.answer->data, (beat & ~std::uint64_t{7}) - first);
  pins_.rid = burst.id;
  pins_.rresp = burst.answer->failed ? decode_error : 0;
  pins_.rlast = burst.done + 1 == burst.beats;
}

void PsMemory::drive() {
  ++cycle_;
  pins_.arready = reads_.size() < timing_.open_reads && random_.percent(timing_.ready_percent);
  pins_.awready = writes_.size() < timing_.open_writes && random_.percent(timing_.ready_percent);
  // Data is taken behind its address only; a master must be ready for that (AXI4 A3.3.1).
  const bool want = std::any_of(writes_.begin(), writes_.end(), [](const Burst& b) { return !b.complete; });
  pins_.wready = want && random_.percent(timing_.ready_percent);
  if (!read_offered_ && !reads_.empty() && reads_.front().due <= cycle_ && reads_.front().answer->awaited == 0 &&
      random_.percent(timing_.valid_percent)) {
    read_beat();
    read_offered_ = true;
  }
  pins_.rvalid = read_offered_;
  if (!response_offered_ && !writes_.empty() && writes_.front().complete && writes_.front().due <= cycle_ &&
      writes_.front().answer->awaited == 0) {
    pins_.bid = writes_.front().id;
    pins_.bresp = writes_.front().answer->failed ? decode_error : 0;
    response_offered_ = true;
  }
  pins_.bvalid = response_offered_;
}

}  // namespace meridian
