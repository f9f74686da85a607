// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <thread>

#include "link_bench.hpp"

namespace meridian {
namespace {

class LinkMemory : public LinkTest {
 protected:
  static meridian_link_region place(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset = 0,
                                    unsigned function = MERIDIAN_LINK_ALL_FUNCTIONS) {
    meridian_link_region region{};
    region.address = address;
    region.bytes = bytes;
    region.offset = offset;
    region.function = static_cast<std::uint16_t>(function);
    region.writable = 1;
    return region;
  }

  Reply share(TestClient& client, const meridian_link_region& region, const Descriptor& file) {
    client.send(make(MERIDIAN_LINK_MEMORY, 2), bytes_of(region), {file.get()});
    return next(client);
  }

  static Bytes content(const Descriptor& file, std::uint64_t offset, std::size_t bytes) {
    Bytes got(bytes);
    EXPECT_EQ(::pread(file.get(), got.data(), bytes, static_cast<off_t>(offset)), static_cast<ssize_t>(bytes));
    return got;
  }

  /// Answers the read that the client is asked for next.
  void answer(TestClient& client, std::uint64_t bytes) {
    const Reply asked = next(client);
    ASSERT_EQ(asked.header.type, MERIDIAN_LINK_DMA_READ);
    ASSERT_EQ(asked.header.value, bytes);
    auto header = asked.header;
    header.type = MERIDIAN_LINK_DMA_READ | MERIDIAN_LINK_REPLY;
    client.send(header, Bytes(bytes, 0x77));
    settle();
  }
};

TEST_F(LinkMemory, IsReadAndWrittenInPlace) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  const Descriptor file = memory_file(0x10000);
  EXPECT_EQ(share(host, place(0x100000, 0x8000, 0x1234), file).header.status, MERIDIAN_LINK_OK);
  Bytes data(1000);
  std::iota(data.begin(), data.end(), std::uint8_t{1});
  server->host().write(0, 0x100010, data);
  EXPECT_EQ(content(file, 0x1244, 1000), data);
  server->host().write(0, 0x107ff8 - 4, Bytes(8, 9));  // the last bytes, aligned in the file
  EXPECT_EQ(content(file, 0x1234 + 0x7ff4, 8), Bytes(8, 9));
  ReadResult result;
  server->host().read(0, 0x100010, 1000, result.done());
  EXPECT_EQ(result.calls, 1U);
  EXPECT_EQ(result.data, data);
  EXPECT_EQ(server->statistics().shared_bytes, 2008U);
  EXPECT_EQ(server->statistics().message_bytes, 0U);
}

TEST_F(LinkMemory, BeyondItsEndGoesByMessages) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  const Descriptor file = memory_file(0x1000);
  share(host, place(0x1000, 0x1000), file);
  for (const std::uint64_t address : {std::uint64_t{0xffd}, std::uint64_t{0x1ffd}}) {
    server->host().write(0, address, Bytes(8, 1));
    const Reply written = next(host);
    EXPECT_EQ(written.header.type, MERIDIAN_LINK_DMA_WRITE);
    EXPECT_EQ(written.header.address, address);
  }
  EXPECT_EQ(content(file, 0, 0x1000), Bytes(0x1000));
  ReadResult result;
  server->host().read(0, ~std::uint64_t{0} - 3, 8, result.done());
  EXPECT_EQ(result.status, MemoryBus::Status::unsupported);
}

TEST_F(LinkMemory, OfAFunctionComesBeforeThatOfAll) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  enable(host, 6);
  const Descriptor all = memory_file(0x1000), own = memory_file(0x1000);
  EXPECT_EQ(share(host, place(0, 0x1000), all).header.status, MERIDIAN_LINK_OK);
  EXPECT_EQ(share(host, place(0, 0x1000, 0, 6), own).header.status, MERIDIAN_LINK_OK);
  server->host().write(0, 0, Bytes(8, 1));
  server->host().write(6, 0, Bytes(8, 2));
  EXPECT_EQ(content(all, 0, 8), Bytes(8, 1));
  EXPECT_EQ(content(own, 0, 8), Bytes(8, 2));
  auto forget = make(MERIDIAN_LINK_FORGET, 8);
  forget.function = 6;
  host.send(forget);
  EXPECT_EQ(next(host).header.status, MERIDIAN_LINK_OK);
  server->host().write(6, 8, Bytes(8, 3));
  EXPECT_EQ(content(all, 8, 8), Bytes(8, 3));
  host.send(forget);
  EXPECT_EQ(next(host).header.status, MERIDIAN_LINK_INVALID);
}

