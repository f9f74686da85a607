// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/frame.hpp"
#include "link/descriptor.hpp"
#include "link/link_server.hpp"

namespace meridian {

/// A card that remembers what it was told and answers at once, unless hold is set.
class FakeCard : public LinkCard {
 public:
  meridian_link_welcome welcome() const override {
    meridian_link_welcome said{};
    said.magic = MERIDIAN_LINK_MAGIC;
    said.version = MERIDIAN_LINK_VERSION;
    said.ports = 1;
    said.pfs = 4;
    said.functions = 256;
    said.queues = 2048;
    said.time_ps = time_ps;
    return said;
  }
  void bar_read(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, Read done) override {
    log.push_back("read " + std::to_string(function) + " " + std::to_string(bar) + " " + std::to_string(offset) + " " +
                  std::to_string(width));
    if (hold) {
      held.push_back(std::move(done));
    } else if (offset >= 0x1000) {
      done(MERIDIAN_LINK_UNSUPPORTED, 0);
    } else {
      done(MERIDIAN_LINK_OK, registers[{function, bar, offset}]);
    }
  }
  void bar_write(unsigned function, unsigned bar, std::uint64_t offset, unsigned, std::uint64_t value) override {
    ++writes;
    registers[{function, bar, offset}] = value;
  }
  void doorbell(unsigned function, unsigned index, std::uint32_t value) override {
    rung.push_back({function, index, value});
  }
  void enable_function(unsigned function, bool enabled, unsigned parent) override {
    log.push_back((enabled ? "enable " : "disable ") + std::to_string(function) + " " + std::to_string(parent));
  }
  std::optional<unsigned> parent(unsigned function) const override {
    const auto found = parents.find(function);
    return found == parents.end() ? std::nullopt : std::optional(found->second);
  }
  void reset_function(unsigned function, Done done) override {
    log.push_back("reset_function " + std::to_string(function));
    if (on_reset) on_reset();
    if (hold_resets)
      held_resets.push_back(std::move(done));
    else
      done(MERIDIAN_LINK_OK);
  }
  void reset_host() override { ++host_resets; }
  void ps_read(std::uint64_t offset, unsigned, Read done) override {
    done(MERIDIAN_LINK_OK, registers[{999U, 0U, offset}]);
  }
  void ps_write(std::uint64_t offset, unsigned, std::uint64_t value) override {
    ++ps_writes;
    registers[{999U, 0U, offset}] = value;
  }
  bool takes_access(meridian_link_role role) const override {
    return (takes || role == MERIDIAN_LINK_AXI) && (role == MERIDIAN_LINK_AXI ? ps_writes : writes) < access_limit;
  }
  void reset_ps() override { ++ps_resets; }
  void set_lockstep(bool on) override { lockstep = on; }
  void advance(std::uint64_t ps, Done done) override {
    time_ps += ps;
    done(MERIDIAN_LINK_OK);
  }

  std::map<std::tuple<unsigned, unsigned, std::uint64_t>, std::uint64_t> registers;
  std::vector<std::string> log;
  std::map<unsigned, unsigned> parents;       // that functions have by the card's making
  std::vector<std::array<unsigned, 3>> rung;  // function, index, value
  std::vector<Read> held;
  std::vector<Done> held_resets;
  std::function<void()> on_reset;
  bool hold = false, hold_resets = false, lockstep = false, takes = true;
  unsigned host_resets = 0, ps_resets = 0, writes = 0, ps_writes = 0;
  unsigned access_limit = ~0U;  // writes of each side that the card takes before its register bus is full
  std::uint64_t time_ps = 0;
};

struct Reply {
  meridian_link_header header{};
  Bytes payload;
  std::string text() const { return {payload.begin(), payload.end()}; }
};

inline meridian_link_header make(meridian_link_type type, std::uint32_t tag = 0) {
  meridian_link_header header{};
  header.type = type;
  header.tag = tag;
  return header;
}

inline meridian_link_hello make_hello(meridian_link_role role, const std::string& name = "test") {
  meridian_link_hello hello{};
  hello.magic = MERIDIAN_LINK_MAGIC;
  hello.version = MERIDIAN_LINK_VERSION;
  hello.role = static_cast<std::uint16_t>(role);
  std::memcpy(hello.name, name.data(), std::min(name.size(), sizeof(hello.name) - 1));
  return hello;
}

template <typename T>
Bytes bytes_of(const T& value) {
  Bytes bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// The other end of one socket; everything is non-blocking, so one thread plays both ends.
class TestClient {
 public:
  explicit TestClient(const std::filesystem::path& path)
      : socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }

  /// How many bytes the socket took.
  std::size_t send_raw(const Bytes& bytes, const std::vector<int>& descriptors = {}) const {
    iovec part{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(64 * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
      cmsghdr* head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
      std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size() * sizeof(int));
    }
    const ssize_t sent = ::sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }

  static Bytes message(meridian_link_header header, const Bytes& payload = {}) {
    header.size = static_cast<std::uint32_t>(sizeof(header) + payload.size());
    Bytes bytes(header.size);
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::copy(payload.begin(), payload.end(), bytes.begin() + sizeof(header));
    return bytes;
  }

  void send(const meridian_link_header& header, const Bytes& payload = {},
            const std::vector<int>& descriptors = {}) const {
    const Bytes bytes = message(header, payload);
    ASSERT_EQ(send_raw(bytes, descriptors), bytes.size());
  }

  /// A message if one is there.
  std::optional<Reply> take() {
    Bytes piece(1 << 17);
    const ssize_t got = ::recv(socket.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got > 0) buffer.insert(buffer.end(), piece.begin(), piece.begin() + got);
    if (got == 0) closed = true;
    if (got < 0 && errno != EAGAIN) closed = true;
    if (buffer.size() < sizeof(meridian_link_header)) return std::nullopt;
    Reply reply;
    std::memcpy(&reply.header, buffer.data(), sizeof(reply.header));
    if (buffer.size() < reply.header.size) return std::nullopt;
    const auto end = buffer.begin() + reply.header.size;
    reply.payload.assign(buffer.begin() + sizeof(reply.header), end);
    buffer.erase(buffer.begin(), end);
    return reply;
  }

  Descriptor socket;
  Bytes buffer;
  bool closed = false;
};

class LinkTest : public ::testing::Test {
 protected:
  static constexpr auto bound = std::chrono::seconds(5);

