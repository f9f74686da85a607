// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "link/descriptor.hpp"
#include "link/sealed_mapping.hpp"
#include "meridian_link.h"

namespace meridian {

/// One function's doorbells in shared memory (struct meridian_link_doorbells, with the reasons for each barrier). The
/// client may write anything there at any time: a value is read once, and is as good as a register write's.
class DoorbellPage {
 public:
  /// index: of the doorbell among the function's, 4 a queue, in the order of BAR 0.
  using Rung = std::function<void(unsigned index, std::uint32_t value)>;

  /// Throws LinkError with the reason when the file cannot serve.
  DoorbellPage(unsigned function, std::uint64_t offset, std::uint64_t queues, const Descriptor& file);

  /// Hands over what was rung since the last look; each doorbell once, with its last value.
  void look(const Rung& rung);

  /// Something was rung that look() has not handed over.
  bool has_news() const;

  void set_asleep(bool asleep);

 private:
  void look_at(unsigned queue, const Rung& rung);

  unsigned queues_;
  SealedMapping mapping_;
  meridian_link_doorbells* head_;
  meridian_link_queue_doorbells* queue_;
  std::vector<std::array<std::uint64_t, 4>> seen_;
};

/// The doorbells of one client, by function.
class DoorbellPages {
 public:
  /// Throws LinkError with the reason.
  void add(unsigned function, std::uint64_t offset, std::uint64_t queues, const Descriptor& file);
  void forget(unsigned function);
  void drop(unsigned function) { pages_.erase(function); }  // if there are some
  void clear() { pages_.clear(); }

  void look(const std::function<void(unsigned function, unsigned index, std::uint32_t value)>& rung);

  /// False, and all are awake, if there are news, which must be looked at before the card waits for its socket.
  bool sleep();
  void wake();

 private:
  std::map<unsigned, DoorbellPage> pages_;
};

}  // namespace meridian
