// SPDX-License-Identifier: Apache-2.0
#include "qdma/mailbox.hpp"

#include <algorithm>
#include <utility>

namespace meridian {

namespace {

constexpr std::uint32_t in_message = 1, out_message = 2, any_acknowledge = 4;
constexpr std::uint32_t send_command = 1, receive_command = 2;

bool within(std::uint32_t offset, std::uint32_t base, std::uint32_t words) {
  return offset >= base && offset < base + 4 * words;
}

}  // namespace

void Mailbox::set_parent(unsigned vf, unsigned pf) {
  if (functions_[vf].parent == pf) return;
  reset(vf);
  functions_[vf].parent = pf;
}

std::optional<unsigned> Mailbox::vf_of(unsigned function) const {
  if (!is_pf(function)) return function;
  const unsigned target = functions_[function].target;
  if (target >= functions_.size() || functions_[target].parent != function) return std::nullopt;
  return target;
}

std::uint32_t Mailbox::status(unsigned function) const {
  const Function& f = functions_[function];
  if (!is_pf(function)) return (f.to_vf.full ? in_message : 0) | (f.to_pf.full ? out_message : 0);
  const auto target = vf_of(function);
  const bool acknowledged =
      std::any_of(f.acknowledged.begin(), f.acknowledged.end(), [](auto word) { return word != 0; });
  std::uint32_t value = acknowledged ? any_acknowledge : 0;
  if (target && functions_[*target].to_vf.full) value |= out_message;
  if (!f.senders.empty()) value |= in_message | (f.senders.front() << 4);
  return value;
}

std::uint32_t Mailbox::read(unsigned function, std::uint32_t offset) const {
  const Function& f = functions_[function];
  const auto vf = vf_of(function);
  if (within(offset, reg::mailbox_in, message_words)) {
    if (!vf) return 0;
    const Message& message = is_pf(function) ? functions_[*vf].to_pf : functions_[*vf].to_vf;
    return message.full ? message.words[(offset - reg::mailbox_in) / 4] : 0;
  }
  if (within(offset, reg::mailbox_out, message_words)) {
    if (!vf) return 0;
    const Message& message = is_pf(function) ? functions_[*vf].to_vf : functions_[*vf].to_pf;
    return message.words[(offset - reg::mailbox_out) / 4];
  }
  if (within(offset, reg::mailbox_ack, 8)) return f.acknowledged[(offset - reg::mailbox_ack) / 4];
  if (within(offset, reg::mailbox_map, Contexts::functions))
    return is_pf(function) ? map_[(offset - reg::mailbox_map) / 4] : 0;
  switch (offset) {
    case reg::mailbox_status:
      return status(function);
    case reg::mailbox_vector:
      return f.vector;
    case reg::mailbox_target:
      return f.target;
    case reg::mailbox_interrupt_enable:
      return f.interrupt_enabled;
    case reg::mailbox_version:
      return is_pf(function) ? 0 : ip_.csr.vf_version();
    case reg::mailbox_user_bar:
      return is_pf(function) ? 0 : Csr::vf_user_bar;
    default:
      return 0;
  }
}

void Mailbox::write(unsigned function, std::uint32_t offset, std::uint32_t value) {
  Function& f = functions_[function];
  if (within(offset, reg::mailbox_out, message_words)) {
    const auto vf = vf_of(function);
    if (!vf) return;
    Message& message = is_pf(function) ? functions_[*vf].to_vf : functions_[*vf].to_pf;
    if (!message.full) message.words[(offset - reg::mailbox_out) / 4] = value;
    return;
  }
  if (within(offset, reg::mailbox_ack, 8)) {
    f.acknowledged[(offset - reg::mailbox_ack) / 4] &= ~value;
    return;
  }
  if (within(offset, reg::mailbox_map, Contexts::functions)) {
    if (is_pf(function)) map_[(offset - reg::mailbox_map) / 4] = value & 0xffffff;
    return;
  }
  switch (offset) {
    case reg::mailbox_command:
      return command(function, value);
    case reg::mailbox_vector:
      f.vector = value & 0x1f;
      return;
    case reg::mailbox_target:
      if (is_pf(function)) f.target = value & 0xfff;
      return;
    case reg::mailbox_interrupt_enable:
      f.interrupt_enabled = (value & 1) != 0;
      if ((status(function) & in_message) != 0) interrupt(function);
      return;
    default:
      return;
  }
}

void Mailbox::command(unsigned function, std::uint32_t value) {
  if ((value & receive_command) != 0) receive(function);
  if ((value & send_command) != 0) send(function);
}

void Mailbox::send(unsigned function) {
  const auto vf = vf_of(function);
  if (!vf) return;
  if (is_pf(function)) {
    if (std::exchange(functions_[*vf].to_vf.full, true)) return;
    return interrupt(*vf);
  }
  const auto pf = functions_[function].parent;
  if (!pf || std::exchange(functions_[function].to_pf.full, true)) return;
  functions_[*pf].senders.push_back(function);
  interrupt(*pf);
}

void Mailbox::receive(unsigned function) {
  const auto vf = vf_of(function);
  if (!vf) return;
  if (is_pf(function)) {
    functions_[*vf].to_pf.full = false;
    forget_sender(function, *vf);
    if (!functions_[function].senders.empty()) interrupt(function);
    return;
  }
  const auto pf = functions_[function].parent;
  if (!std::exchange(functions_[function].to_vf.full, false) || !pf) return;
  functions_[*pf].acknowledged[function / 32] |= 1U << (function % 32);
}

void Mailbox::forget_sender(unsigned pf, unsigned vf) {
  auto& senders = functions_[pf].senders;
  senders.erase(std::remove(senders.begin(), senders.end(), vf), senders.end());
}

void Mailbox::interrupt(unsigned function) {
  const Function& f = functions_[function];
  if (f.interrupt_enabled) ip_.link.interrupt(function, f.vector);
}

void Mailbox::reset(unsigned function) {
  Function& f = functions_[function];
  const auto parent = f.parent;
  f = Function{};
  f.parent = parent;
  if (!parent) return;
  forget_sender(*parent, function);
  functions_[*parent].acknowledged[function / 32] &= ~(1U << (function % 32));
}

void Mailbox::reset() {
  functions_.assign(functions_.size(), Function{});
  map_ = {};
}

}  // namespace meridian
