// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "msix_tables.hpp"
#include "test_memory.hpp"

namespace meridian {

/// The far end of the block's requester streams: a host's memory. Completions of different reads come in any order,
/// each in as many parts as the read completion boundary of 64 bytes allows, those of one read from its first byte on.
/// Now and then there is a completion of a tag that nobody has. A request that breaks a rule of PCIe or of PG213 is a
/// failure.
class RequesterHost {
 public:
  /// 256 bit: eight double words.
  struct Beat {
    std::array<std::uint32_t, 8> data{};
    std::uint8_t keep = 0;
    std::uint64_t user = 0;
    bool last = false;
  };
  struct Request {
    unsigned function;
    std::uint64_t address;
    unsigned bytes;
    bool write;
  };
  /// What ends a read, or never until release(): it is data, or in the end an error of PG213, "Requester Completion
  /// Descriptor Format", behind parts with data or none. A packet that is discontinued has lost its data in the block.
  enum class Answer : std::uint8_t {
    data,
    unsupported,
    poisoned,
    timed_out,
    wrong_count,
    wrong_request,
    wrong_address,
    discontinued,
    never
  };
  static constexpr unsigned errors = static_cast<unsigned>(Answer::never) - 1;

  explicit RequesterHost(std::uint64_t seed, unsigned max_read, unsigned max_payload)
      : random_(seed), max_read_(max_read), max_payload_(max_payload) {}

  TestMemory memory;  // what is beyond its end is unsupported
  std::vector<Request> requests;
  std::vector<MsixTables::Message> messages;  // writes of a double word where the host takes interrupts
  static constexpr std::uint64_t messages_at = 0x7'fee0'0000, messages_end = 0x7'fef0'0000;
  std::function<Answer(unsigned function, std::uint64_t address)> answer_of;
  std::function<void(unsigned function, std::uint64_t address)> on_write;  // after it
  std::function<void(const MsixTables::Message&)> on_message;
  bool holds = false;  // answers nothing meanwhile

  /// Reads that are not answered wholly.
  std::size_t open() const { return open_.size(); }
  std::size_t open_of(unsigned function) const;
  void release() { released_ = true; }

  /// Bytes of reads answered so far, of those that begin in these.
  std::uint64_t answered(unsigned function, std::uint64_t address, std::uint64_t bytes) const;

  /// A function may access memory or not; at first none may. Requests of one that may not are a failure, but for those
  /// that leave in the next few cycles of RQ.
  void set_master(unsigned function, bool on) { may_not_since_[function] = on ? never_off : offered_; }
  /// A cycle in which a request may leave.
  void offer() { ++offered_; }

  /// A beat of requests was taken.
  void take(const Beat& beat);
  /// Of a request that has more beats.
  bool in_request() const { return !packet_.empty(); }
  /// The next beat of completions; nothing has to be sent if it is null. pop() when it was taken.
  const Beat* next();
  void pop() { beats_.pop_front(); }

 private:
  struct Read {
    std::uint8_t tag;
    unsigned function;
    std::uint64_t address;
    unsigned bytes, sent;
    Answer answer;
    unsigned good;  // parts with data before an error
    bool failed;
  };

  void begin(const Beat& beat);
  void write(const Request& request, std::span<const std::uint32_t> data);
  void answer(std::size_t index);
  void send_stray();
  void send(std::array<std::uint32_t, 3> descriptor, std::span<const std::uint32_t> words, bool discontinue = false);

  Random random_;
  unsigned max_read_, max_payload_;
  std::vector<std::uint32_t> packet_;  // of a request so far
  std::uint64_t packet_user_ = 0;      // of its first beat
  std::vector<Read> open_;
  std::deque<Beat> beats_;
  std::map<std::pair<unsigned, std::uint64_t>, std::uint64_t> answered_;
  bool released_ = false;
  static constexpr std::uint64_t never_off = ~std::uint64_t{0};
  std::uint64_t offered_ = 0;
  std::map<unsigned, std::uint64_t> may_not_since_;  // by offered_
};

}  // namespace meridian
