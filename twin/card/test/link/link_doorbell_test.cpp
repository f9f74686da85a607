// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include "link_bench.hpp"

namespace meridian {
namespace {

/// A client's side of a page of doorbells, as meridian_link.h tells it to ring.
class Bells {
 public:
  explicit Bells(unsigned queues) : file(memory_file(bytes(queues))), bytes_(bytes(queues)) {
    void* mapping = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    EXPECT_NE(mapping, MAP_FAILED);
    head = static_cast<meridian_link_doorbells*>(mapping);
    queue = reinterpret_cast<meridian_link_queue_doorbells*>(head + 1);
  }
  ~Bells() { ::munmap(head, bytes_); }
  Bells(const Bells&) = delete;
  Bells& operator=(const Bells&) = delete;

  /// True if the card has to be woken.
  bool ring(unsigned number, unsigned which, std::uint32_t value) const {
    std::atomic_ref word(queue[number].word[which]);
    const std::uint64_t count = (word.load(std::memory_order_relaxed) >> 32) + 1;
    word.store(count << 32 | value, std::memory_order_release);
    std::atomic_ref(head->rung[number / 64]).fetch_or(std::uint64_t{1} << number % 64, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::atomic_ref asleep(head->asleep);
    return asleep.load(std::memory_order_relaxed) != 0 && asleep.exchange(0) == 1;
  }

  Descriptor file;
  meridian_link_doorbells* head;
  meridian_link_queue_doorbells* queue;

 private:
  static std::size_t bytes(unsigned queues) {
    return sizeof(meridian_link_doorbells) + queues * sizeof(meridian_link_queue_doorbells);
  }
  std::size_t bytes_;
};

class LinkDoorbells : public LinkTest {
 protected:
  using Rung = std::vector<std::array<unsigned, 3>>;

  static meridian_link_header place(unsigned function, std::uint64_t queues, std::uint64_t offset = 0) {
    auto header = make(MERIDIAN_LINK_DOORBELLS, 3);
    header.function = static_cast<std::uint16_t>(function);
    header.value = queues;
    header.address = offset;
    return header;
  }

  Reply share(TestClient& client, const meridian_link_header& header, const Descriptor& file) {
    client.send(header, {}, {file.get()});
    return next(client);
  }
};

TEST_F(LinkDoorbells, AreSeenWithoutAMessage) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  const Bells bells(100);
  EXPECT_EQ(share(host, place(5, 100), bells.file).header.status, MERIDIAN_LINK_OK);
  const auto messages = server->statistics().messages;
  EXPECT_FALSE(bells.ring(0, 1, 7));
  bells.ring(99, 3, 0xdeadbeef);
  bells.ring(70, 2, 8);
  server->poll(0);
  EXPECT_EQ(card.rung, (Rung{{5, 1, 7}, {5, 282, 8}, {5, 399, 0xdeadbeef}}));
  server->poll(0);
  EXPECT_EQ(card.rung.size(), 3U);
  EXPECT_EQ(server->statistics().messages, messages);
  EXPECT_EQ(server->statistics().doorbells, 3U);
}

TEST_F(LinkDoorbells, TheLastValueCountsAndTheSameAgainIsSeenAgain) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  const Bells bells(1);
  share(host, place(0, 1), bells.file);
  bells.ring(0, 3, 1);
  bells.ring(0, 3, 2);
  server->poll(0);
  EXPECT_EQ(card.rung, (Rung{{0, 3, 2}}));
  bells.ring(0, 3, 2);
  server->poll(0);
  EXPECT_EQ(card.rung, (Rung{{0, 3, 2}, {0, 3, 2}}));
}

TEST_F(LinkDoorbells, GoBeforeTheMessagesSentBehindThem) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  const Bells bells(4);
  share(host, place(0, 4), bells.file);
  bells.ring(1, 1, 9);
  auto reset = make(MERIDIAN_LINK_RESET_FUNCTION, 6);
  host.send(reset);
  std::size_t at_reset = 0;
  card.on_reset = [&] { at_reset = card.rung.size(); };
  EXPECT_EQ(next(host).header.status, MERIDIAN_LINK_OK);
  EXPECT_EQ(at_reset, 1U);
}

TEST_F(LinkDoorbells, ThatCannotServeAreRefusedInASentence) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  const Bells good(64);
  const auto refused = [&](const meridian_link_header& header, const Descriptor& file) {
    const Reply reply = share(host, header, file);
    EXPECT_EQ(reply.header.status, MERIDIAN_LINK_INVALID);
    return reply.text();
  };
  EXPECT_EQ(refused(place(2, 65), good.file), "doorbells of function 2: 2400 bytes from 0x0 on, but the file has 2368");
  EXPECT_EQ(refused(place(2, 2049), good.file), "doorbells of function 2: of 1 to 2048 queues, not of 2049");
  EXPECT_EQ(refused(place(2, ~std::uint64_t{0}), good.file),
            "doorbells of function 2: of 1 to 2048 queues, not of 18446744073709551615");
  EXPECT_EQ(refused(place(2, 0), good.file), "doorbells of function 2: of 1 to 2048 queues, not of 0");
  EXPECT_EQ(refused(place(2, 1, 8), good.file),
            "doorbells of function 2: they stand at a multiple of 64 in their file");
  EXPECT_EQ(refused(place(2, 1, ~std::uint64_t{63}), good.file),
            "doorbells of function 2: 352 bytes from 0xffffffffffffffc0 on, but the file has 2368");
  EXPECT_EQ(refused(place(2, 64), memory_file(4096, 0)),
            "doorbells of function 2: the file is not sealed against shrinking (memfd_create, F_SEAL_SHRINK)");
  EXPECT_EQ(refused(place(2, 64), host.socket), "doorbells of function 2: the descriptor is no memory file");
  EXPECT_EQ(refused(place(256, 1), good.file), "functions are 0 to 255");
  EXPECT_EQ(share(host, place(2, 64), good.file).header.status, MERIDIAN_LINK_OK);
  EXPECT_EQ(refused(place(2, 64), good.file), "doorbells of function 2: it has some already");
  host.send(place(3, 1));
  EXPECT_EQ(next(host).text(), "doorbells of function 3: no file descriptor came with it");
}

