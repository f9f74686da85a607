// SPDX-License-Identifier: Apache-2.0
#include "requester_host.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

namespace meridian {

namespace {

constexpr unsigned memory_read = 0, memory_write = 1;
constexpr unsigned descriptor_words = 4;
constexpr unsigned boundary = 64, page = 4096;
// Error codes of PG213, "Requester Completion Descriptor Format".
constexpr unsigned poisoned_code = 1, status_code = 2, count_code = 3, request_code = 4, address_code = 5;
constexpr unsigned stray_code = 6, reset_code = 8, time_out_code = 9;
constexpr unsigned tags = 256;
constexpr unsigned usable_tags = EXTENDED_TAGS ? tags : 32;
constexpr std::uint64_t most_completions = 127;  // the block has room for 128, which have to be more (PG213)
constexpr std::uint64_t under_way = 64;          // cycles of RQ in which what was decided before may leave
constexpr unsigned unsupported_status = 1, abort_status = 4;

void check(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("request: " + what);
}

}  // namespace

std::size_t RequesterHost::open_of(unsigned function) const {
  return static_cast<std::size_t>(
      std::count_if(open_.begin(), open_.end(), [&](const Read& read) { return read.function == function; }));
}

std::uint64_t RequesterHost::answered(unsigned function, std::uint64_t address, std::uint64_t bytes) const {
  std::uint64_t sum = 0;
  for (auto it = answered_.lower_bound({function, address});
       it != answered_.end() && it->first < std::pair{function, address + bytes}; ++it)
    sum += it->second;
  return sum;
}

/// Whether a run of ones is all there is.
constexpr bool is_run(unsigned bits) {
  return bits != 0 && std::has_single_bit((bits >> std::countr_zero(bits)) + 1);
}

/// A request whose first beat is taken now.
void RequesterHost::begin(const Beat& beat) {
  packet_user_ = beat.user;
  const unsigned function = (beat.data[2] >> 16) & 0xff;
  const auto off = may_not_since_.find(function);
  const bool may = off != may_not_since_.end() && (off->second == never_off || offered_ - off->second <= under_way);
  check(may, "function " + std::to_string(function) + " may not access memory");
}

void RequesterHost::take(const Beat& beat) {
  if (packet_.empty()) begin(beat);
  check(is_run(beat.keep) && (beat.keep & 1) != 0 && (beat.last || beat.keep == 0xff), "double words are missing");
  packet_.insert(packet_.end(), beat.data.begin(), beat.data.begin() + std::popcount(beat.keep));
  if (!beat.last) return;
  const std::vector<std::uint32_t> d = std::exchange(packet_, {});
  const std::uint64_t address = ((std::uint64_t{d[1]} << 32) | d[0]) & ~std::uint64_t{3};
  const unsigned words = d[2] & 0x7ff, kind = (d[2] >> 11) & 0xf, function = (d[2] >> 16) & 0xff;
  const auto first_be = static_cast<unsigned>(packet_user_ & 0xf),
             last_be = static_cast<unsigned>(packet_user_ >> 4 & 0xf);
  // The sequence number tells the block's pins of posted requests.
  const std::uint64_t number = kind == memory_write ? 1 : 0;
  check(packet_user_ >> 8 == number << 16, "tuser has another sequence number, or bits that this engine does not use");
  check(d[0] % 4 == 0 && words != 0, "address type, or no double word");
  check(first_be != 0 && (last_be == 0) == (words == 1), "byte enables");
  check(address % page + 4 * words <= page, "it crosses 4 KiB");
  check(is_run(first_be) && (words == 1 || (first_be & 8) != 0), "bytes are missing in the first double word");
  check(words == 1 || (is_run(last_be) && (last_be & 1) != 0), "bytes are missing in the last double word");
  const auto skipped = static_cast<unsigned>(std::countr_zero(first_be));
  const unsigned ending = words == 1 ? first_be : last_be;
  const unsigned bytes = 4 * words - skipped - (static_cast<unsigned>(std::countl_zero(ending)) - 28);
  const Request request{function, address + skipped, bytes, kind == memory_write};
  requests.push_back(request);
  if (kind == memory_write && request.address >= messages_at && request.address < messages_end) {
    check(words == 1 && request.bytes == 4 && d.size() == descriptor_words + 1, "a message is not a double word");
    messages.push_back({function, request.address, d[descriptor_words]});
    if (on_message) on_message(messages.back());
    return;
  }
  if (kind == memory_write) {
    check(d.size() == descriptor_words + words && 4 * words <= max_payload_, "a write's length");
    return write(request, std::span(d).subspan(descriptor_words));
  }
  check(kind == memory_read && d.size() == descriptor_words, "a kind or a length that this engine does not send");
  check(4 * words <= max_read_, "more than the maximum read request size");
  const auto tag = static_cast<std::uint8_t>(d[3]);
  check(unsigned{tag} < usable_tags, "tag " + std::to_string(tag) + " needs extended tags");
  check(std::none_of(open_.begin(), open_.end(), [tag](const Read& read) { return read.tag == tag; }),
        "tag " + std::to_string(tag) + " is in flight");
  Answer answer = answer_of ? answer_of(function, request.address) : Answer::data;
  if (answer == Answer::data && request.address + bytes > memory.end) answer = Answer::unsupported;
  open_.push_back({tag, function, request.address, bytes, 0, answer, random_.below(3), false});
  // What waits for the engine takes a header for each packet.
  auto completions =
      static_cast<std::uint64_t>(std::count_if(beats_.begin(), beats_.end(), [](const Beat& one) { return one.last; }));
  for (const Read& read : open_)
    completions += (read.address + read.bytes - 1) / boundary - (read.address + read.sent) / boundary + 1;
  check(completions <= most_completions, "reads under way may bring " + std::to_string(completions) + " completions");
}

void RequesterHost::write(const Request& request, std::span<const std::uint32_t> data) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(data.data());
  memory.write(request.function, request.address, std::span(bytes + request.address % 4, request.bytes));
  if (on_write) on_write(request.function, request.address);
}

