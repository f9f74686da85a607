// SPDX-License-Identifier: Apache-2.0
#include "link/link_bus.hpp"

#include <string>
#include <utility>

namespace meridian {
namespace {

bool in_address_space(std::uint64_t address, std::size_t bytes) {
  return bytes - 1 <= ~std::uint64_t{0} - address;
}

}  // namespace

LinkBus::LinkBus(meridian_link_role role, const LinkSetting& setting, LinkServer::Statistics& statistics)
    : role_(role), setting_(setting), statistics_(statistics), next_tag_(setting.first_tag) {}

bool LinkBus::allowed(unsigned function) const {
  return client_ && !client_->failed() && !client_->leaves() && function < functions &&
         (role_ == MERIDIAN_LINK_AXI || enabled_[function]);
}

SharedRegion* LinkBus::region(unsigned function, std::uint64_t address, std::size_t bytes) {
  SharedRegion* found = regions_.find(function, address, bytes);
  Order& order = order_[function];
  if (found == nullptr || !order.by_message) return found;
  if (!order.fenced) {
    order.fenced = true;
    order.behind = false;
    ask(function, address, 0, {});
  }
  return nullptr;
}

void LinkBus::read(unsigned function, std::uint64_t address, std::uint32_t bytes, ReadDone done) {
  ++statistics_.dma_reads;
  if (bytes == 0 || bytes > MERIDIAN_LINK_MAX_PAYLOAD || !allowed(function) || !in_address_space(address, bytes)) {
    ++statistics_.unsupported;
    done(Status::unsupported, {});
    return;
  }
  if (const SharedRegion* shared = region(function, address, bytes)) {
    statistics_.shared_bytes += bytes;
    Bytes copy(bytes);
    shared->read(address, copy);
    done(Status::ok, copy);
    return;
  }
  const bool is_late = is_full(bytes) || !waiting_.empty();
  ++reads_;
  if (is_late)
    waiting_.push_back({function, address, bytes, std::move(done)});
  else
    ask(function, address, bytes, std::move(done));
}

bool LinkBus::is_full(std::uint32_t bytes) const {
  return open_reads() >= MERIDIAN_LINK_MAX_READS || bytes_ + bytes > MERIDIAN_LINK_MAX_READ_BYTES;
}

void LinkBus::ask_waiting() {
  while (!waiting_.empty() && !is_full(waiting_.front().bytes)) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    if (allowed(next.function)) {
      ask(next.function, next.address, next.bytes, std::move(next.done));
    } else {
      // It was disabled or reset meanwhile.
      --reads_;
      ++statistics_.unsupported;
      next.done(Status::unsupported, {});
    }
  }
}

void LinkBus::ask(unsigned function, std::uint64_t address, std::uint32_t bytes, ReadDone done) {
  meridian_link_header header{};
  header.type = MERIDIAN_LINK_DMA_READ;
  header.tag = next_tag_++;
  header.function = static_cast<std::uint16_t>(function);
  header.address = address;
  header.value = bytes;
  bytes_ += bytes;
  open_.emplace(header.tag, Read{function, bytes, Connection::Clock::now(), std::move(done)});
  client_->send(header);
}

void LinkBus::write(unsigned function, std::uint64_t address, std::span<const std::uint8_t> data) {
  put(function, address, data);
}

void LinkBus::write_answered(std::uint64_t address, std::span<const std::uint8_t> data, WriteDone done) {
  const Put way = put(0, address, data);
  if (way == Put::sent)
    read(0, address, static_cast<std::uint32_t>(data.size()),
         [done = std::move(done)](Status status, std::span<const std::uint8_t>) { done(status); });
  else
    done(way == Put::in_memory ? Status::ok : Status::unsupported);
}

LinkBus::Put LinkBus::put(unsigned function, std::uint64_t address, std::span<const std::uint8_t> data) {
  ++statistics_.dma_writes;
  if (data.empty() || data.size() > MERIDIAN_LINK_MAX_PAYLOAD || !allowed(function) ||
      !in_address_space(address, data.size())) {
    ++statistics_.unsupported;
    return Put::nowhere;
  }
  SharedRegion* shared = region(function, address, data.size());
  if (shared != nullptr && shared->place().writable != 0) {
    statistics_.shared_bytes += data.size();
    shared->write(address, data, role_ == MERIDIAN_LINK_AXI ? Told::last : Told::first);
    return Put::in_memory;
  }
  Order& order = order_[function];
  order.by_message = !regions_.empty();
  order.behind = true;
  statistics_.message_bytes += data.size();
  meridian_link_header header{};
  header.type = MERIDIAN_LINK_DMA_WRITE;
  header.function = static_cast<std::uint16_t>(function);
  header.address = address;
  client_->send(header, data);
  return Put::sent;
}

void LinkBus::interrupt(unsigned function, unsigned vector) {
  if (role_ == MERIDIAN_LINK_AXI) line_level_ = vector;
  if (!allowed(function)) return;
  ++statistics_.interrupts;
  meridian_link_header header{};
  header.type = role_ == MERIDIAN_LINK_AXI ? MERIDIAN_LINK_INTERRUPT : MERIDIAN_LINK_MSIX;
  header.function = static_cast<std::uint16_t>(function);
  header.value = vector;
  client_->send(header);
}

void LinkBus::attach(std::shared_ptr<Connection> client) {
  client_ = std::move(client);
  if (role_ == MERIDIAN_LINK_AXI && line_level_ != 0) interrupt(0, line_level_);
}

void LinkBus::detach() {
  client_.reset();
  regions_.clear();
  enabled_.fill(false);
  order_.fill(Order{});
  reads_ = bytes_ = 0;
  const auto left = std::exchange(open_, {});
  const auto never_asked = std::exchange(waiting_, {});
  for (const auto& [tag, read] : left) {
    if (!read.done) continue;
    ++statistics_.unsupported;
    read.done(Status::unsupported, {});
  }
  for (const Waiting& read : never_asked) {
    ++statistics_.unsupported;
    read.done(Status::unsupported, {});
  }
}

void LinkBus::answered(const LinkMessage& reply) {
  const auto found = open_.find(reply.header.tag);
  if (found == open_.end())
    throw LinkError("a reply to a read with tag " + std::to_string(reply.header.tag) + ", which is not open");
  const bool ok = reply.header.status == MERIDIAN_LINK_OK;
  const std::size_t wanted = ok ? found->second.bytes : 0;
  if (reply.payload.size() != wanted)
    throw LinkError("a reply to a read with " + std::to_string(reply.payload.size()) + " bytes instead of " +
                    std::to_string(wanted));
  const Read read = std::move(found->second);
  open_.erase(found);
  bytes_ -= read.bytes;
  if (!read.done) {
    Order& order = order_[read.function];
    order.by_message = order.behind;
    order.fenced = false;
    return;
  }
  --reads_;
  ask_waiting();
  if (ok) {
    statistics_.message_bytes += reply.payload.size();
    read.done(Status::ok, reply.payload);
  } else {
    ++statistics_.unsupported;
    read.done(Status::unsupported, {});
  }
}

std::optional<Connection::Clock::time_point> LinkBus::deadline() const {
  if (open_.empty()) return std::nullopt;
  // Tags count around: those from the next one on are of the turn before.
  const auto last_turn = open_.lower_bound(next_tag_);
  const auto oldest = last_turn == open_.end() ? open_.begin() : last_turn;
  return oldest->second.since + setting_.answer_time;
}

}  // namespace meridian