TEST_F(LinkDoorbells, AreTakenBackAndGoWithTheirClient) {
  const Bells bells(4);
  {
    TestClient host = join(MERIDIAN_LINK_PCIE);
    share(host, place(0, 4), bells.file);
    bells.ring(0, 0, 1);
    host.send(place(0, 0));
    EXPECT_EQ(next(host).header.status, MERIDIAN_LINK_OK);
    EXPECT_EQ(card.rung.size(), 1U);
    host.send(place(0, 0));
    EXPECT_EQ(next(host).text(), "doorbells of function 0: it has none");
    share(host, place(0, 4), bells.file);
  }
  settle();
  card.rung.clear();
  bells.ring(0, 0, 2);
  settle();
  EXPECT_TRUE(card.rung.empty());
  TestClient second = join(MERIDIAN_LINK_PCIE);
  EXPECT_EQ(share(second, place(0, 4), bells.file).header.status, MERIDIAN_LINK_OK);
}

TEST_F(LinkDoorbells, AreNotOfVersion1NorOfThePs) {
  TestClient old = connect();
  auto hello = make_hello(MERIDIAN_LINK_PCIE);
  hello.version = 1;
  old.send(make(MERIDIAN_LINK_HELLO, 1), bytes_of(hello));
  meridian_link_welcome welcome{};
  const Reply reply = next(old);
  ASSERT_EQ(reply.payload.size(), sizeof(welcome));
  std::memcpy(&welcome, reply.payload.data(), sizeof(welcome));
  EXPECT_EQ(welcome.version, 1U);
  enable(old, 0);
  old.send(place(0, 4));
  EXPECT_EQ(error(old), "a client does not send messages of type 15 in version 1");
  TestClient ps = join(MERIDIAN_LINK_AXI);
  const Bells bells(1);
  EXPECT_EQ(share(ps, place(0, 1), bells.file).text(), "only the host has functions");
  ps.send(make(MERIDIAN_LINK_WAKE));
  EXPECT_EQ(error(ps), "only the host has functions");
}

TEST_F(LinkDoorbells, WakeACardThatSleeps) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  const Bells bells(1);
  share(host, place(0, 1), bells.file);
  bells.ring(0, 1, 1);
  const auto start = std::chrono::steady_clock::now();
  server->poll(2000);  // there are news: it does not sleep
  EXPECT_EQ(card.rung.size(), 1U);
  std::thread other([&] {
    while (std::atomic_ref(bells.head->asleep).load() == 0) std::this_thread::yield();
    if (bells.ring(0, 1, 2)) host.send(make(MERIDIAN_LINK_WAKE));
  });
  server->poll(2000);
  other.join();
  EXPECT_EQ(card.rung.size(), 2U);
  EXPECT_EQ(bells.head->asleep, 0U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1500));
}

/// The card sleeps as often as it can, a thread rings and waits for each to be seen: one that is lost ends the test.
TEST_F(LinkDoorbells, NoneIsLostBetweenSleepAndWake) {
  constexpr unsigned turns = 20000;
  TestClient host = join(MERIDIAN_LINK_PCIE);
  const Bells bells(2);
  share(host, place(0, 2), bells.file);
  std::atomic<unsigned> seen = 0;
  std::atomic<bool> failed = false;
  unsigned wakes = 0;
  std::thread other([&] {
    for (unsigned i = 1; i <= turns && !failed; ++i) {
      if (bells.ring(i % 2, 1, i)) {
        host.send(make(MERIDIAN_LINK_WAKE));
        ++wakes;
      }
      const auto limit = std::chrono::steady_clock::now() + bound;
      while (seen != i && !failed) failed = failed || std::chrono::steady_clock::now() > limit;
    }
  });
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (seen != turns && !failed && std::chrono::steady_clock::now() < limit) {
    const auto from = std::chrono::steady_clock::now();
    server->poll(1000);
    // Whatever else, a sleep that runs its full time has slept through a doorbell.
    failed = failed || std::chrono::steady_clock::now() - from > std::chrono::milliseconds(900);
    if (!card.rung.empty()) seen = card.rung.back()[2];
  }
  const bool lost = failed.exchange(true);
  other.join();
  EXPECT_FALSE(lost);
  EXPECT_EQ(seen, turns);
  EXPECT_GT(wakes, 0U);
  EXPECT_EQ(server->statistics().doorbells, turns);
}

TEST_F(LinkDoorbells, ScribblingCostsOnlyWhoScribbles) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  TestClient ps = join(MERIDIAN_LINK_AXI);
  const Bells bells(70);
  share(host, place(0, 70), bells.file);
  for (unsigned turn = 0; turn < 50; ++turn) {
    std::memset(static_cast<void*>(bells.head), static_cast<int>(turn * 37 + 1), 320 + 70 * 32);
    server->poll(0);
  }
  for (const auto& one : card.rung) EXPECT_LT(one[1], 4 * 70U);
  EXPECT_NE(::ftruncate(bells.file.get(), 0), 0);
  auto read = make(MERIDIAN_LINK_BAR_READ);
  read.width = 4;
  ps.send(read);
  EXPECT_EQ(next(ps).header.status, MERIDIAN_LINK_OK);
}

}  // namespace
}  // namespace meridian
