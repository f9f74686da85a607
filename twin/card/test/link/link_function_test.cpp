// SPDX-License-Identifier: Apache-2.0
// Clients that play one function of the host.
#include "link_bench.hpp"

namespace meridian {
namespace {

class LinkFunction : public LinkTest {
 protected:
  static meridian_link_hello hello_of(unsigned function, const std::string& name = "function") {
    auto hello = make_hello(MERIDIAN_LINK_PCIE_FUNCTION, name);
    hello.function = function;
    return hello;
  }

  TestClient play(unsigned function, const std::string& name = "function") {
    TestClient client = connect();
    client.send(make(MERIDIAN_LINK_HELLO, 1), bytes_of(hello_of(function, name)));
    EXPECT_EQ(next(client).header.status, MERIDIAN_LINK_OK);
    return client;
  }

  Reply state(TestClient& client, unsigned function) {
    auto header = make(MERIDIAN_LINK_FUNCTION_STATE, 9);
    header.function = static_cast<std::uint16_t>(function);
    client.send(header);
    return next(client);
  }

  std::string refused(const meridian_link_hello& hello) {
    TestClient client = connect();
    client.send(make(MERIDIAN_LINK_HELLO, 1), bytes_of(hello));
    return error(client);
  }
};

TEST_F(LinkFunction, HasDmaAndInterruptsOfItsOwnBesideTheHost) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  TestClient one = play(4), other = play(0);
  enable(host, 1);
  enable(one, 4);
  enable(other, 0);
  for (const unsigned function : {4U, 1U, 0U}) {
    TestClient& client = function == 4 ? one : function == 1 ? host : other;
    server->host().write(function, 0x1000, Bytes(8, static_cast<std::uint8_t>(function)));
    server->host().interrupt(function, 3);
    const Reply written = next(client);
    EXPECT_EQ(written.header.function, function);
    EXPECT_EQ(written.payload, Bytes(8, static_cast<std::uint8_t>(function)));
    EXPECT_EQ(next(client).header.type, MERIDIAN_LINK_MSIX);
  }
  EXPECT_FALSE(host.take() || one.take() || other.take());
}

TEST_F(LinkFunction, IsNotAnothersBeforeItsResetHasEnded) {
  card.hold_resets = true;
  {
    const TestClient first = play(4);
  }
  TestClient second = connect();
  second.send(make(MERIDIAN_LINK_HELLO, 1), bytes_of(hello_of(4)));
  settle(10);
  ASSERT_EQ(card.held_resets.size(), 1U);
  EXPECT_FALSE(second.take());
  card.held_resets[0](MERIDIAN_LINK_OK);
  EXPECT_EQ(next(second).header.status, MERIDIAN_LINK_OK);
}

TEST_F(LinkFunction, ReachesNoOther) {
  TestClient one = play(4);
  const auto refuses = [&](meridian_link_type type, unsigned function, const Bytes& payload = {}) {
    auto header = make(type, 5);
    header.width = 4;
    header.function = static_cast<std::uint16_t>(function);
    one.send(header, payload);
    const Reply reply = next(one);
    EXPECT_EQ(reply.header.status, MERIDIAN_LINK_INVALID) << type;
    return reply.text();
  };
  const std::string sentence = "the client plays one function alone";
  EXPECT_EQ(refuses(MERIDIAN_LINK_BAR_READ, 0), sentence);
  EXPECT_EQ(refuses(MERIDIAN_LINK_FUNCTION, 5), sentence);
  EXPECT_EQ(refuses(MERIDIAN_LINK_RESET_FUNCTION, 0), sentence);
  EXPECT_EQ(refuses(MERIDIAN_LINK_DOORBELLS, 5), sentence);
  meridian_link_region region{};
  region.bytes = 4096;
  region.function = 5;
  EXPECT_EQ(refuses(MERIDIAN_LINK_MEMORY, 4, bytes_of(region)), sentence);
  EXPECT_EQ(refuses(MERIDIAN_LINK_RESET, 4), "the slot is reset by the whole host only");
  auto write = make(MERIDIAN_LINK_BAR_WRITE);
  write.width = 4;
  one.send(write);
  EXPECT_EQ(error(one), sentence);
}

TEST_F(LinkFunction, HasThePfThatTheCardWasMadeWith) {
  card.parents = {{5, 1}};
  TestClient host = join(MERIDIAN_LINK_PCIE);
  auto header = make(MERIDIAN_LINK_FUNCTION, 5);
  header.function = 5;
  header.value = 1;
  host.send(header);
  const Reply refused = next(host);
  EXPECT_EQ(refused.header.status, MERIDIAN_LINK_INVALID);
  EXPECT_EQ(refused.text(), "FUNCTION: function 5 is a VF of PF 1 in this card, not of PF 0");
  EXPECT_TRUE(card.log.empty());
  header.bar = 1;
  host.send(header);
  EXPECT_EQ(next(host).header.status, MERIDIAN_LINK_OK);
  header.function = 6;  // is the host's choice
  host.send(header);
  EXPECT_EQ(next(host).header.status, MERIDIAN_LINK_OK);
  EXPECT_EQ(card.log, (std::vector<std::string>{"enable 5 1", "enable 6 1"}));
}

TEST_F(LinkFunction, IsPlayedByOneAtATime) {
  TestClient one = play(4, "first");
  EXPECT_EQ(refused(hello_of(4)), "function 4 is played by first already");
  EXPECT_EQ(refused(hello_of(256)), "functions are 0 to 255");
  auto old = hello_of(5);
  old.version = 1;
  EXPECT_EQ(refused(old), "there is no role 2");
  enable(one, 4);
}

TEST_F(LinkFunction, IsResetWhenItsClientLeavesAndNothingElse) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  {
    TestClient one = play(6);
    enable(one, 6, 1);
    const Descriptor file = memory_file(4096);
    auto bells = make(MERIDIAN_LINK_DOORBELLS, 3);
    bells.function = 6;
    bells.value = 1;
    one.send(bells, {}, {file.get()});
    EXPECT_EQ(next(one).header.status, MERIDIAN_LINK_OK);
    ReadResult result;
    server->host().read(6, 0, 8, result.done());
    EXPECT_EQ(next(one).header.type, MERIDIAN_LINK_DMA_READ);
    one.socket.reset();
    settle();
    EXPECT_EQ(result.calls, 1U);
    EXPECT_EQ(result.status, MemoryBus::Status::unsupported);
  }
  EXPECT_EQ(card.log, (std::vector<std::string>{"enable 6 1", "disable 6 1", "reset_function 6"}));
  EXPECT_EQ(card.host_resets, 0U);
  TestClient again = play(6);
  ReadResult result;
  server->host().read(6, 0, 8, result.done());
  EXPECT_EQ(result.status, MemoryBus::Status::unsupported);  // nobody has enabled it again
  enable(again, 6);
}