TEST_F(LinkMemory, KeepsTheOrderOfBothWays) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  enable(host, 1);
  const Descriptor file = memory_file(0x1000);
  share(host, place(0x1000, 0x1000), file);
  server->host().write(0, 0x9000, Bytes(64, 1));  // a payload elsewhere,
  server->host().write(0, 0x1000, Bytes(8, 2));   // then its completion
  server->host().write(1, 0x1008, Bytes(8, 3));   // another function has no part in it
  EXPECT_EQ(content(file, 0, 8), Bytes(8));
  EXPECT_EQ(content(file, 8, 8), Bytes(8, 3));
  EXPECT_EQ(next(host).header.address, 0x9000U);
  EXPECT_EQ(next(host).header.type, MERIDIAN_LINK_DMA_READ);  // the fence, which was behind the payload
  const Reply completion = next(host);
  EXPECT_EQ(completion.header.type, MERIDIAN_LINK_DMA_WRITE);
  EXPECT_EQ(completion.header.address, 0x1000U);
  EXPECT_FALSE(server->waits());  // nobody waits for a fence
}

/// A thread reads the word that tells and then the other one, which must not be older.
void expect_told_last(LinkServer& server, MemoryBus& bus, const Descriptor& file, std::size_t told) {
  void* const at = ::mmap(nullptr, 0x1000, PROT_READ, MAP_SHARED, file.get(), 0);
  ASSERT_NE(at, MAP_FAILED);
  const auto* words = static_cast<const std::uint64_t*>(at);
  std::atomic<bool> over = false;
  std::uint64_t older = 0;
  std::thread reader([&] {
    while (!over) {
      const std::uint64_t seen = __atomic_load_n(words + told, __ATOMIC_ACQUIRE);
      if (__atomic_load_n(words + (1 - told), __ATOMIC_ACQUIRE) < seen) ++older;
    }
  });
  for (std::uint64_t number = 1; number <= 3'000'000; ++number) {
    Bytes entry(16);
    std::memcpy(entry.data(), &number, 8);
    std::memcpy(entry.data() + 8, &number, 8);
    bus.write(0, 0x1000, entry);
  }
  over = true;
  reader.join();
  EXPECT_EQ(older, 0U);
  EXPECT_EQ(server.statistics().shared_bytes, 16 * 3'000'000U);
  ::munmap(at, 0x1000);
}

TEST_F(LinkMemory, TellsOfAnEntryOfTheDmaEngineInItsFirstWord) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  const Descriptor file = memory_file(0x1000);
  share(host, place(0x1000, 0x1000), file);
  expect_told_last(*server, server->host(), file, 0);
}

TEST_F(LinkMemory, TellsOfAnEntryOfThePsInItsLastWord) {
  TestClient ps = join(MERIDIAN_LINK_AXI);
  const Descriptor file = memory_file(0x1000);
  share(ps, place(0x1000, 0x1000), file);
  expect_told_last(*server, server->ps(), file, 1);
}

TEST_F(LinkMemory, IsUsedAgainWhenTheMessagesAreThrough) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  const Descriptor file = memory_file(0x1000);
  share(host, place(0x1000, 0x1000), file);
  server->host().write(0, 0x9000, Bytes(64, 1));
  EXPECT_EQ(next(host).header.address, 0x9000U);
  ReadResult result;
  server->host().read(0, 0x1000, 16, result.done());  // by message, behind the fence
  answer(host, 0);
  answer(host, 16);
  EXPECT_EQ(result.data, Bytes(16, 0x77));
  server->host().write(0, 0x1000, Bytes(8, 5));
  EXPECT_EQ(content(file, 0, 8), Bytes(8, 5));
}