const RequesterHost::Beat* RequesterHost::next() {
  if (beats_.empty() && !holds && random_.below(500) == 0) send_stray();
  if (beats_.empty() && !holds && !open_.empty() && random_.percent(60)) {
    const std::size_t index = random_.below(static_cast<std::uint32_t>(open_.size()));
    if (open_[index].answer != Answer::never || released_) answer(index);
  }
  return beats_.empty() ? nullptr : &beats_.front();
}

void RequesterHost::send_stray() {
  const auto tag = static_cast<std::uint8_t>(random_.below(tags));
  if (std::any_of(open_.begin(), open_.end(), [tag](const Read& read) { return read.tag == tag; })) return;
  const unsigned words = random_.below(16), bytes = 4 * words;
  const std::vector<std::uint32_t> values(words, 0x57a7'57a7);
  send(std::array<std::uint32_t, 3>{stray_code << 12 | bytes << 16 | random_.below(2) << 30, words, tag}, values);
}

void RequesterHost::answer(std::size_t index) {
  Read& read = open_[index];
  const std::uint64_t at = read.address + read.sent;
  const unsigned left = read.bytes - read.sent;
  const auto room = static_cast<unsigned>(boundary - at % boundary) + boundary * random_.below(4);
  const unsigned count = std::min(left, room);
  // An error comes with the last part at the latest.
  const bool fails = read.answer != Answer::data && read.answer != Answer::never && (read.good == 0 || count == left);
  if (!fails && read.good != 0) --read.good;
  const auto descriptor = [&](unsigned code, bool completed, unsigned words, unsigned status) {
    const unsigned lower = static_cast<unsigned>(at & 0xfff) ^ (code == address_code ? 0x7cU : 0);
    const unsigned told = left + (code == count_code ? boundary : 0);
    return std::array<std::uint32_t, 3>{lower | code << 12 | told << 16 | (completed ? 1U << 30 : 0),
                                        words | status << 11 | (code == poisoned_code ? 1U << 14 : 0), read.tag};
  };
  if (fails && (read.answer == Answer::unsupported || read.answer == Answer::timed_out)) {
    const bool late = read.answer == Answer::timed_out, other = random_.below(2) != 0;
    const unsigned code = late ? (other ? time_out_code : reset_code) : status_code;
    send(descriptor(code, true, 0, late ? 0 : (other ? unsupported_status : abort_status)), {});
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
    return;
  }
  const std::uint64_t start = at & ~std::uint64_t{3};
  const auto words = static_cast<unsigned>((at + count - start + 3) / 4);
  const Bytes bytes = memory.get(read.function, start, 4 * std::size_t{words});
  std::vector<std::uint32_t> values(words);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  unsigned code = 0;
  if (fails && read.answer == Answer::poisoned) code = poisoned_code;
  if (fails && read.answer == Answer::wrong_count) code = count_code;
  if (fails && read.answer == Answer::wrong_request) code = request_code;
  if (fails && read.answer == Answer::wrong_address) code = address_code;
  send(descriptor(code, count == left, words, 0), values, fails && read.answer == Answer::discontinued);
  read.sent += count;
  read.failed = read.failed || fails;
  // What follows is as it should be.
  if (fails) read.answer = Answer::data;
  if (count != left) return;
  if (!read.failed) answered_[{read.function, read.address}] += read.bytes;
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
}

void RequesterHost::send(std::array<std::uint32_t, 3> descriptor, std::span<const std::uint32_t> words,
                         bool discontinue) {
  std::vector<std::uint32_t> all(descriptor.begin(), descriptor.end());
  all.insert(all.end(), words.begin(), words.end());
  for (std::size_t from = 0; from < all.size(); from += 8) {
    Beat beat;
    const std::size_t count = std::min<std::size_t>(8, all.size() - from);
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(from), count, beat.data.begin());
    for (std::size_t i = count; i < 8; ++i) beat.data[i] = static_cast<std::uint32_t>(random_.next());
    beat.keep = static_cast<std::uint8_t>((1U << count) - 1);
    beat.last = from + count == all.size();
    // Start of the packet; its end, and the last double word of it.
    if (from == 0) beat.user |= std::uint64_t{1} << 32;
    if (beat.last) beat.user |= (std::uint64_t{1} << 34) | (std::uint64_t{count - 1} << 35);
    if (beat.last && discontinue) beat.user |= std::uint64_t{1} << 42;
    beats_.push_back(beat);
  }
}

}  // namespace meridian
