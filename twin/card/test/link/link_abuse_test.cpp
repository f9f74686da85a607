// SPDX-License-Identifier: Apache-2.0
// What a client does wrong costs only itself: each test has a good host beside the bad client, or ends with one.
#include "base/random.hpp"
#include "link_bench.hpp"

namespace meridian {
namespace {

std::size_t open_descriptors() {
  const auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

class LinkAbuse : public LinkTest {
 protected:
  /// A register is still served to that client.
  void expect_served(TestClient& client) {
    auto read = make(MERIDIAN_LINK_BAR_READ, 0xabcd);
    read.width = 4;
    client.send(read);
    for (;;) {
      const Reply reply = next(client);
      if (reply.header.type == 0 || reply.header.tag == 0xabcd) {
        EXPECT_EQ(reply.header.type, MERIDIAN_LINK_BAR_READ | MERIDIAN_LINK_REPLY);
        return;
      }
    }
  }
  void expect_works() {
    TestClient host = join(MERIDIAN_LINK_PCIE, "good");
    expect_served(host);
  }
};

TEST_F(LinkAbuse, AMessageThatLiesOfItsSizeEndsItsClient) {
  for (const std::uint32_t size : {0U, 31U, 32U + 65537U, 0xffffffffU}) {
    TestClient client = join(MERIDIAN_LINK_PCIE);
    auto header = make(MERIDIAN_LINK_BAR_READ);
    header.size = size;
    client.send_raw(bytes_of(header));
    EXPECT_EQ(error(client), "a message of " + std::to_string(size) + " bytes; sizes are 32 to 65568");
  }
  EXPECT_EQ(server->statistics().dropped, 4U);
  EXPECT_EQ(card.host_resets, 4U);
  expect_works();
}

TEST_F(LinkAbuse, AMessageOfAnUnknownTypeOrTheWrongRoleIsRefused) {
  struct Case {
    meridian_link_role role;
    unsigned type;
    const char* sentence;
  };
  for (const Case& one :
       {Case{MERIDIAN_LINK_PCIE, 0, "a client does not send messages of type 0"},
        Case{MERIDIAN_LINK_PCIE, 99, "a client does not send messages of type 99"},
        Case{MERIDIAN_LINK_PCIE, MERIDIAN_LINK_DMA_WRITE, "a client does not send messages of type 7"},
        Case{MERIDIAN_LINK_AXI, MERIDIAN_LINK_MSIX, "a client does not send messages of type 8"},
        Case{MERIDIAN_LINK_AXI, MERIDIAN_LINK_HELLO, "a second HELLO"},
        Case{MERIDIAN_LINK_AXI, MERIDIAN_LINK_DMA_READ | MERIDIAN_LINK_REPLY,
             "a reply to a read with tag 4, which is not open"}}) {
    TestClient client = join(one.role);
    client.send(make(static_cast<meridian_link_type>(one.type), 4));
    EXPECT_EQ(error(client), one.sentence);
  }
  TestClient ps = join(MERIDIAN_LINK_AXI);
  ps.send(make(MERIDIAN_LINK_FUNCTION));
  const Reply reply = next(ps);
  EXPECT_EQ(reply.header.status, MERIDIAN_LINK_INVALID);
  EXPECT_EQ(reply.text(), "only the host has functions");
  expect_served(ps);
  expect_works();
}

TEST_F(LinkAbuse, RequestsThatMakeNoSenseAreRefused) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  const auto refused = [&](meridian_link_header header, const Bytes& payload = {}) {
    host.send(header, payload);
    const Reply reply = next(host);
    EXPECT_EQ(reply.header.status, MERIDIAN_LINK_INVALID);
    EXPECT_FALSE(reply.payload.empty());
  };
  auto read = make(MERIDIAN_LINK_BAR_READ);
  refused(read);  // width 0
  read.width = 4;
  read.address = 2;
  refused(read);
  read.address = 0;
  read.function = 256;
  refused(read);
  read.function = 0;
  read.bar = 6;
  refused(read);
  read.bar = 0;
  refused(read, Bytes(4));
  auto function = make(MERIDIAN_LINK_FUNCTION);
  function.value = 2;
  refused(function);
  function.value = 1;
  function.bar = 4;
  refused(function);
  function.type = MERIDIAN_LINK_RESET_FUNCTION;
  function.function = 0xffff;
  refused(function);
  refused(make(MERIDIAN_LINK_ADVANCE));
  refused(make(MERIDIAN_LINK_MEMORY), Bytes(31));
  expect_served(host);
  auto write = make(MERIDIAN_LINK_BAR_WRITE);
  write.width = 3;
  host.send(write);
  EXPECT_EQ(next(host).header.type, MERIDIAN_LINK_ERROR);
}

TEST_F(LinkAbuse, TooManyRequestsEndTheirClient) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  card.hold = true;
  auto read = make(MERIDIAN_LINK_BAR_READ);
  read.width = 4;
  for (unsigned i = 0; i < MERIDIAN_LINK_MAX_REQUESTS; ++i) host.send(read);
  settle();
  EXPECT_EQ(card.held.size(), MERIDIAN_LINK_MAX_REQUESTS);
  EXPECT_TRUE(server->has_host());
  host.send(read);
  EXPECT_EQ(error(host), "more than 64 requests without a reply");
  for (auto& done : card.held) done(MERIDIAN_LINK_OK, 0);  // of a client that is gone
  card.hold = false;
  expect_works();
}

TEST_F(LinkAbuse, AReplyOfAnotherSizeEndsItsClient) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  ReadResult result;
  server->host().read(0, 0, 8, result.done());
  auto answer = next(host).header;
  answer.type = MERIDIAN_LINK_DMA_READ | MERIDIAN_LINK_REPLY;
  host.send(answer, Bytes(9));
  EXPECT_EQ(error(host), "a reply to a read with 9 bytes instead of 8");
  EXPECT_EQ(result.calls, 1U);
  EXPECT_EQ(result.status, MemoryBus::Status::unsupported);
  expect_works();
}

