// SPDX-License-Identifier: Apache-2.0
#include "pcie/packet.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace meridian::pcie {

namespace {

constexpr unsigned memory_read = 0, memory_write = 1;
constexpr unsigned request_words = 4, completion_words = 3;
constexpr std::uint32_t root = 0x0008;           // requester id of the host
constexpr std::uint32_t bar_base = 0xd000'0000;  // any multiple of the largest BAR
constexpr unsigned page = 4096;
constexpr unsigned status_error = 2, unsupported = 1;  // error code of a completion, and its status

void check(bool holds, const std::string& what) {
  if (!holds) throw CheckError("pcie: " + what);
}

/// Whether it is ones without a gap.
bool is_run(unsigned bits) {
  return bits != 0 && std::has_single_bit((bits >> std::countr_zero(bits)) + 1);
}

/// Double words from the one with the first byte on; what is beside the bytes is 0.
std::vector<std::uint32_t> words_of(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  std::vector<std::uint32_t> words((address % 4 + bytes.size() + 3) / 4);
  std::memcpy(reinterpret_cast<std::uint8_t*>(words.data()) + address % 4, bytes.data(), bytes.size());
  return words;
}

std::vector<Beat> beats_of(const std::vector<std::uint32_t>& words) {
  std::vector<Beat> beats;
  for (std::size_t from = 0; from < words.size(); from += beat_words) {
    const std::size_t count = std::min<std::size_t>(beat_words, words.size() - from);
    Beat beat;
    std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(from), count, beat.data.begin());
    beat.keep = static_cast<std::uint8_t>((1U << count) - 1);
    beat.last = from + count == words.size();
    beats.push_back(beat);
  }
  return beats;
}

void set_user(Beat& beat, std::uint64_t bits) {
  beat.user[0] |= static_cast<std::uint32_t>(bits);
  beat.user[1] |= static_cast<std::uint32_t>(bits >> 32);
}

}  // namespace

std::vector<Beat> encode(const Access& access) {
  const bool write = !access.data.empty();
  const unsigned lane = access.offset % 4;
  const auto bytes = write ? static_cast<unsigned>(access.data.size()) : access.bytes;
  const unsigned count = (lane + bytes + 3) / 4;
  const unsigned spare = 4 * count - lane - bytes;  // bytes behind the last one
  const unsigned begin = 0xfU << lane & 0xf, end = 0xfU >> spare;
  std::vector<std::uint32_t> words = {(bar_base + access.offset) & ~3U, 0,
                                      count | (write ? memory_write : memory_read) << 11 | root << 16,
                                      access.tag | access.function << 8 | access.bar << 16 | access.aperture << 19 |
                                          access.traffic_class << 25 | access.attributes << 28};
  if (write) {
    const std::vector<std::uint32_t> payload = words_of(access.offset, access.data);
    words.insert(words.end(), payload.begin(), payload.end());
  }
  std::vector<Beat> beats = beats_of(words);
  set_user(beats.front(), count == 1 ? begin & end : begin | end << 4);
  set_user(beats.front(), std::uint64_t{1} << 40);  // start of the packet
  if (!write) return beats;
  // Enables of each byte of the payload.
  for (unsigned byte = 0; byte < bytes; ++byte) {
    const unsigned at = 4 * request_words + lane + byte;
    set_user(beats[at / (4 * beat_words)], std::uint64_t{1} << (8 + at % (4 * beat_words)));
  }
  return beats;
}

AccessAnswer decode_answer(std::span<const std::uint32_t> packet) {
  check(packet.size() >= completion_words, "a completion without its descriptor");
  AccessAnswer answer;
  answer.ok = (packet[1] >> 11 & 7) == 0;
  answer.tag = static_cast<std::uint8_t>(packet[2]);
  answer.function = packet[2] >> 8 & 0xff;
  answer.lower = packet[0] & 0x7f;
  answer.bytes = packet[0] >> 16 & 0x1fff;
  answer.traffic_class = packet[2] >> 25 & 7;
  answer.attributes = packet[2] >> 28 & 7;
  check(packet[1] >> 16 == root, "a completion for requester " + std::to_string(packet[1] >> 16));
  const std::size_t words = packet[1] & 0x7ff;
  // That of a request that is refused repeats the request behind its descriptor.
  if (!answer.ok) return answer;
  check(words == packet.size() - completion_words, "a completion that says " + std::to_string(words) +
                                                       " double words and has " +
                                                       std::to_string(packet.size() - completion_words));
  answer.words.assign(packet.begin() + completion_words, packet.end());
  return answer;
}

Request decode_request(std::span<const std::uint32_t> packet, std::uint64_t user) {
  check(packet.size() >= request_words, "a request without its descriptor");
  const std::uint64_t start = (std::uint64_t{packet[1]} << 32 | packet[0]) & ~std::uint64_t{3};
  const unsigned words = packet[2] & 0x7ff, kind = packet[2] >> 11 & 0xf;
  const auto first = static_cast<unsigned>(user & 0xf), last = static_cast<unsigned>(user >> 4 & 0xf);
  check(words != 0 && packet[0] % 4 == 0, "a request without double words, or with an address type");
  check(first != 0 && (last == 0) == (words == 1), "byte enables of a request");
  check(is_run(first) && (words == 1 || ((first & 8) != 0 && is_run(last) && (last & 1) != 0)),
        "bytes are missing within a request");
  check(start % page + 4 * std::uint64_t{words} <= page, "a request crosses 4 KiB");
  check(kind == memory_read || kind == memory_write, "a request of kind " + std::to_string(kind));
  Request request;
  request.write = kind == memory_write;
  request.function = packet[2] >> 16 & 0xff;
  request.tag = static_cast<std::uint8_t>(packet[3]);
  const auto lane = static_cast<unsigned>(std::countr_zero(first));
  const unsigned ending = words == 1 ? first : last;
  request.address = start + lane;
  request.bytes = 4 * words - lane - (static_cast<unsigned>(std::countl_zero(ending)) - 28);
  if (!request.write) {
    check(packet.size() == request_words, "a read with data");
    return request;
  }
  check(packet.size() == request_words + words, "a write that is not as long as it says");
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(packet.data() + request_words) + lane;
  request.data.assign(bytes, bytes + request.bytes);
  return request;
}

std::vector<Beat> encode(const Completion& completion) {
  const std::vector<std::uint32_t> payload =
      completion.ok ? words_of(completion.address, completion.data) : std::vector<std::uint32_t>{};
  std::vector<std::uint32_t> words = {
      static_cast<std::uint32_t>(completion.address & 0xfff) | (completion.ok ? 0 : status_error) << 12 |
          completion.left << 16 | (completion.ends() ? 1U << 30 : 0),
      static_cast<std::uint32_t>(payload.size()) | (completion.ok ? 0 : unsupported) << 11, completion.tag};
  words.insert(words.end(), payload.begin(), payload.end());
  std::vector<Beat> beats = beats_of(words);
  set_user(beats.front(), std::uint64_t{1} << 32);  // start of the packet
  const unsigned end = static_cast<unsigned>(std::popcount(beats.back().keep)) - 1;
  set_user(beats.back(), std::uint64_t{1} << 34 | std::uint64_t{end} << 35);
  return beats;
}

}  // namespace meridian::pcie
