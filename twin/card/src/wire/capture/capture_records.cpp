// SPDX-License-Identifier: Apache-2.0
#include "wire/capture/capture_records.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace meridian {

namespace {

constexpr std::uint32_t pcap_micro = 0xa1b2c3d4, pcap_nano = 0xa1b23c4d;
constexpr std::uint64_t pcap_header = 24, pcap_record = 16;
constexpr std::uint32_t fcs_is_told = 1U << 26;  // of pcap's link type
constexpr std::uint32_t section_block = 0x0a0d0d0a, interface_block = 1, old_packet_block = 2, simple_packet_block = 3,
                        packet_block = 6;
constexpr std::uint32_t byte_order_magic = 0x1a2b3c4d;
constexpr std::uint64_t shortest_block = 12, shortest_section = 28;
constexpr std::uint16_t option_end = 0;
constexpr std::uint16_t option_resolution = 9, option_fcs = 13, option_offset = 14;  // of an interface
constexpr std::uint16_t option_flags = 2;                                            // of a packet
constexpr std::uint32_t flags_of_errors = 0xffff'0000;
constexpr long double latest_ns = 9e18L;

template <typename Number>
Number reversed(Number value) {
  std::uint8_t raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  std::reverse(raw, raw + sizeof value);
  std::memcpy(&value, raw, sizeof value);
  return value;
}

/// Of a time in units of 10^-resolution s, or of 2^-resolution s with the highest bit set.
std::uint64_t nanoseconds_of(std::uint64_t time, std::uint8_t resolution, std::int64_t offset_s) {
  const int power = resolution & 0x7f;
  auto ns = static_cast<long double>(time);
  if (resolution & 0x80) {
    ns = std::ldexp(ns, -power) * 1e9L;
  } else if (power <= 9) {
    ns *= std::pow(10.0L, 9 - power);
  } else {
    ns /= std::pow(10.0L, power - 9);
  }
  ns += static_cast<long double>(offset_s) * 1e9L;
  return static_cast<std::uint64_t>(std::clamp(ns, 0.0L, latest_ns));
}

std::string at_byte(std::uint64_t at) {
  return " at byte " + std::to_string(at);
}

}  // namespace

CaptureRecords::CaptureRecords(const std::string& path) {
  const auto refuse = [&](const std::string& why) { throw InputError("capture " + path + ": " + why); };
  struct stat status{};
  // A pipe is not opened, as that would wait for who writes to it; and it could not be read twice.
  if (::stat(path.c_str(), &status) != 0) refuse(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse("it is not a regular file");
  file_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file_) refuse(std::strerror(errno));
  size_ = static_cast<std::uint64_t>(status.st_size);
  if (size_ < pcap_header) refuse(std::to_string(size_) + " bytes are too few for a capture");
  const auto magic = number<std::uint32_t>(0);
  if (magic == section_block) {
    ng_ = true;
    if (!section()) refuse(broken_);
    return;
  }
  swapped_ = magic == reversed(pcap_micro) || magic == reversed(pcap_nano);
  nanoseconds_ = number<std::uint32_t>(0) == pcap_nano;
  if (number<std::uint32_t>(0) != pcap_micro && !nanoseconds_) refuse("it is neither pcap nor pcapng");
  const auto major = number<std::uint16_t>(4), minor = number<std::uint16_t>(6);
  if (major != 2 || minor < 3 || minor > 4)
    refuse("version " + std::to_string(major) + "." + std::to_string(minor) + " of pcap is not known here");
  const auto link = number<std::uint32_t>(20);
  Interface only;
  only.link_type = static_cast<std::uint16_t>(link);
  if (link & fcs_is_told) only.fcs = 2 * (link >> 28);
  interfaces_.push_back(only);
  at_ = pcap_header;
}

