// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "base/error.hpp"
#include "link_bench.hpp"

namespace meridian {
namespace {

class Link : public LinkTest {};

TEST_F(Link, WelcomesAHost) {
  TestClient client = connect();
  client.send(make(MERIDIAN_LINK_HELLO, 5), bytes_of(make_hello(MERIDIAN_LINK_PCIE)));
  const Reply reply = next(client);
  EXPECT_EQ(reply.header.tag, 5U);
  ASSERT_EQ(reply.payload.size(), sizeof(meridian_link_welcome));
  meridian_link_welcome welcome{};
  std::memcpy(&welcome, reply.payload.data(), sizeof(welcome));
  EXPECT_EQ(welcome.magic, MERIDIAN_LINK_MAGIC);
  EXPECT_EQ(welcome.queues, 2048);
  EXPECT_TRUE(server->has_host());
  EXPECT_FALSE(server->has_ps());
  EXPECT_EQ(server->statistics().connections, 1U);
}

TEST_F(Link, ReadsAndWritesBars) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  auto write = make(MERIDIAN_LINK_BAR_WRITE);
  write.function = 7;
  write.bar = 2;
  write.width = 4;
  write.address = 0x20;
  write.value = 0xcafe;
  host.send(write);
  auto read = write;
  read.type = MERIDIAN_LINK_BAR_READ;
  read.tag = 9;
  host.send(read);
  const Reply reply = next(host);
  EXPECT_EQ(reply.header.type, MERIDIAN_LINK_BAR_READ | MERIDIAN_LINK_REPLY);
  EXPECT_EQ(reply.header.tag, 9U);
  EXPECT_EQ(reply.header.value, 0xcafeU);
  EXPECT_EQ(reply.header.function, 7);
  read.address = 0x2000;  // where the fake card has nothing
  host.send(read);
  const Reply nothing = next(host);
  EXPECT_EQ(nothing.header.status, MERIDIAN_LINK_UNSUPPORTED);
  EXPECT_EQ(nothing.header.value, ~std::uint64_t{0});
}

TEST_F(Link, ServesThePsBesideTheHost) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  TestClient ps = join(MERIDIAN_LINK_AXI, "arm");
  auto write = make(MERIDIAN_LINK_BAR_WRITE);
  write.width = 4;
  write.address = 0x8;
  write.value = 3;
  ps.send(write);
  auto read = write;
  read.type = MERIDIAN_LINK_BAR_READ;
  ps.send(read);
  EXPECT_EQ(next(ps).header.value, 3U);
  server->ps().interrupt(0, 1);
  const Reply line = next(ps);
  EXPECT_EQ(line.header.type, MERIDIAN_LINK_INTERRUPT);
  EXPECT_EQ(line.header.value, 1U);
  ReadResult result;
  server->ps().read(0, 0x1000, 8, result.done());
  const Reply asked = next(ps);
  auto answer = asked.header;
  answer.type = MERIDIAN_LINK_DMA_READ | MERIDIAN_LINK_REPLY;
  ps.send(answer, Bytes(8, 0x5a));
  settle();
  EXPECT_EQ(result.calls, 1U);
  EXPECT_EQ(result.data, Bytes(8, 0x5a));
}

TEST_F(Link, TellsANewPsTheLevelOfTheLine) {
  server->ps().interrupt(0, 1);
  TestClient ps = join(MERIDIAN_LINK_AXI);
  EXPECT_EQ(next(ps).header.type, MERIDIAN_LINK_INTERRUPT);
}

