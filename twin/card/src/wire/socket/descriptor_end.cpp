// SPDX-License-Identifier: Apache-2.0
#include "wire/socket/descriptor_end.hpp"

#include <unistd.h>

#include <cerrno>

#include "wire/frame/ip_frame.hpp"

namespace meridian {

namespace {

constexpr std::uint64_t retry_ps = 2'000'000;

}  // namespace

DescriptorEnd::~DescriptorEnd() {
  if (descriptor_ >= 0) close(descriptor_);
}

DescriptorEnd::Io DescriptorEnd::result_of(int error) {
  if (error == EAGAIN || error == EINTR || error == ENOBUFS) return Io::again;
  return error == EMSGSIZE ? Io::too_long : Io::refused;
}

std::optional<int> DescriptorEnd::descriptor() const {
  return full_ ? std::nullopt : std::optional<int>(descriptor_);
}

void DescriptorEnd::count(Io result) {
  statistics_.out += result == Io::done;
  statistics_.out_too_long += result == Io::too_long;
  statistics_.out_refused += result == Io::refused;
}

void DescriptorEnd::flush() {
  for (; !outward_.empty(); outward_.pop_front()) {
    const Io result = give(outward_.front());
    if (result == Io::again) return;
    count(result);
  }
}

void DescriptorEnd::receive(const TxFrame& frame) {
  if (frame.bad) {
    ++statistics_.out_bad;
  } else if (frame.bytes.size() > setting_.longest) {
    ++statistics_.out_too_long;
  } else if (outward_.size() >= setting_.queue) {
    ++statistics_.out_dropped;
  } else {
    outward_.push_back(frame.bytes);
  }
  flush();
}

std::vector<RxFrame> DescriptorEnd::poll(std::uint64_t now_ps, std::size_t pending) {
  flush();
  std::vector<RxFrame> frames;
  // Each read counts, so that a flood of frames which all are dropped cannot hold up the caller.
  std::size_t reads = 0;
  bool again = false;
  for (; !again && pending + reads < most_waiting; ++reads) {
    RxFrame frame;
    switch (take(frame.bytes)) {
      case Io::done:
        if (frame.bytes.size() > setting_.longest) {
          ++statistics_.in_too_long;
        } else if (frame.bytes.size() < layout::ethernet) {
          ++statistics_.in_too_short;
        } else {
          if (frame.bytes.size() < layout::shortest_frame) frame.bytes.resize(layout::shortest_frame);
          ++statistics_.in;
          frames.push_back(std::move(frame));
        }
        break;
      case Io::too_long:
        ++statistics_.in_too_long;
        break;
      case Io::again:
      case Io::refused:
        again = true;
        break;
    }
  }
  full_ = !again;
  next_ps_ = full_ || !outward_.empty() ? now_ps + retry_ps : never_ps;
  return frames;
}

void DescriptorEnd::report(const WireReport& report) const {
  const auto count = [&](std::string_view name, std::uint64_t value) { report(name, static_cast<double>(value)); };
  count("in", statistics_.in);
  count("in_too_long", statistics_.in_too_long);
  count("in_too_short", statistics_.in_too_short);
  count("out", statistics_.out);
  count("out_too_long", statistics_.out_too_long);
  count("out_bad", statistics_.out_bad);
  count("out_dropped", statistics_.out_dropped);
  count("out_refused", statistics_.out_refused);
}

}  // namespace meridian
