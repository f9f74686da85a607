// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/frame.hpp"
#include "base/memory_bus.hpp"

namespace meridian {

/// A machine's memory in which each function has an address space of its own. What happens is recorded in its order.
class TestMemory : public MemoryBus {
 public:
  struct Event {
    enum class Kind : std::uint8_t { read, write, interrupt } kind;
    unsigned function;
    std::uint64_t address;  // or the vector
    std::uint64_t bytes;
  };

  /// Reads are answered by answer() only, in whatever order the test likes.
  bool hold = false;
  /// Addresses from here on are not memory.
  std::uint64_t end = std::uint64_t{1} << 40;
  bool record = true;
  std::vector<Event> events;
  std::map<std::pair<unsigned, unsigned>, unsigned> interrupts;  // function, vector

  void read(unsigned function, std::uint64_t address, std::uint32_t bytes, ReadDone done) override {
    note({Event::Kind::read, function, address, bytes});
    if (hold)
      held_.push_back({function, address, bytes, std::move(done)});
    else
      reply(function, address, bytes, done);
  }

  void write(unsigned function, std::uint64_t address, std::span<const std::uint8_t> data) override {
    note({Event::Kind::write, function, address, data.size()});
    set(function, address, data);
  }

  void interrupt(unsigned function, unsigned vector) override {
    note({Event::Kind::interrupt, function, vector, 0});
    ++interrupts[{function, vector}];
  }

  std::size_t held() const { return held_.size(); }
  void answer(std::size_t index) {
    const Held held = std::move(held_.at(index));
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
    reply(held.function, held.address, held.bytes, held.done);
  }
  void answer_all() {
    while (!held_.empty()) answer(0);
  }

  std::uint64_t word(unsigned function, std::uint64_t address, unsigned bytes = 8) {
    return load_word(get(function, address, bytes), 0);
  }
  void set_word(unsigned function, std::uint64_t address, std::uint64_t value) {
    Bytes data(sizeof value);
    std::memcpy(data.data(), &value, sizeof value);
    set(function, address, data);
  }
  void set(unsigned function, std::uint64_t address, std::span<const std::uint8_t> data) {
    while (!data.empty()) {
      const std::size_t offset = address % page_bytes, bytes = std::min(data.size(), page_bytes - offset);
      Bytes& page = pages_[{function, address / page_bytes}];
      page.resize(page_bytes);
      std::memcpy(page.data() + offset, data.data(), bytes);
      data = data.subspan(bytes);
      address += bytes;
    }
  }
  Bytes get(unsigned function, std::uint64_t address, std::size_t bytes) const {
    Bytes data(bytes);
    for (std::size_t done = 0; done < bytes;) {
      const std::size_t offset = (address + done) % page_bytes, part = std::min(bytes - done, page_bytes - offset);
      const auto page = pages_.find({function, (address + done) / page_bytes});
      if (page != pages_.end()) std::memcpy(data.data() + done, page->second.data() + offset, part);
      done += part;
    }
    return data;
  }

 private:
  struct Held {
    unsigned function;
    std::uint64_t address;
    std::uint32_t bytes;
    ReadDone done;
  };
  static constexpr std::size_t page_bytes = 4096;

  void note(const Event& event) {
    if (record) events.push_back(event);
  }
  void reply(unsigned function, std::uint64_t address, std::uint32_t bytes, const ReadDone& done) {
    if (address + bytes > end || address + bytes < address) return done(Status::unsupported, {});
    done(Status::ok, get(function, address, bytes));
  }

  std::map<std::pair<unsigned, std::uint64_t>, Bytes> pages_;
  std::deque<Held> held_;
};

}  // namespace meridian