bool CaptureRecords::read(std::uint64_t at, std::span<std::uint8_t> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t count = ::pread(file_.get(), to.data() + done, to.size() - done, static_cast<off_t>(at + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  if (done < to.size() && broken_.empty()) broken_ = "truncated: the file cannot be read" + at_byte(at + done);
  return done == to.size();
}

/// 0 and the reason in broken_ where the file cannot be read.
template <typename Number>
Number CaptureRecords::number(std::uint64_t at) {
  std::uint8_t raw[sizeof(Number)] = {};
  read(at, raw);
  Number value = 0;
  std::memcpy(&value, raw, sizeof value);
  return swapped_ ? reversed(value) : value;
}

std::optional<CaptureRecord> CaptureRecords::next() {
  while (broken_.empty() && at_ < size_) {
    auto found = ng_ ? next_block() : next_of_pcap();
    if (!broken_.empty()) return std::nullopt;
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<CaptureRecord> CaptureRecords::next_of_pcap() {
  const std::uint64_t at = at_;
  const std::uint64_t start = at + pcap_record;
  if (start > size_) return torn("truncated: the record" + at_byte(at) + " ends beyond the file");
  const auto seconds = number<std::uint32_t>(at), fraction = number<std::uint32_t>(at + 4);
  const auto kept = number<std::uint32_t>(at + 8), length = number<std::uint32_t>(at + 12);
  if (kept > size_ - start) return torn("truncated: the record" + at_byte(at) + " ends beyond the file");
  at_ = start + kept;
  const std::uint64_t ns = std::uint64_t{fraction} * (nanoseconds_ ? 1 : 1000);
  return record(interfaces_[0], start, kept, length, seconds * std::uint64_t{1'000'000'000} + ns, 0);
}

/// Blocks of other kinds than those of interfaces and packets are passed over.
std::optional<CaptureRecord> CaptureRecords::next_block() {
  const std::uint64_t at = at_;
  const std::string where = "the block" + at_byte(at);
  if (at + shortest_block > size_) return torn("truncated: " + where + " ends beyond the file");
  const auto type = number<std::uint32_t>(at);
  if (type == section_block && !section()) return std::nullopt;
  const auto size = number<std::uint32_t>(at + 4);
  if (size % 4 != 0 || size < (type == section_block ? shortest_section : shortest_block))
    return torn(where + " says that it is " + std::to_string(size) + " bytes long");
  if (size > size_ - at) return torn("truncated: " + where + " ends beyond the file");
  const std::uint64_t body = at + 8, end = at + size - 4;
  if (number<std::uint32_t>(end) != size) return torn(where + " has two different lengths");
  at_ = at + size;
  switch (type) {
    case interface_block:
      if (end - body < 8) return torn(where + " is too short");
      interface(body, end);
      return std::nullopt;
    case old_packet_block:
    case simple_packet_block:
    case packet_block: {
      auto found = packet(type, body, end);
      if (!found && broken_.empty()) return torn(where + " is too short, or of an interface that nobody describes");
      return found;
    }
    default:
      return std::nullopt;
  }
}

/// The section that begins at at_; without one, false and the reason in broken_.
bool CaptureRecords::section() {
  const std::string where = "the section" + at_byte(at_);
  swapped_ = false;
  const auto magic = number<std::uint32_t>(at_ + 8);
  swapped_ = magic == reversed(byte_order_magic);
  if (!swapped_ && magic != byte_order_magic) {
    torn(where + " has no byte-order magic");
  } else if (at_ + shortest_section > size_) {
    torn("truncated: " + where + " ends beyond the file");
  } else if (const auto major = number<std::uint16_t>(at_ + 12); major != 1) {
    torn(where + " is of version " + std::to_string(major) + " of pcapng, which is not known here");
  }
  interfaces_.clear();
  return broken_.empty();
}

void CaptureRecords::interface(std::uint64_t at, std::uint64_t end) {
  Interface found;
  found.link_type = number<std::uint16_t>(at);
  found.snap = number<std::uint32_t>(at + 4);
  at += 8;
  while (const auto option = next_option(at, end)) {
    if (option->code == option_resolution && option->length >= 1) found.resolution = number<std::uint8_t>(option->at);
    if (option->code == option_fcs && option->length >= 1) found.fcs = number<std::uint8_t>(option->at);
    if (option->code == option_offset && option->length >= 8) found.offset_s = number<std::int64_t>(option->at);
  }
  interfaces_.push_back(found);
}

/// Nothing if the block is too short, or of an interface that is not there.
std::optional<CaptureRecord> CaptureRecords::packet(std::uint32_t type, std::uint64_t at, std::uint64_t end) {
  if (type == simple_packet_block) {
    if (end - at < 4 || interfaces_.empty()) return std::nullopt;
    const auto length = number<std::uint32_t>(at);
    const std::uint32_t kept = interfaces_[0].snap == 0 ? length : std::min(length, interfaces_[0].snap);
    if (kept > end - at - 4) return std::nullopt;
    return record(interfaces_[0], at + 4, kept, length, 0, 0);
  }
  constexpr std::uint64_t head = 20;
  if (end - at < head) return std::nullopt;
  const std::uint32_t index = type == packet_block ? number<std::uint32_t>(at) : number<std::uint16_t>(at);
  const auto kept = number<std::uint32_t>(at + 12), length = number<std::uint32_t>(at + 16);
  if (index >= interfaces_.size() || kept > end - at - head) return std::nullopt;
  const Interface& from = interfaces_[index];
  const std::uint64_t time = std::uint64_t{number<std::uint32_t>(at + 4)} << 32 | number<std::uint32_t>(at + 8);
  std::uint32_t flags = 0;
  std::uint64_t options = at + head + (std::uint64_t{kept} + 3) / 4 * 4;
  while (const auto option = next_option(options, end))
    if (option->code == option_flags && option->length >= 4) flags = number<std::uint32_t>(option->at);
  return record(from, at + head, kept, length, nanoseconds_of(time, from.resolution, from.offset_s), flags);
}

/// Behind it `at` is that of the next one. Nothing at the end, and where an option ends beyond the block.
std::optional<CaptureRecords::Option> CaptureRecords::next_option(std::uint64_t& at, std::uint64_t end) {
  if (at + 4 > end) return std::nullopt;
  const Option found{number<std::uint16_t>(at), number<std::uint16_t>(at + 2), at + 4};
  if (found.code == option_end || found.length > end - found.at) return std::nullopt;
  at = found.at + (found.length + 3U) / 4 * 4;
  return found;
}

std::optional<CaptureRecord> CaptureRecords::record(const Interface& from, std::uint64_t at, std::uint32_t kept,
                                                    std::uint32_t length, std::uint64_t time_ns, std::uint32_t flags) {
  const std::uint32_t told = flags >> 5 & 0xf;  // by the packet itself
  const std::uint32_t fcs = told != 0 ? told : from.fcs;
  CaptureRecord found;
  found.link_type = from.link_type;
  found.length = length - std::min(length, fcs);
  found.kept = kept > length ? kept : std::min(kept, found.length);
  found.faulty = (flags & flags_of_errors) != 0;
  found.time_ns = std::min(time_ns, static_cast<std::uint64_t>(latest_ns));
  if (found.kept <= longest) {
    found.data.resize(found.kept);
    if (!read(at, found.data)) return std::nullopt;
  }
  return found;
}

std::nullopt_t CaptureRecords::torn(std::string why) {
  broken_ = std::move(why);
  return std::nullopt;
}

}  // namespace meridian
