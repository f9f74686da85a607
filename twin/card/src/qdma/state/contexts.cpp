// SPDX-License-Identifier: Apache-2.0
#include "qdma/state/contexts.hpp"

#include <algorithm>

namespace meridian {

namespace {

template <class T>
std::span<std::uint32_t> pick(std::vector<T>& table, unsigned index) {
  if (index >= table.size()) return {};
  return table[index].words;
}

template <class T>
void zero(std::vector<T>& table) {
  std::fill(table.begin(), table.end(), T{});
}

}  // namespace

Contexts::Contexts(unsigned queues) : queues_(queues) {
  for (unsigned direction = 0; direction < 2; ++direction) {
    sw_[direction].resize(queues);
    hw_[direction].resize(queues);
    credit_[direction].resize(queues);
  }
  prefetch_.resize(queues);
  completion_.resize(queues);
  coalesce_.resize(rings);
  fmap_.resize(functions);
}

void Contexts::reset() {
  for (unsigned direction = 0; direction < 2; ++direction) {
    zero(sw_[direction]);
    zero(hw_[direction]);
    zero(credit_[direction]);
  }
  zero(prefetch_);
  zero(completion_);
  zero(coalesce_);
  zero(fmap_);
}

std::span<std::uint32_t> Contexts::words(Kind kind, unsigned index) {
  switch (kind) {
    case Kind::sw_c2h:
      return pick(sw_[0], index);
    case Kind::sw_h2c:
      return pick(sw_[1], index);
    case Kind::hw_c2h:
      return pick(hw_[0], index);
    case Kind::hw_h2c:
      return pick(hw_[1], index);
    case Kind::credit_c2h:
      return pick(credit_[0], index);
    case Kind::credit_h2c:
      return pick(credit_[1], index);
    case Kind::completion:
      return pick(completion_, index);
    case Kind::prefetch:
      return pick(prefetch_, index);
    case Kind::coalesce:
      return pick(coalesce_, index);
    case Kind::fmap:
      return pick(fmap_, index);
  }
  return {};
}

bool Contexts::command(std::uint32_t value, std::span<std::uint32_t, 8> data, std::span<const std::uint32_t, 8> mask) {
  const auto kind = static_cast<Kind>((value >> 1) & 0xf);
  const auto operation = static_cast<Operation>((value >> 5) & 3);
  const unsigned index = (value >> 7) & 0x1fff;
  const std::span<std::uint32_t> context = words(kind, index);
  if (operation == Operation::read) {
    std::fill(data.begin(), data.end(), 0);
    std::copy(context.begin(), context.end(), data.begin());
    return !context.empty();
  }
  if (context.empty()) return false;
  if (operation == Operation::invalidate) {
    invalidate(kind, index);
    return true;
  }
  for (std::size_t i = 0; i < context.size(); ++i)
    context[i] = operation == Operation::clear ? 0 : (context[i] & ~mask[i]) | (data[i] & mask[i]);
  if (observer_) observer_(kind, index);
  return true;
}

void Contexts::invalidate(Kind kind, unsigned index) {
  switch (kind) {
    case Kind::sw_c2h:
    case Kind::sw_h2c:
      sw(kind == Kind::sw_c2h, index).set(sw::enable, 0);
      break;
    case Kind::completion:
      completion_[index].set(cmpt::valid, 0);
      break;
    case Kind::prefetch:
      prefetch_[index].set(prefetch::valid, 0);
      break;
    case Kind::coalesce:
      coalesce_[index].set(coalesce::valid, 0);
      break;
    case Kind::fmap:
      fmap_[index].set(fmap::count, 0);
      break;
    default:  // hardware and credit contexts have no such bit
      break;
  }
  if (observer_) observer_(kind, index);
}

std::optional<unsigned> Contexts::absolute(unsigned function, unsigned queue) const {
  const FmapContext& map = fmap_.at(function);
  const unsigned number = map.get(fmap::base) + queue;
  if (queue >= map.get(fmap::count) || number >= queues_) return std::nullopt;
  return number;
}

}  // namespace meridian
