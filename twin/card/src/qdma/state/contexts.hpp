// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "qdma/state/context_fields.hpp"

namespace meridian {

/// Contexts of all queues, functions and interrupt rings, and the commands by which PFs change them.
class Contexts {
 public:
  static constexpr unsigned functions = 256;
  static constexpr unsigned rings = 256;  // of interrupts

  enum class Kind : std::uint8_t {
    sw_c2h = 0,
    sw_h2c = 1,
    hw_c2h = 2,
    hw_h2c = 3,
    credit_c2h = 4,
    credit_h2c = 5,
    completion = 6,
    prefetch = 7,
    coalesce = 8,
    fmap = 0xc
  };
  enum class Operation : std::uint8_t { clear = 0, write = 1, read = 2, invalidate = 3 };

  explicit Contexts(unsigned queues);

  /// A write of the command register; data is what the command reads or fills. False: no such context.
  bool command(std::uint32_t value, std::span<std::uint32_t, 8> data, std::span<const std::uint32_t, 8> mask);

  /// Called after each command that changed a context.
  void set_observer(std::function<void(Kind, unsigned index)> observer) { observer_ = std::move(observer); }

  /// As by an invalidate command.
  void invalidate(Kind kind, unsigned index);

  /// The queue that a function calls queue; nothing if it has no such queue.
  std::optional<unsigned> absolute(unsigned function, unsigned queue) const;

  /// Queues the function may have: 0 after reset.
  unsigned queue_count(unsigned function) const { return fmap_.at(function).get(fmap::count); }

  void reset();

  unsigned queues() const { return queues_; }
  SwContext& sw(bool c2h, unsigned queue) { return sw_[c2h ? 0 : 1][queue]; }
  HwContext& hw(bool c2h, unsigned queue) { return hw_[c2h ? 0 : 1][queue]; }
  PrefetchContext& prefetch(unsigned queue) { return prefetch_[queue]; }
  CreditContext& credit(bool c2h, unsigned queue) { return credit_[c2h ? 0 : 1][queue]; }
  CompletionContext& completion(unsigned queue) { return completion_[queue]; }
  CoalesceContext& coalesce(unsigned ring) { return coalesce_[ring]; }
  FmapContext& fmap(unsigned function) { return fmap_[function]; }

 private:
  std::span<std::uint32_t> words(Kind kind, unsigned index);

  unsigned queues_;
  std::array<std::vector<SwContext>, 2> sw_;
  std::array<std::vector<HwContext>, 2> hw_;
  std::array<std::vector<CreditContext>, 2> credit_;
  std::vector<PrefetchContext> prefetch_;
  std::vector<CompletionContext> completion_;
  std::vector<CoalesceContext> coalesce_;
  std::vector<FmapContext> fmap_;
  std::function<void(Kind, unsigned)> observer_;
};

}  // namespace meridian