  LinkTest() {
    std::string place = (std::filesystem::temp_directory_path() / "linkXXXXXX").string();
    folder = ::mkdtemp(place.data());
    setting.answer_time = std::chrono::milliseconds(300);
    start();
  }
  ~LinkTest() override {
    server.reset();
    std::filesystem::remove_all(folder);
  }

  void start() {
    server.reset();
    server.emplace(folder / "card", card, setting);
  }

  TestClient connect() const { return TestClient(folder / "card"); }

  /// Polls until a message for that client is there; fails the test when none comes.
  Reply next(TestClient& client) {
    const auto limit = std::chrono::steady_clock::now() + bound;
    while (std::chrono::steady_clock::now() < limit) {
      server->poll(1);
      if (auto reply = client.take()) return *reply;
      if (client.closed) break;
    }
    ADD_FAILURE() << "nothing came";
    return {};
  }

  void poll_until_closed(TestClient& client) {
    const auto limit = std::chrono::steady_clock::now() + bound;
    while (!client.closed && std::chrono::steady_clock::now() < limit) {
      server->poll(1);
      while (client.take()) continue;
    }
    EXPECT_TRUE(client.closed);
  }

  void settle(unsigned polls = 5) {
    for (unsigned i = 0; i < polls; ++i) server->poll(0);
  }

  TestClient join(meridian_link_role role, const std::string& name = "test", std::uint32_t flags = 0) {
    TestClient client = connect();
    auto hello = make_hello(role, name);
    hello.flags = flags;
    client.send(make(MERIDIAN_LINK_HELLO, 1), bytes_of(hello));
    const Reply reply = next(client);
    EXPECT_EQ(reply.header.type, MERIDIAN_LINK_HELLO | MERIDIAN_LINK_REPLY) << reply.text();
    return client;
  }

  /// The sentence the client gets before its connection closes.
  std::string error(TestClient& client) {
    const Reply reply = next(client);
    EXPECT_EQ(reply.header.type, MERIDIAN_LINK_ERROR);
    poll_until_closed(client);
    return reply.text();
  }

  void enable(TestClient& client, unsigned function, unsigned parent = 0) {
    auto header = make(MERIDIAN_LINK_FUNCTION, 77);
    header.function = static_cast<std::uint16_t>(function);
    header.bar = static_cast<std::uint8_t>(parent);
    header.value = 1;
    client.send(header);
    EXPECT_EQ(next(client).header.status, MERIDIAN_LINK_OK);
  }

  std::filesystem::path folder;
  LinkSetting setting;
  FakeCard card;
  std::optional<LinkServer> server;
};

/// What a read of the bus came to.
struct ReadResult {
  unsigned calls = 0;
  MemoryBus::Status status = MemoryBus::Status::ok;
  Bytes data;
  MemoryBus::ReadDone done() {
    return [this](MemoryBus::Status said, std::span<const std::uint8_t> bytes) {
      ++calls;
      status = said;
      data.assign(bytes.begin(), bytes.end());
    };
  }
};

/// A memfd of that size, sealed as the link wants it.
inline Descriptor memory_file(std::uint64_t bytes, int seals = F_SEAL_SHRINK) {
  Descriptor file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(::fcntl(file.get(), F_ADD_SEALS, seals), 0);
  return file;
}

}  // namespace meridian
