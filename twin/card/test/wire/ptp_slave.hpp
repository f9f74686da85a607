// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire_bench.hpp"

namespace meridian {

/// What a slave needs of PTP, taken from the standard's tables and nothing of the grandmaster's code. Its clock is twin
/// time.
struct SlaveMessage {
  unsigned type = 0, version = 0, length = 0, domain = 0, flags = 0, sequence = 0, sdo = 0;
  int log_interval = 0;
  double correction_ns = 0;
  std::int64_t timestamp_ns = 0;
  Bytes all;
  std::uint64_t t_ps = 0;
};

inline std::uint64_t big_endian(const Bytes& bytes, std::size_t at, unsigned count) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i) value = value << 8 | bytes.at(at + i);
  return value;
}

/// offset: where PTP begins in the frame, 14, 42 or 62.
inline SlaveMessage slave_read(const Arrived& frame, std::size_t offset) {
  SlaveMessage m;
  m.all.assign(frame.bytes.begin() + static_cast<long>(offset), frame.bytes.end());
  m.type = m.all.at(0) & 15;
  m.sdo = m.all.at(0) >> 4;
  m.version = m.all.at(1) & 15;
  m.length = static_cast<unsigned>(big_endian(m.all, 2, 2));
  m.domain = m.all.at(4);
  m.flags = static_cast<unsigned>(big_endian(m.all, 6, 2));
  m.correction_ns = static_cast<double>(static_cast<std::int64_t>(big_endian(m.all, 8, 8))) / 65536;
  m.sequence = static_cast<unsigned>(big_endian(m.all, 30, 2));
  m.log_interval = static_cast<std::int8_t>(m.all.at(33));
  m.timestamp_ns = static_cast<std::int64_t>(big_endian(m.all, 34, 6) * 1'000'000'000 + big_endian(m.all, 40, 4));
  m.t_ps = frame.sfd_ps;
  return m;
}

/// A request as it goes into a frame; sum of 16-bit words is left to the caller.
inline Bytes slave_request(unsigned type, unsigned length, unsigned sequence, unsigned domain = 0,
                           std::int64_t correction = 0, unsigned sdo = 0) {
  Bytes m(length);
  m[0] = static_cast<std::uint8_t>(sdo << 4 | type);
  m[1] = 0x12;
  m[3] = static_cast<std::uint8_t>(length);
  m[4] = static_cast<std::uint8_t>(domain);
  for (unsigned i = 0; i < 8; ++i) m[8 + i] = static_cast<std::uint8_t>(correction >> (56 - 8 * i));
  for (unsigned i = 0; i < 10; ++i) m[20 + i] = static_cast<std::uint8_t>(0xc0 + i);
  m[30] = static_cast<std::uint8_t>(sequence >> 8);
  m[31] = static_cast<std::uint8_t>(sequence);
  m[33] = 0x7f;
  return m;
}

/// Ones' complement sum of the words of bytes, folded.
inline unsigned word_sum(const Bytes& bytes, std::size_t from, std::size_t to, unsigned sum = 0) {
  for (std::size_t i = from; i < to; i += 2) sum += bytes.at(i) * 256U + (i + 1 < to ? bytes.at(i + 1) : 0U);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

/// The message in a frame of the transport with that offset, from 02:00:00:00:00:05, with right checksums.
inline Bytes slave_frame(const Bytes& message, std::size_t offset, bool peer, bool event = true) {
  static const Bytes source = {2, 0, 0, 0, 0, 5};
  const auto append = [](Bytes& bytes, const Bytes& more) { bytes.insert(bytes.end(), more.begin(), more.end()); };
  const unsigned udp = static_cast<unsigned>(message.size()) + 8;
  const auto high = static_cast<std::uint8_t>(udp >> 8), low = static_cast<std::uint8_t>(udp);
  const std::uint8_t port = event ? 0x3f : 0x40;
  Bytes frame;
  if (offset == 14) {
    frame = peer ? Bytes{0x01, 0x80, 0xc2, 0, 0, 0x0e} : Bytes{0x01, 0x1b, 0x19, 0, 0, 0};
    append(frame, source);
    append(frame, {0x88, 0xf7});
  } else if (offset == 42) {
    frame = peer ? Bytes{0x01, 0, 0x5e, 0, 0, 0x6b} : Bytes{0x01, 0, 0x5e, 0, 0x01, 0x81};
    append(frame, source);
    append(frame, {0x08, 0, 0x45, 0});
    append(frame, {static_cast<std::uint8_t>((udp + 20) >> 8), static_cast<std::uint8_t>(udp + 20)});
    append(frame, {0, 1, 0, 0, 1, 17, 0, 0, 192, 168, 42, 5});
    append(frame, peer ? Bytes{224, 0, 0, 107} : Bytes{224, 0, 1, 129});
    const unsigned sum = 0xffff - word_sum(frame, 14, 34);
    frame[24] = static_cast<std::uint8_t>(sum >> 8);
    frame[25] = static_cast<std::uint8_t>(sum);
  } else {
    frame = Bytes{0x33, 0x33, 0, 0, 0, 0x6b};
    if (!peer) frame[4] = 0x01, frame[5] = 0x81;
    append(frame, source);
    append(frame, {0x86, 0xdd, 0x60, 0, 0, 0, high, low, 17, 1});
    append(frame, {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5});
    append(frame, {0xff, static_cast<std::uint8_t>(peer ? 2 : 14), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    append(frame, peer ? Bytes{0, 0x6b} : Bytes{1, 0x81});
  }
  if (offset != 14) {
    const std::size_t segment = offset - 8;
    append(frame, {1, port, 1, port, high, low, 0, 0});
    append(frame, message);
    const unsigned addresses = offset == 42 ? word_sum(frame, 26, 34) : word_sum(frame, 22, 54);
    const unsigned sum = 0xffff - word_sum(frame, segment, frame.size(), addresses + 17 + udp);
    frame[segment + 6] = static_cast<std::uint8_t>(sum >> 8);
    frame[segment + 7] = static_cast<std::uint8_t>(sum);
  } else {
    append(frame, message);
  }
  if (frame.size() < 60) frame.resize(60);
  return frame;
}

/// All checksums of a frame that came from the grandmaster are right.
inline void expect_checksums(const Bytes& frame, std::size_t offset) {
  if (offset == 14) return;
  const std::size_t segment = offset - 8;
  const auto udp = static_cast<unsigned>(big_endian(frame, segment + 4, 2));
  if (offset == 42) {
    EXPECT_EQ(word_sum(frame, 14, 34), 0xffffU);
  }
  const unsigned addresses = offset == 42 ? word_sum(frame, 26, 34) : word_sum(frame, 22, 54);
  EXPECT_EQ(word_sum(frame, segment, segment + udp, addresses + 17 + udp), 0xffffU);
}

}  // namespace meridian
