// SPDX-License-Identifier: Apache-2.0
#include "wire/socket/socket_end.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <map>

#include "wire_bench.hpp"

namespace meridian {
namespace {

Bytes message(std::size_t length, std::uint8_t fill) {
  Bytes bytes(16 + length, fill);
  std::memset(bytes.data(), 0, 16);
  const auto size = static_cast<std::uint32_t>(length);
  std::memcpy(bytes.data() + 8, &size, 4);
  return bytes;
}

Descriptor client_of(const std::string& path) {
  Descriptor client(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return client;
}

void send(const Descriptor& client, const Bytes& bytes) {
  EXPECT_EQ(::send(client.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
}

std::map<std::string, double> counts(const WireEnd& end) {
  std::map<std::string, double> found;
  end.report([&found](std::string_view name, double value) { found[std::string(name)] = value; });
  return found;
}

TxFrame frame_of_the_card() {
  TxFrame frame;
  frame.bytes = Bytes(60, 'x');
  return frame;
}

TEST(SocketEnd, HandsOverWhatAClientSentBeforeItLeft) {
  for (const unsigned unread : {0U, 1U, 3U}) {
    TestFile file(".socket");
    SocketEnd end(file.path());
    {
      const Descriptor client = client_of(file.path());
      EXPECT_TRUE(end.poll(0, 0).empty());
      for (unsigned i = 0; i < unread; ++i) end.receive(frame_of_the_card());
      for (std::uint8_t i = 0; i < 3; ++i) send(client, message(60U + i, i));
    }
    const auto frames = end.poll(0, 0);
    ASSERT_EQ(frames.size(), 3U) << unread << " frames that the client did not read";
    EXPECT_EQ(frames[2].bytes, Bytes(62, 2));
    EXPECT_EQ(counts(end)["from_client"], 3);
  }
}

TEST(SocketEnd, TakesTheNextClientAfterOneThatLeft) {
  TestFile file(".socket");
  SocketEnd end(file.path());
  for (unsigned round = 0; round < 3; ++round) {
    const Descriptor client = client_of(file.path());
    end.poll(0, 0);
    end.poll(0, 0);
    end.receive(frame_of_the_card());
    send(client, message(60, 1));
    EXPECT_EQ(end.poll(0, 0).size(), 1U);
  }
}

TEST(SocketEnd, CountsAMessageThatIsNoFrame) {
  TestFile file(".socket");
  SocketEnd end(file.path());
  const Descriptor client = client_of(file.path());
  Bytes wrong = message(60, 1);
  wrong.push_back(0);
  send(client, wrong);
  send(client, Bytes(3));
  send(client, message(0, 1));
  send(client, message(64, 2));
  EXPECT_EQ(end.poll(0, 0).size(), 1U);
  EXPECT_EQ(counts(end)["malformed"], 3);
}

}  // namespace
}  // namespace meridian