TEST_F(Link, AnswersReadsInWhateverOrderTheyComeBack) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  ReadResult first, second;
  server->host().read(0, 0x1000, 4, first.done());
  server->host().read(0, 0x2000, 8, second.done());
  EXPECT_TRUE(server->waits());
  const Reply one = next(host), two = next(host);
  EXPECT_EQ(one.header.address, 0x1000U);
  EXPECT_EQ(one.header.value, 4U);
  EXPECT_NE(one.header.tag, two.header.tag);
  auto answer = two.header;
  answer.type = MERIDIAN_LINK_DMA_READ | MERIDIAN_LINK_REPLY;
  host.send(answer, Bytes(8, 2));
  settle();
  EXPECT_EQ(first.calls, 0U);
  EXPECT_EQ(second.data, Bytes(8, 2));
  answer.tag = one.header.tag;
  answer.status = MERIDIAN_LINK_UNSUPPORTED;
  host.send(answer);
  settle();
  EXPECT_EQ(first.calls, 1U);
  EXPECT_EQ(first.status, MemoryBus::Status::unsupported);
  EXPECT_FALSE(server->waits());
}

TEST_F(Link, AsksForNoMoreThanAClientHasToBear) {
  setting.answer_time = std::chrono::seconds(60);
  start();
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  constexpr unsigned more = 10;
  for (const std::uint32_t bytes : {4U, MERIDIAN_LINK_MAX_PAYLOAD}) {
    const unsigned most = std::min(MERIDIAN_LINK_MAX_READS, MERIDIAN_LINK_MAX_READ_BYTES / bytes);
    std::vector<ReadResult> results(most + more);
    for (ReadResult& result : results) server->host().read(0, 0x1000, bytes, result.done());
    std::vector<meridian_link_header> asked;
    for (unsigned i = 0; i < most; ++i) asked.push_back(next(host).header);
    settle();
    EXPECT_FALSE(host.take()) << "one more than " << most << " of " << bytes;
    for (unsigned i = 0; i < most; ++i) {
      asked[i].type = MERIDIAN_LINK_DMA_READ | MERIDIAN_LINK_REPLY;
      host.send(asked[i], Bytes(bytes, static_cast<std::uint8_t>(i)));
      settle(1);
      EXPECT_EQ(results[i].calls, 1U);
      if (i < more) asked.push_back(next(host).header);
    }
    EXPECT_TRUE(server->waits());
    for (unsigned i = most; i < most + more; ++i) {
      asked[i].type = MERIDIAN_LINK_DMA_READ | MERIDIAN_LINK_REPLY;
      host.send(asked[i], Bytes(bytes, 1));
      settle(1);
      EXPECT_EQ(results[i].calls, 1U);
    }
    EXPECT_FALSE(server->waits());
  }
}

TEST_F(Link, ReadsThatWaitAreUnsupportedWhenTheClientLeaves) {
  std::vector<ReadResult> results(MERIDIAN_LINK_MAX_READS + 3);
  {
    TestClient host = join(MERIDIAN_LINK_PCIE);
    enable(host, 0);
    for (ReadResult& result : results) server->host().read(0, 0x1000, 4, result.done());
  }
  settle(20);
  for (const ReadResult& result : results) {
    EXPECT_EQ(result.calls, 1U);
    EXPECT_EQ(result.status, MemoryBus::Status::unsupported);
  }
  EXPECT_FALSE(server->waits());
}

TEST_F(Link, AFunctionThatWasResetReadsNothingMore) {
  setting.answer_time = std::chrono::seconds(60);
  start();
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  enable(host, 5);
  constexpr std::uint32_t bytes = MERIDIAN_LINK_MAX_PAYLOAD;
  std::vector<ReadResult> results(MERIDIAN_LINK_MAX_READ_BYTES / bytes);
  for (ReadResult& result : results) server->host().read(0, 0x1000, bytes, result.done());
  ReadResult late;
  server->host().read(5, 0x2000, 4, late.done());
  std::vector<meridian_link_header> asked;
  for (unsigned i = 0; i < results.size(); ++i) asked.push_back(next(host).header);
  auto reset = make(MERIDIAN_LINK_RESET_FUNCTION, 7);
  reset.function = 5;
  host.send(reset);
  EXPECT_EQ(next(host).header.type, MERIDIAN_LINK_RESET_FUNCTION | MERIDIAN_LINK_REPLY);
  // There is room for what has waited.
  asked[0].type = MERIDIAN_LINK_DMA_READ | MERIDIAN_LINK_REPLY;
  host.send(asked[0], Bytes(bytes, 1));
  settle(20);
  EXPECT_FALSE(host.take());
  EXPECT_EQ(late.calls, 1U);
  EXPECT_EQ(late.status, MemoryBus::Status::unsupported);
}