TEST_F(LinkAbuse, AClientThatDoesNotAnswerAReadIsDropped) {
  TestClient host = join(MERIDIAN_LINK_PCIE, "sleeper");
  enable(host, 0);
  ReadResult result;
  server->host().read(0, 0, 8, result.done());
  EXPECT_EQ(next(host).header.type, MERIDIAN_LINK_DMA_READ);
  EXPECT_EQ(error(host), "sleeper has not answered a DMA read in time");
  EXPECT_EQ(result.calls, 1U);
  EXPECT_EQ(server->statistics().timeouts, 1U);
  EXPECT_EQ(card.host_resets, 1U);
  expect_works();
}

TEST_F(LinkAbuse, TheOldestReadIsTheFirstToBeLateWhenTagsCountAround) {
  setting.answer_time = std::chrono::seconds(1);
  setting.first_tag = 0xffffffff;
  start();
  TestClient host = join(MERIDIAN_LINK_PCIE, "sleeper");
  enable(host, 0);
  ReadResult old, young;
  const auto began = std::chrono::steady_clock::now();
  server->host().read(0, 0x1000, 4, old.done());
  EXPECT_EQ(next(host).header.tag, 0xffffffffU);
  while (std::chrono::steady_clock::now() < began + std::chrono::milliseconds(600)) server->poll(10);
  server->host().read(0, 0x1000, 4, young.done());
  EXPECT_EQ(next(host).header.tag, 0U);
  EXPECT_EQ(error(host), "sleeper has not answered a DMA read in time");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(1500));
}

TEST_F(LinkAbuse, AClientThatSaysNoHelloIsDropped) {
  TestClient silent = connect();
  TestClient half = connect();
  half.send_raw(Bytes(20, 0x20));
  expect_works();
  EXPECT_EQ(error(silent), "no HELLO came");
  EXPECT_EQ(error(half), "no HELLO came");
  EXPECT_EQ(server->statistics().refused, 2U);
}

