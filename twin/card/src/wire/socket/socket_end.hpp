// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>

#include "link/descriptor.hpp"
#include "link/listener.hpp"
#include "wire/wire_end.hpp"

namespace meridian {

/// The wire in another program's hands: a UNIX socket of type SOCK_SEQPACKET, a frame a message, one client at a time.
///
/// Each message is a header of 16 bytes, little endian, and the frame without FCS: time in ps (8 bytes: to the card the
/// earliest start of its preamble, 0 at once; from the card the end of its start-of-frame delimiter), length (4) and
/// flags (4: bit 0 a wrong FCS). A message that is not so is counted and dropped; what the client does not fetch in
/// time is dropped and counted too.
class SocketEnd final : public WireEnd {
 public:
  explicit SocketEnd(const std::filesystem::path& path);

  void receive(const TxFrame& frame) override;
  std::vector<RxFrame> poll(std::uint64_t now_ps, std::size_t pending) override;
  bool tend() override;
  std::uint64_t next_ps() const override { return never_ps; }
  std::optional<int> descriptor() const override { return client_ ? client_.get() : listener_.get(); }
  void report(const WireReport& report) const override;

 private:
  static constexpr std::size_t header_bytes = 16;
  static constexpr std::size_t longest_frame = 65535;
  static constexpr std::size_t unsent_limit = 65536;  // frames
  static constexpr std::size_t pending_limit = 4096;

  void flush();
  std::optional<RxFrame> next();
  void fetch(std::size_t pending);

  Listener listener_;
  Descriptor client_;
  bool reset_ = false;            // the client has closed its end with frames unread
  std::deque<Bytes> unsent_;      // messages to the client
  std::vector<RxFrame> fetched_;  // frames from it
  std::uint64_t sent_ = 0, received_ = 0, malformed_ = 0, dropped_ = 0;
};

}  // namespace meridian