TEST_F(Link, TellsThePsWhetherAWriteIsInItsMemory) {
  std::vector<MemoryBus::Status> told;
  const auto done = [&told](MemoryBus::Status status) { told.push_back(status); };
  server->ps().write_answered(0x1000, Bytes(8, 1), done);
  ASSERT_EQ(told.size(), 1U) << "without a PS it is told at once";
  EXPECT_EQ(told.back(), MemoryBus::Status::unsupported);
  TestClient ps = join(MERIDIAN_LINK_AXI);
  for (const auto status : {MERIDIAN_LINK_OK, MERIDIAN_LINK_UNSUPPORTED}) {
    told.clear();
    server->ps().write_answered(0x1000, Bytes(8, 1), done);
    EXPECT_EQ(next(ps).header.type, MERIDIAN_LINK_DMA_WRITE);
    auto answer = next(ps).header;
    ASSERT_EQ(answer.type, MERIDIAN_LINK_DMA_READ);
    EXPECT_EQ(answer.address, 0x1000U);
    EXPECT_EQ(answer.value, 8U);
    EXPECT_TRUE(server->waits());
    EXPECT_TRUE(told.empty());
    answer.type = MERIDIAN_LINK_DMA_READ | MERIDIAN_LINK_REPLY;
    answer.status = static_cast<std::uint16_t>(status);
    ps.send(answer, Bytes(status == MERIDIAN_LINK_OK ? 8 : 0, 1));
    settle();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told.back(), status == MERIDIAN_LINK_OK ? MemoryBus::Status::ok : MemoryBus::Status::unsupported);
  }
}

TEST_F(Link, SendsWritesAndInterruptsInOrder) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 3);
  server->host().write(3, 0xfff0, Bytes(100, 1));
  server->host().interrupt(3, 5);
  server->host().write(3, 0x20, Bytes(65536, 2));
  const Reply first = next(host), second = next(host), third = next(host);
  EXPECT_EQ(first.header.type, MERIDIAN_LINK_DMA_WRITE);
  EXPECT_EQ(first.payload, Bytes(100, 1));
  EXPECT_EQ(second.header.type, MERIDIAN_LINK_MSIX);
  EXPECT_EQ(second.header.value, 5U);
  EXPECT_EQ(third.payload.size(), 65536U);
}

TEST_F(Link, LetsNoFunctionAccessMemoryBeforeItMay) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 4, 1);
  ReadResult result;
  server->host().read(5, 0, 4, result.done());
  EXPECT_EQ(result.calls, 1U);
  EXPECT_EQ(result.status, MemoryBus::Status::unsupported);
  server->host().write(5, 0, Bytes(4));
  server->host().interrupt(5, 0);
  EXPECT_EQ(server->statistics().unsupported, 2U);
  server->host().interrupt(4, 1);
  EXPECT_EQ(next(host).header.function, 4);  // and nothing of function 5 before it
}

TEST_F(Link, ResetsAFunctionAndItsVfs) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 1, 1);
  const unsigned vfs[] = {9, 63, 64, 255};
  for (const unsigned vf : vfs) enable(host, vf, 1);
  enable(host, 10, 0);
  auto reset = make(MERIDIAN_LINK_RESET_FUNCTION, 3);
  reset.function = 1;
  host.send(reset);
  EXPECT_EQ(next(host).header.status, MERIDIAN_LINK_OK);
  EXPECT_EQ(card.log.back(), "reset_function 1");
  for (const unsigned vf : vfs) {
    ReadResult result;
    server->host().read(vf, 0, 4, result.done());
    EXPECT_EQ(result.calls, 1U) << vf;
    EXPECT_EQ(result.status, MemoryBus::Status::unsupported) << vf;
  }
  server->host().interrupt(10, 2);
  EXPECT_EQ(next(host).header.function, 10);
}