TEST_F(LinkAbuse, ConnectionsBeyondTheLimitAreRefused) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  std::vector<TestClient> idle;
  for (unsigned i = 0; i < setting.connections - 1; ++i) {
    idle.push_back(connect());
    settle(1);
  }
  TestClient more = connect();
  EXPECT_EQ(error(more), "there are 16 connections already");
  expect_served(host);
}

TEST_F(LinkAbuse, AClientThatDoesNotReadAFloodIsDropped) {
  setting.output_bytes = 1 << 20;
  setting.patient_bytes = 1 << 18;
  setting.answer_time = std::chrono::seconds(60);
  start();
  TestClient host = join(MERIDIAN_LINK_PCIE);
  TestClient ps = join(MERIDIAN_LINK_AXI, "ps");
  enable(host, 0);
  unsigned written = 0;
  bool asked_for_patience = false;
  while (server->has_host() && written < 1000) {
    server->host().write(0, 0, Bytes(65536, 1));
    asked_for_patience = asked_for_patience || server->waits();
    server->poll(0);
    ++written;
  }
  EXPECT_LT(written, 64U);
  EXPECT_TRUE(asked_for_patience);
  EXPECT_FALSE(server->waits());
  EXPECT_EQ(server->statistics().dropped, 1U);
  EXPECT_EQ(card.host_resets, 1U);
  expect_served(ps);
}

TEST_F(LinkAbuse, AClientThatStopsReadingIsDroppedInTime) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  for (unsigned i = 0; i < 64; ++i) server->host().write(0, 0, Bytes(65536, 1));
  const auto limit = std::chrono::steady_clock::now() + bound;
  while (server->has_host() && std::chrono::steady_clock::now() < limit) server->poll(10);
  EXPECT_FALSE(server->has_host());
  EXPECT_EQ(server->statistics().timeouts, 1U);
  expect_works();
}

TEST_F(LinkAbuse, AFloodOfWritesLeavesTheOtherItsTurn) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  TestClient ps = join(MERIDIAN_LINK_AXI);
  auto write = make(MERIDIAN_LINK_BAR_WRITE);
  write.width = 4;
  const Bytes one = TestClient::message(write);
  Bytes flood;
  for (unsigned i = 0; i < 4000; ++i) flood.insert(flood.end(), one.begin(), one.end());
  ASSERT_EQ(host.send_raw(flood), flood.size());
  auto read = make(MERIDIAN_LINK_BAR_READ);
  read.width = 4;
  ps.send(read);
  server->poll(0);
  EXPECT_TRUE(ps.take().has_value());
  EXPECT_LT(card.writes, 4000U);
  card.takes = false;
  const unsigned before = card.writes;
  settle();
  EXPECT_EQ(card.writes, before);
  expect_served(ps);  // the other's registers have room
  card.takes = true;
  settle(100);
  EXPECT_EQ(card.writes, 4000U);
}

TEST_F(LinkAbuse, AnAnswerBehindAFloodOfWritesArrives) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  ReadResult result;
  server->host().read(0, 0, 8, result.done());
  auto answer = next(host).header;
  auto write = make(MERIDIAN_LINK_BAR_WRITE);
  write.width = 4;
  host.send(write);
  answer.type = MERIDIAN_LINK_DMA_READ | MERIDIAN_LINK_REPLY;
  host.send(answer, Bytes(8, 3));
  EXPECT_TRUE(server->waits());
  card.takes = false;
  settle();
  EXPECT_EQ(result.calls, 0U);
  EXPECT_FALSE(server->waits());  // or the write would never be taken
  card.takes = true;
  settle();
  EXPECT_EQ(result.data, Bytes(8, 3));
}