TEST_F(LinkFunction, GoesWithTheHost) {
  TestClient one = play(4);
  {
    TestClient host = join(MERIDIAN_LINK_PCIE);
    enable(host, 0);
  }
  EXPECT_EQ(error(one), "the host has left");
  EXPECT_EQ(card.host_resets, 1U);
  EXPECT_FALSE(server->has_host());
  play(4);
}

TEST_F(LinkFunction, LosesItsPermissionWithItsPf) {
  TestClient pf = play(1), vf = play(5);
  enable(pf, 1, 1);
  enable(vf, 5, 1);
  auto reset = make(MERIDIAN_LINK_RESET_FUNCTION, 3);
  reset.function = 1;
  pf.send(reset);
  EXPECT_EQ(next(pf).header.status, MERIDIAN_LINK_OK);
  server->host().write(5, 0, Bytes(8, 1));
  settle();
  EXPECT_FALSE(vf.take().has_value());
  enable(vf, 5, 1);
  pf.socket.reset();
  settle();
  server->host().write(5, 0, Bytes(8, 1));
  settle();
  EXPECT_FALSE(vf.take().has_value());
  enable(vf, 5, 1);
}

TEST_F(LinkFunction, KnowsWhetherItMayAccessMemory) {
  TestClient host = join(MERIDIAN_LINK_PCIE), pf = play(1), vf = play(5);
  const auto all_say = [&](unsigned value) {
    for (TestClient* client : {&host, &pf, &vf}) EXPECT_EQ(state(*client, 5).header.value, value);
  };
  enable(vf, 5, 1);
  all_say(1);
  auto reset = make(MERIDIAN_LINK_RESET_FUNCTION, 3);
  reset.function = 5;
  vf.send(reset);
  EXPECT_EQ(next(vf).header.status, MERIDIAN_LINK_OK);
  all_say(0);
  EXPECT_EQ(state(pf, 1).header.value, 0U);
  enable(pf, 1, 1);
  EXPECT_EQ(state(pf, 1).header.value, 1U);
  enable(vf, 5, 1);
  all_say(1);
  vf.socket.reset();
  settle();
  for (TestClient* client : {&host, &pf}) EXPECT_EQ(state(*client, 5).header.value, 0U);
}

TEST_F(LinkFunction, IsAVfOfThePfThatTheCardWasMadeWithBeforeItsHostSaysSo) {
  card.parents = {{5, 1}};
  TestClient pf = play(1), other = play(0);
  EXPECT_EQ(state(pf, 5).header.status, MERIDIAN_LINK_OK);
  EXPECT_EQ(state(other, 5).header.status, MERIDIAN_LINK_INVALID);
}

TEST_F(LinkFunction, AsksForNoneButItselfAndItsVfs) {
  TestClient pf = play(1), vf = play(5), other = play(0);
  enable(vf, 5, 1);
  const std::string sentence = "the client plays one function alone, and asks for that and for VFs of it";
  const auto refuses = [&](TestClient& client, unsigned function) {
    const Reply reply = state(client, function);
    EXPECT_EQ(reply.header.status, MERIDIAN_LINK_INVALID) << function;
    return reply.text();
  };
  EXPECT_EQ(refuses(pf, 0), sentence);
  EXPECT_EQ(refuses(pf, 4), sentence);
  EXPECT_EQ(refuses(other, 5), sentence);
  EXPECT_EQ(refuses(vf, 1), sentence);
  EXPECT_EQ(refuses(vf, 4), sentence);
  EXPECT_EQ(refuses(pf, 256), "functions are 0 to 255");
  TestClient ps = join(MERIDIAN_LINK_AXI);
  EXPECT_EQ(refuses(ps, 0), "only the host has functions");
  EXPECT_EQ(state(pf, 5).header.value, 1U);
}

TEST_F(LinkFunction, AsksForItsStateFromVersion3On) {
  TestClient old = connect();
  auto hello = hello_of(4);
  hello.version = 2;
  old.send(make(MERIDIAN_LINK_HELLO, 1), bytes_of(hello));
  EXPECT_EQ(next(old).header.status, MERIDIAN_LINK_OK);
  auto ask = make(MERIDIAN_LINK_FUNCTION_STATE, 2);
  ask.function = 4;
  old.send(ask);
  EXPECT_EQ(error(old), "a client does not send messages of type 17 in version 2");
}

}  // namespace
}  // namespace meridian