TEST_F(Link, ResetsTheHostWhenItLeaves) {
  ReadResult result;
  {
    TestClient host = join(MERIDIAN_LINK_PCIE);
    enable(host, 0);
    server->host().read(0, 0x1000, 4, result.done());
    settle();
    EXPECT_EQ(result.calls, 0U);
  }
  settle();
  EXPECT_EQ(result.calls, 1U);
  EXPECT_EQ(result.status, MemoryBus::Status::unsupported);
  EXPECT_EQ(card.host_resets, 1U);
  EXPECT_FALSE(server->has_host());
  EXPECT_FALSE(server->waits());
  EXPECT_EQ(server->statistics().dropped, 0U);
  join(MERIDIAN_LINK_PCIE, "the next");
  ReadResult later;
  server->host().read(0, 0x1000, 4, later.done());
  EXPECT_EQ(later.status, MemoryBus::Status::unsupported);  // permissions left with the first
}

TEST_F(Link, LetsTheNextInThoughMuchOfTheLastOneIsUnread) {
  {
    TestClient host = join(MERIDIAN_LINK_PCIE);
    auto write = make(MERIDIAN_LINK_BAR_WRITE);
    write.width = 4;
    const Bytes one = TestClient::message(write);
    Bytes all;
    for (unsigned i = 0; i < 1000; ++i) all.insert(all.end(), one.begin(), one.end());
    ASSERT_EQ(host.send_raw(all), all.size());
  }
  join(MERIDIAN_LINK_PCIE, "the next");
  EXPECT_EQ(card.writes, 1000U);
}