TEST_F(LinkMemory, ThatIsNotWritableTakesNoWrites) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  const Descriptor file = memory_file(0x1000);
  auto region = place(0, 0x1000);
  region.writable = 0;
  EXPECT_EQ(share(host, region, file).header.status, MERIDIAN_LINK_OK);
  server->host().write(0, 0, Bytes(8, 1));
  EXPECT_EQ(next(host).header.type, MERIDIAN_LINK_DMA_WRITE);
  EXPECT_EQ(content(file, 0, 8), Bytes(8));
}

TEST_F(LinkMemory, ThatCannotServeIsRefusedInASentence) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  const Descriptor good = memory_file(0x2000);
  const auto refused = [&](const meridian_link_region& region, const Descriptor& file) {
    const Reply reply = share(host, region, file);
    EXPECT_EQ(reply.header.status, MERIDIAN_LINK_INVALID);
    return reply.text();
  };
  EXPECT_EQ(refused(place(0x40, 0x3000), good), "region at 0x40: 12288 bytes from 0x0 on, but the file has 8192");
  EXPECT_EQ(refused(place(0, 0x1000, ~std::uint64_t{0}), good),
            "region at 0x0: 4096 bytes from 0xffffffffffffffff on, but the file has 8192");
  EXPECT_EQ(refused(place(0, 0), good), "region at 0x0: it has no bytes");
  EXPECT_EQ(refused(place(~std::uint64_t{0}, 0x1000), good),
            "region at 0xffffffffffffffff: it goes beyond the end of the address space");
  EXPECT_EQ(refused(place(0, 0x1000), memory_file(0x2000, 0)),
            "region at 0x0: the file is not sealed against shrinking (memfd_create, F_SEAL_SHRINK)");
  EXPECT_EQ(refused(place(0, 0x1000), host.socket), "region at 0x0: the descriptor is no memory file");
  EXPECT_EQ(refused(place(0, 0x1000, 0, 300), good), "region at 0x0: there is no function 300");
  EXPECT_NE(refused(place(0, 0x1000), memory_file(0x2000, F_SEAL_SHRINK | F_SEAL_WRITE)).find("cannot be mapped"),
            std::string::npos);
  host.send(make(MERIDIAN_LINK_MEMORY), bytes_of(place(0, 0x1000)));
  EXPECT_EQ(next(host).text(), "region at 0x0: no file descriptor came with it");
  EXPECT_EQ(share(host, place(0x1000, 0x1000), good).header.status, MERIDIAN_LINK_OK);
  EXPECT_EQ(refused(place(0x1fff, 0x10), good), "region at 0x1fff: it overlaps the one at 0x1000");
  EXPECT_EQ(refused(place(0xfff, 0x1001), good), "region at 0xfff: it overlaps the one at 0x1000");
  for (unsigned i = 1; i < MERIDIAN_LINK_MAX_REGIONS; ++i)
    EXPECT_EQ(share(host, place(0x100000ULL * i, 0x1000), good).header.status, MERIDIAN_LINK_OK);
  EXPECT_EQ(refused(place(0, 0x1000), good), "region at 0x0: there are 16 already, more cannot be");
}

TEST_F(LinkMemory, CannotShrinkUnderTheCard) {
  TestClient host = join(MERIDIAN_LINK_PCIE);
  enable(host, 0);
  const Descriptor file = memory_file(0x2000);
  share(host, place(0, 0x2000), file);
  EXPECT_NE(::ftruncate(file.get(), 0), 0);
  server->host().write(0, 0x1ff8, Bytes(8, 4));
  EXPECT_EQ(content(file, 0x1ff8, 8), Bytes(8, 4));
}

TEST_F(LinkMemory, GoesWithItsClient) {
  const Descriptor file = memory_file(0x1000);
  {
    TestClient host = join(MERIDIAN_LINK_PCIE);
    enable(host, 0);
    share(host, place(0, 0x1000), file);
  }
  settle();
  TestClient second = join(MERIDIAN_LINK_PCIE);
  enable(second, 0);
  server->host().write(0, 0, Bytes(8, 1));
  EXPECT_EQ(next(second).header.type, MERIDIAN_LINK_DMA_WRITE);
  EXPECT_EQ(content(file, 0, 8), Bytes(8));
}

}  // namespace
}  // namespace meridian
