// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/frame.hpp"
#include "base/memory_bus.hpp"

namespace meridian {

/// How fast the way to host memory is. unlimited: every read is answered and every write done at once.
struct PcieSetting {
  bool unlimited = true;
  unsigned generation = 3;          // 1 to 5
  unsigned lanes = 16;              // 1, 2, 4, 8 or 16
  unsigned max_payload = 256;       // bytes
  unsigned max_read_request = 512;  // bytes
  unsigned tags = 256;              // reads in flight
  bool extended_tags = false;       // a card at the block for PCIe may use tags above 31
  unsigned round_trip_ns = 800;     // of an empty read
  // Room that the PCIe block reserves for answers to reads under way (PG213 1.3, "Completion Space").
  unsigned completion_headers = 128;
  unsigned completion_bytes = 32768;
  // Requests inside the PCIe block that an answer to a register read cannot pass. PG213 ("Maintaining Transaction
  // Order") gives each a number of 6 bits; half of these can be in use if their order is to be told (verilog-pcie,
  // dma_if_pcie_us_wr: TX_LIMIT).
  unsigned pipeline_requests = 32;
};

/// The PCIe link as the card's DMA sees it: each direction has the bandwidth of its lanes, spent on packets with their
/// headers; reads are split, wait for tags and for room for their answers, and take the round trip; posted writes and
/// interrupts keep their order, and a read sees the writes before it.
///
/// Answers come in run(), never inside read(), in the order in which the host gives them. What a function that may not
/// access memory asks for is unsupported, what it writes goes nowhere.
class PcieLink {
 public:
  /// No bytes unless ok.
  using ReadDone = std::function<void(bool ok, Bytes data)>;

  PcieLink(const PcieSetting& setting, MemoryBus& host);
  ~PcieLink();
  PcieLink(const PcieLink&) = delete;
  PcieLink& operator=(const PcieLink&) = delete;

  void enable(unsigned function, bool enabled);
  bool enabled(unsigned function) const { return function < enabled_.size() && enabled_[function]; }

  /// 1 to 65535 bytes.
  void read(unsigned function, std::uint64_t address, std::uint32_t bytes, ReadDone done);
  void write(unsigned function, std::uint64_t address, std::span<const std::uint8_t> data);
  void interrupt(unsigned function, unsigned vector);

  /// Writes are far enough behind that their source should pause.
  bool behind() const { return up_free_ps_ > now_ps_ + window_ps; }

  /// What is on its way to the host arrives at once: the answer to a register read may not overtake it.
  void flush();

  /// The answer to a register read leaves now: behind all requests that the PCIe block has taken, and with a place of
  /// its own. What waits in front of the block it passes. Returns when all of it has left.
  std::uint64_t answer();

  /// How long the host's access to a register waits at most before it gets onto the link: for the answer to a DMA read
  /// that is on it, if those follow each other without a gap.
  std::uint64_t access_wait_ps() const;

  /// Goes on to now; hands out the answers that have come.
  void run(std::uint64_t now_ps);

  /// Forgets everything under way; answers that still come are ignored. Nothing may access memory any more.
  void reset();

  bool idle() const;
  unsigned reads() const { return static_cast<unsigned>(under_way_); }

 private:
  static constexpr std::uint64_t window_ps = 1'000'000;
  // Header with 64-bit address (completion: 12 bytes), sequence number, link CRC and framing.
  static constexpr std::uint64_t request_overhead = 24;
  static constexpr std::uint64_t completion_overhead = 20;
  static constexpr std::uint64_t register_answer_bytes = completion_overhead + 4;

  struct Posted {
    std::uint64_t at_ps;
    std::uint64_t address;
    unsigned function;
    unsigned vector;
    bool interrupt;
    Bytes data;
  };
  struct Read {
    std::uint64_t sent_ps, back_ps;
    std::uint64_t address;
    std::uint32_t bytes;
    unsigned function;
    ReadDone done;
  };
  struct Answer {
    std::uint64_t at_ps;
    std::uint64_t order;
    bool ok;
    Bytes data;
    ReadDone done;
  };
  /// What host callbacks may touch; they hold it weakly, so that late ones find nothing.
  struct Inbox;

  /// A read under way, and what it takes of the room for answers.
  struct Flight {
    std::uint64_t back_ps;
    std::uint64_t headers, bytes;
  };

  std::uint64_t up(std::uint64_t bytes, std::uint64_t packets = 1);
  std::uint64_t land_first();
  std::uint64_t time_ps(std::uint64_t bytes) const { return (bytes * byte_fs_ + 999) / 1000; }
  static bool later(const Answer& a, const Answer& b);
  void schedule(Read& read);
  void carry_out(Posted& posted);
  void ask(Read read);

  PcieSetting setting_;
  MemoryBus& host_;
  std::uint64_t byte_fs_;
  std::array<bool, 256> enabled_{};
  std::uint64_t now_ps_ = 0, up_free_ps_ = 0, down_free_ps_ = 0;
  std::deque<Flight> flights_;        // in the order in which they come back
  std::uint64_t answer_headers_ = 0;  // of flights_
  std::uint64_t answer_bytes_ = 0;
  std::deque<std::uint64_t> leaving_;  // when each packet on its way up has left, in order
  std::deque<Posted> posted_;
  std::deque<Read> reads_;
  std::vector<Answer> answers_;  // a heap, the next one first
  std::shared_ptr<Inbox> inbox_;
  std::uint64_t under_way_ = 0;
};

}  // namespace meridian