/// Writes that a client posts before it closes its socket, while the card's register bus takes a few at a time.
class PostedWrites : public LinkTest, public ::testing::WithParamInterface<unsigned> {
 protected:
  static Bytes posts(unsigned count) {
    auto write = make(MERIDIAN_LINK_BAR_WRITE);
    write.width = 4;
    Bytes all;
    for (unsigned i = 0; i < count; ++i) {
      write.value = i;
      const Bytes one = TestClient::message(write);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
};

TEST_P(PostedWrites, AreCarriedOutAfterThePsHasLeft) {
  card.access_limit = 64;
  {
    TestClient ps = join(MERIDIAN_LINK_AXI);
    ASSERT_EQ(ps.send_raw(posts(GetParam())), GetParam() * sizeof(meridian_link_header));
  }
  for (unsigned turn = 0; turn < 100 && server->has_ps(); ++turn) {
    settle();
    EXPECT_LE(card.ps_writes, card.access_limit);
    card.access_limit += 64;
  }
  EXPECT_FALSE(server->has_ps());
  EXPECT_EQ(card.ps_writes, GetParam());
  EXPECT_EQ((card.registers[{999U, 0U, 0U}]), GetParam() - 1);
}

TEST_P(PostedWrites, AreCarriedOutThoughTheCardCannotAnswer) {
  card.access_limit = 10;
  {
    TestClient host = join(MERIDIAN_LINK_PCIE);
    enable(host, 0);
    auto read = make(MERIDIAN_LINK_BAR_READ, 8);
    read.width = 4;
    host.send(read);
    ASSERT_EQ(host.send_raw(posts(GetParam())), GetParam() * sizeof(meridian_link_header));
  }
  ReadResult result;
  server->poll(0);
  server->host().read(0, 0x1000, 4, result.done());  // of a host that has left
  for (unsigned turn = 0; turn < 300 && server->has_host(); ++turn) {
    settle();
    card.access_limit += 10;
  }
  EXPECT_EQ(result.calls, 1U);
  EXPECT_EQ(result.status, MemoryBus::Status::unsupported);
  EXPECT_EQ(card.writes, GetParam());
  EXPECT_EQ(card.host_resets, 1U);
  EXPECT_EQ(server->statistics().timeouts, 0U);
}

INSTANTIATE_TEST_SUITE_P(Counts, PostedWrites, ::testing::Values(100, 300, 2000));

TEST_F(Link, AdvancesTimeForWhoHasTheCommand) {
  TestClient host = join(MERIDIAN_LINK_PCIE, "stepper", MERIDIAN_LINK_LOCKSTEP);
  EXPECT_TRUE(card.lockstep);
  auto advance = make(MERIDIAN_LINK_ADVANCE, 4);
  advance.value = 5000;
  host.send(advance);
  EXPECT_EQ(next(host).header.value, 5000U);
  // Time would begin again with what has no room in it.
  advance.value = ~std::uint64_t{0} - 1000;
  host.send(advance);
  const Reply endless = next(host);
  EXPECT_EQ(endless.header.status, MERIDIAN_LINK_INVALID);
  EXPECT_EQ(endless.text(), "ADVANCE by 18446744073709550615 ps; 1000000000000000000 ps are the most at once");
  EXPECT_EQ(card.time_ps, 5000U);
  TestClient ps = connect();
  auto hello = make_hello(MERIDIAN_LINK_AXI);
  hello.flags = MERIDIAN_LINK_LOCKSTEP;
  ps.send(make(MERIDIAN_LINK_HELLO), bytes_of(hello));
  EXPECT_EQ(error(ps), "stepper has the command over time already");
  host.socket.reset();
  settle();
  EXPECT_FALSE(card.lockstep);
}

TEST_F(Link, RefusesTheSecondOfARole) {
  TestClient host = join(MERIDIAN_LINK_PCIE, "qemu-host");
  TestClient second = connect();
  second.send(make(MERIDIAN_LINK_HELLO), bytes_of(make_hello(MERIDIAN_LINK_PCIE)));
  EXPECT_EQ(error(second), "the host is played by qemu-host already");
  EXPECT_EQ(server->statistics().refused, 1U);
  enable(host, 0);
}

TEST_F(Link, RefusesWhatIsNoneOrAnotherVersion) {
  auto hello = make_hello(MERIDIAN_LINK_PCIE);
  hello.version = 7;
  TestClient newer = connect();
  newer.send(make(MERIDIAN_LINK_HELLO), bytes_of(hello));
  EXPECT_EQ(error(newer), "the client speaks version 7 of the link, the card speaks versions 1 to 3");
  hello.magic = 1;
  TestClient stranger = connect();
  stranger.send(make(MERIDIAN_LINK_HELLO), bytes_of(hello));
  EXPECT_EQ(error(stranger), "this is a Meridian card's link, and the HELLO is of something else");
  TestClient third = connect();
  hello = make_hello(MERIDIAN_LINK_PCIE);
  hello.role = 9;
  third.send(make(MERIDIAN_LINK_HELLO), bytes_of(hello));
  EXPECT_EQ(error(third), "there is no role 9");
  EXPECT_EQ(server->statistics().refused, 3U);
}

TEST_F(Link, ReplacesTheSocketOfACardThatIsGoneOnly) {
  EXPECT_THROW(LinkServer(folder / "card", card), InputError);
  std::ofstream(folder / "file") << "x";
  EXPECT_THROW(LinkServer(folder / "file", card), InputError);
  EXPECT_THROW(LinkServer(folder / std::string(200, 'x'), card), InputError);
  {
    const Descriptor left(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (folder / "old").c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(::bind(left.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  LinkServer(folder / "old", card);
  EXPECT_FALSE(std::filesystem::exists(folder / "old"));
}

}  // namespace
}  // namespace meridian