TEST_F(LinkAbuse, FloodsOfFileDescriptorsLeaveNoneOpen) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  const std::size_t before = open_descriptors();
  const Descriptor file = memory_file(0x1000);
  auto read = make(MERIDIAN_LINK_BAR_READ);
  read.width = 4;
  for (unsigned i = 0; i < 100; ++i) {
    host.send(read, {}, std::vector<int>(64, file.get()));
    next(host);
  }
  EXPECT_LE(open_descriptors(), before + 1 + 4);
  expect_served(host);  // what is left over goes with the next bytes
  EXPECT_LE(open_descriptors(), before + 1);
}

TEST_F(LinkAbuse, AClientMayLeaveAtEachByteOfAMessage) {
  auto write = make(MERIDIAN_LINK_BAR_WRITE);
  write.width = 4;
  const Bytes whole = TestClient::message(write);
  for (std::size_t length = 1; length < whole.size(); ++length) {
    TestClient host = join(MERIDIAN_LINK_PCIE);
    host.send_raw(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    host.socket.reset();
    settle(2);
    EXPECT_FALSE(server->has_host());
  }
  EXPECT_EQ(card.writes, 0U);
  expect_works();
}

Bytes valid_message(Random& random) {
  const std::array<unsigned, 10> types{1, 2, 3, 4, 5, 0x86, 10, 11, 12, 13};
  auto header = make(static_cast<meridian_link_type>(types.at(random.below(types.size()))), random.below(4));
  header.function = static_cast<std::uint16_t>(random.below(300));
  header.bar = static_cast<std::uint8_t>(random.below(4));
  header.width = static_cast<std::uint8_t>(1U << random.below(4));
  header.address = random.next() & (random.percent(50) ? 0xff8U : ~std::uint64_t{0});
  header.value = random.below(3);
  Bytes payload;
  if (header.type == MERIDIAN_LINK_HELLO)
    payload = bytes_of(make_hello(random.percent(50) ? MERIDIAN_LINK_PCIE : MERIDIAN_LINK_AXI));
  if (header.type == MERIDIAN_LINK_MEMORY) payload = bytes_of(meridian_link_region{random.next(), 0x1000, 0, 0, 1, {}});
  if (header.type == 0x86) payload.resize(random.below(20));
  return TestClient::message(header, payload);
}

TEST_F(LinkAbuse, RandomBytesAndBrokenMessagesDoNoHarm) {
  setting.answer_time = std::chrono::milliseconds(50);
  start();
  Random random(7);
  const std::size_t descriptors = open_descriptors();
  const Descriptor file = memory_file(0x1000);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  unsigned rounds = 0;
  std::size_t reads = 0, ended = 0;
  while (std::chrono::steady_clock::now() < limit) {
    ++rounds;
    TestClient client = connect();
    if (random.percent(80)) {
      auto hello = make_hello(random.percent(50) ? MERIDIAN_LINK_PCIE : MERIDIAN_LINK_AXI);
      hello.flags = random.below(2);
      client.send(make(MERIDIAN_LINK_HELLO), bytes_of(hello));
    }
    for (unsigned i = random.below(30); i > 0; --i) {
      Bytes bytes = valid_message(random);
      const unsigned kind = random.below(4);
      if (kind == 1) bytes.resize(random.below(static_cast<std::uint32_t>(bytes.size())));
      if (kind == 2) bytes.at(random.below(32)) = static_cast<std::uint8_t>(random.next());
      if (kind == 3 && random.percent(20))
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
      client.send_raw(bytes, random.percent(20) ? std::vector<int>{file.get()} : std::vector<int>{});
      if (random.percent(30)) {
        ++reads;
        server->host().read(random.below(260), random.next() & 0xfff, random.below(70000),
                            [&](MemoryBus::Status, std::span<const std::uint8_t>) { ++ended; });
        server->host().write(random.below(260), random.next() & 0xfff, Bytes(random.below(100)));
      }
      server->poll(0);
    }
  }
  for (unsigned i = 0; i < 30; ++i) server->poll(10);
  EXPECT_EQ(ended, reads);
  EXPECT_GT(rounds, 50U);
  EXPECT_EQ(open_descriptors(), descriptors + 1);
  expect_works();
}

}  // namespace
}  // namespace meridian
