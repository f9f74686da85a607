// SPDX-License-Identifier: Apache-2.0
#include "twin/register_port.hpp"

#include <utility>

namespace meridian {

namespace {

constexpr std::uint64_t ones(unsigned width) {
  return width == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * width)) - 1;
}

}  // namespace

bool RegisterPort::fits(std::uint64_t offset, unsigned width) const {
  return (width == 1 || width == 2 || width == 4 || width == 8) && offset % width == 0 && offset < window_;
}

void RegisterPort::read(unsigned function, std::uint64_t offset, unsigned width, LinkCard::Read done) {
  if (!fits(offset, width)) {
    ++errors_;
    done(MERIDIAN_LINK_UNSUPPORTED, ones(width));
    return;
  }
  const auto word = static_cast<std::uint32_t>(offset & ~std::uint64_t{3});
  Open open{};
  open.id = bus_.read(word, function);
  open.left = 1;
  if (width == 8) {
    open.id = bus_.read(word + 4, function);
    open.left = 2;
  }
  open.width = width;
  open.shift = static_cast<unsigned>(8 * (offset % 4));
  open.done = std::move(done);
  ++reads_;
  open_.push_back(std::move(open));
}

void RegisterPort::write(unsigned function, std::uint64_t offset, unsigned width, std::uint64_t value) {
  if (!fits(offset, width)) {
    ++errors_;
    return;
  }
  const auto word = static_cast<std::uint32_t>(offset & ~std::uint64_t{3});
  const auto lane = static_cast<unsigned>(offset % 4);
  Open open{};
  const unsigned strobe = width >= 4 ? 15U : ((1U << width) - 1U) << lane;
  open.id = bus_.write(word, static_cast<std::uint32_t>(value << (8 * lane)), function, strobe);
  open.left = 1;
  if (width == 8) {
    open.id = bus_.write(word + 4, static_cast<std::uint32_t>(value >> 32), function);
    open.left = 2;
  }
  open.width = width;
  open_.push_back(std::move(open));
}

void RegisterPort::answer(Open& open) {
  if (open.failed) ++errors_;
  if (!open.done) return;
  --reads_;
  const std::uint64_t value = open.failed ? ones(open.width) : (open.value >> open.shift) & ones(open.width);
  open.done(open.failed ? MERIDIAN_LINK_UNSUPPORTED : MERIDIAN_LINK_OK, value);
}

void RegisterPort::collect() {
  while (auto result = bus_.pop()) {
    if (open_.empty()) continue;
    Open& open = open_.front();
    const unsigned half = open.width == 8 && open.left == 1 ? 32 : 0;
    open.value |= std::uint64_t{result->data} << half;
    open.failed = open.failed || result->response != 0;
    if (--open.left != 0) continue;
    Open finished = std::move(open);
    open_.pop_front();
    answer(finished);
  }
}

void RegisterPort::reset() {
  while (bus_.pop()) continue;
  auto all = std::exchange(open_, {});
  for (Open& open : all) {
    open.failed = true;
    answer(open);
  }
}

}  // namespace meridian
