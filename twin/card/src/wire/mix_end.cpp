// SPDX-License-Identifier: Apache-2.0
#include "wire/mix_end.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace meridian {

MixEnd::MixEnd(std::vector<Named> ends) {
  for (auto& [name, end] : ends) {
    std::string own = name;
    const auto taken = [&](const Member& member) { return member.name == own; };
    for (unsigned n = 2; std::any_of(members_.begin(), members_.end(), taken); ++n) own = name + std::to_string(n);
    members_.push_back({own, std::move(end), {}, std::make_shared<std::size_t>(0), std::nullopt});
  }
  for (auto& member : members_) watch(member);
}

MixEnd::~MixEnd() {
  if (epoll_ >= 0) close(epoll_);
}

void MixEnd::watch(Member& member) {
  const auto wanted = member.end->descriptor();
  if (wanted == member.watched) return;
  if (epoll_ < 0) epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) throw InputError(std::string("wire: epoll: ") + std::strerror(errno));
  if (member.watched) epoll_ctl(epoll_, EPOLL_CTL_DEL, *member.watched, nullptr);
  member.watched = wanted;
  if (!wanted) return;
  epoll_event event{};
  event.events = EPOLLIN;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, *wanted, &event) != 0)
    throw InputError(std::string("wire: epoll: ") + std::strerror(errno));
}

void MixEnd::receive(const TxFrame& frame) {
  for (auto& member : members_) member.end->receive(frame);
}

std::vector<RxFrame> MixEnd::poll(std::uint64_t now_ps, std::size_t pending) {
  std::size_t waiting = 0;
  for (const auto& member : members_) waiting += *member.waiting;
  const bool dropped = waiting > pending;  // by a reset of the MAC; their hooks will not be called
  for (auto& member : members_) {
    if (dropped) member.waiting = std::make_shared<std::size_t>(0);
    for (auto& frame : member.end->poll(now_ps, *member.waiting + member.held.size()))
      member.held.push_back(std::move(frame));
    watch(member);
  }
  std::vector<RxFrame> frames;
  for (;;) {
    Member* next = nullptr;
    std::uint64_t next_at_ps = now_ps + hand_over_ps;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      Member& member = members_[(turn_ + i) % members_.size()];
      if (member.held.empty()) continue;
      const std::uint64_t at_ps = std::max(member.held.front().at_ps, now_ps);
      if (at_ps > next_at_ps || (next != nullptr && at_ps == next_at_ps)) continue;
      next = &member;
      next_at_ps = at_ps;
    }
    if (next == nullptr) break;
    turn_ = static_cast<std::size_t>(next - members_.data()) + 1;
    RxFrame frame = std::move(next->held.front());
    next->held.pop_front();
    ++*next->waiting;
    frame.on_start = [counter = next->waiting, hook = std::move(frame.on_start)](Bytes& bytes, std::uint64_t sfd_ps) {
      --*counter;
      if (hook) hook(bytes, sfd_ps);
    };
    frames.push_back(std::move(frame));
  }
  return frames;
}

std::uint64_t MixEnd::next_ps() const {
  std::uint64_t next = never_ps;
  for (const auto& member : members_) {
    next = std::min(next, member.end->next_ps());
    if (member.held.empty()) continue;
    const std::uint64_t at_ps = member.held.front().at_ps;
    next = std::min(next, at_ps - std::min(at_ps, hand_over_ps));
  }
  return next;
}

std::optional<int> MixEnd::descriptor() const {
  return epoll_ < 0 ? std::nullopt : std::optional<int>(epoll_);
}

bool MixEnd::tend() {
  bool ready = false;
  for (auto& member : members_) ready |= member.end->tend();
  return ready;
}

void MixEnd::report(const WireReport& report) const {
  for (const auto& member : members_)
    member.end->report(
        [&](std::string_view name, double value) { report(member.name + "." + std::string(name), value); });
}

bool MixEnd::done() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const Member& member) { return member.end->done() && member.held.empty(); });
}

}  // namespace meridian
