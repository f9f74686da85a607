// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <pcap/pcap.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include "base/random.hpp"
#include "wire/capture/capture_end.hpp"
#include "wire/capture/pcap_file.hpp"
#include "wire/capture/replay_end.hpp"
#include "wire_bench.hpp"

namespace meridian {
namespace {

/// A reader of pcapng of its own, by the specification.
struct Block {
  std::uint32_t type = 0;
  Bytes body;
  std::map<unsigned, Bytes> options;
};

template <typename Number>
Number number_at(const Bytes& bytes, std::size_t offset) {
  Number number{};
  EXPECT_LE(offset + sizeof number, bytes.size());
  if (offset + sizeof number <= bytes.size()) std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

std::vector<Block> blocks_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const Bytes bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<Block> blocks;
  for (std::size_t at = 0; at < bytes.size();) {
    Block block;
    block.type = number_at<std::uint32_t>(bytes, at);
    const auto length = number_at<std::uint32_t>(bytes, at + 4);
    EXPECT_EQ(length % 4, 0U);
    if (length < 12 || at + length > bytes.size()) {
      ADD_FAILURE() << "a block of " << length << " bytes at " << at;
      break;
    }
    EXPECT_EQ(number_at<std::uint32_t>(bytes, at + length - 4), length);
    block.body.assign(bytes.begin() + static_cast<long>(at) + 8, bytes.begin() + static_cast<long>(at + length) - 4);
    std::size_t option = block.type == 1 ? 8 : 16;  // behind the fixed part
    if (block.type == 6) option = 20 + (number_at<std::uint32_t>(block.body, 12) + 3) / 4 * 4;
    while (option + 4 <= block.body.size()) {
      const auto code = number_at<std::uint16_t>(block.body, option);
      const auto size = number_at<std::uint16_t>(block.body, option + 2);
      if (code == 0) break;
      const auto* value = block.body.data() + option + 4;
      block.options[code] = Bytes(value, value + size);
      option += 4 + (size + 3U) / 4 * 4;
    }
    blocks.push_back(std::move(block));
    at += length;
  }
  return blocks;
}

TEST(CaptureFile, WritesBlocksOfTheSpecification) {
  TestFile file(".pcapng");
  {
    CaptureFile capture(file.path(), {{"wire0", 25'000'000'000}, {"host", 0}}, 1'700'000'000'000'000'000);
    capture.write(0, 2'000'999, Bytes(61, 'a'), CaptureDirection::inbound);
    capture.write(1, 1'000'000, Bytes(60, 'b'), CaptureDirection::outbound, true);
    capture.write(0, 3'000'000, Bytes(64, 'c'));
    EXPECT_EQ(capture.frames(), 3U);
    EXPECT_THROW(capture.write(2, 0, Bytes(60, 'd')), InputError);
  }
  const auto blocks = blocks_of(file.path());
  ASSERT_EQ(blocks.size(), 6U);
  EXPECT_EQ(blocks[0].type, 0x0a0d0d0aU);
  EXPECT_EQ(number_at<std::uint32_t>(blocks[0].body, 0), 0x1a2b3c4dU);
  for (const unsigned i : {1U, 2U}) {
    EXPECT_EQ(blocks[i].type, 1U);
    EXPECT_EQ(number_at<std::uint16_t>(blocks[i].body, 0), 1U);
    EXPECT_EQ(blocks[i].options.at(9), Bytes{9});
  }
  EXPECT_EQ(blocks[1].options.at(2), (Bytes{'w', 'i', 'r', 'e', '0'}));
  EXPECT_EQ(number_at<std::uint64_t>(blocks[1].options.at(8), 0), 25'000'000'000U);
  EXPECT_EQ(blocks[2].options.count(8), 0U);
  struct Expected {
    std::uint32_t interface;
    std::uint64_t ns;
    std::uint32_t length;
    std::uint32_t flags;
  };
  const Expected expected[] = {{1, 1000, 60, 2 | 1U << 24}, {0, 2000, 61, 1}, {0, 3000, 64, 0}};  // sorted by time
  for (unsigned i = 0; i < 3; ++i) {
    const Block& block = blocks[3 + i];
    EXPECT_EQ(block.type, 6U);
    EXPECT_EQ(number_at<std::uint32_t>(block.body, 0), expected[i].interface);
    const std::uint64_t high = number_at<std::uint32_t>(block.body, 4);
    EXPECT_EQ(high << 32 | number_at<std::uint32_t>(block.body, 8), 1'700'000'000'000'000'000 + expected[i].ns);
    EXPECT_EQ(number_at<std::uint32_t>(block.body, 12), expected[i].length);
    EXPECT_EQ(number_at<std::uint32_t>(block.body, 16), expected[i].length);
    EXPECT_EQ(number_at<std::uint32_t>(block.options.at(2), 0), expected[i].flags);
  }
}

TEST(CaptureFile, IsReadByLibpcap) {
  TestFile file(".pcapng");
  {
    CaptureFile capture(file.path(), {{"wire0", 10'000'000'000}, {"ps0", 0}});
    for (unsigned i = 0; i < 200; ++i)
      capture.write(i % 2, i * 1'234'567'000ULL, Bytes(60 + i, static_cast<std::uint8_t>(i)));
  }
  char error[PCAP_ERRBUF_SIZE] = "";
  pcap_t* reader = pcap_open_offline_with_tstamp_precision(file.path().c_str(), PCAP_TSTAMP_PRECISION_NANO, error);
  ASSERT_NE(reader, nullptr) << error;
  EXPECT_EQ(pcap_datalink(reader), DLT_EN10MB);
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  for (unsigned i = 0; i < 200; ++i) {
    ASSERT_EQ(pcap_next_ex(reader, &header, &data), 1) << pcap_geterr(reader);
    EXPECT_EQ(header->len, 60 + i);
    EXPECT_EQ(
        static_cast<std::uint64_t>(header->ts.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(header->ts.tv_usec),
        i * 1'234'567ULL);
    EXPECT_EQ(data[header->len - 1], static_cast<std::uint8_t>(i));
  }
  EXPECT_EQ(pcap_next_ex(reader, &header, &data), PCAP_ERROR_BREAK);
  pcap_close(reader);
}

TEST(CaptureFile, TellsWhenItCannotBeWritten) {
  EXPECT_NE(input_error_of([] { CaptureFile("/nowhere/x.pcapng", {{"wire0"}}); }).find("/nowhere/x.pcapng"),
            std::string::npos);
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_FALSE(input_error_of([] { CaptureFile("/dev/full", {{"wire0"}}); }).empty());
  }
}

/// A capture to replay: frames of the given lengths, a time in ns for each.
void record(const std::string& path, const std::vector<std::pair<std::size_t, std::uint64_t>>& frames) {
  std::ofstream file(path, std::ios::binary);
  const auto put = [&](std::uint32_t word) { file.write(reinterpret_cast<const char*>(&word), sizeof word); };
  for (const std::uint32_t word : {0xa1b23c4dU, 0x00040002U, 0U, 0U, 65535U, 1U}) put(word);  // nanoseconds, Ethernet
  for (const auto& [length, ns] : frames) {
    for (const std::uint64_t word : {ns / 1'000'000'000, ns % 1'000'000'000, length, length})
      put(static_cast<std::uint32_t>(word));
    const Bytes bytes(length, static_cast<std::uint8_t>(length));
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(length));
  }
}

TEST(ReplayEnd, KeepsRecordedTimes) {
  TestFile file(".pcap");
  const std::uint64_t epoch = 1'700'000'000'000'000'000;
  record(file.path(), {{60, epoch}, {64, epoch + 5'000}, {70, epoch + 4'000}, {80, epoch + 2'000'000'000}});
  for (const double speed : {1.0, 4.0}) {
    ReplayEnd end({.file = file.path(), .recorded_times = true, .speed = speed, .start_ps = 7'000'000}, {});
    WireBench bench(end);
    bench.run_until(3'000'000'000'000);
    const auto frames = bench.take();
    ASSERT_EQ(frames.size(), 4U);
    const auto since_start = [&](unsigned i) { return frames[i].sfd_ps - 7'000'000 - 8 * 320; };
    EXPECT_EQ(since_start(0), 0U);
    EXPECT_EQ(since_start(1), static_cast<std::uint64_t>(5'000'000 / speed));
    EXPECT_EQ(since_start(2), static_cast<std::uint64_t>(5'000'000 / speed) + wire::cost(64) * 320);
    EXPECT_EQ(since_start(3), static_cast<std::uint64_t>(2'000'000'000'000 / speed));
    EXPECT_TRUE(end.done());
  }
}

TEST(ReplayEnd, CountsWhatItLeavesOut) {
  TestFile file(".pcap");
  record(file.path(), {{60, 1'000}, {64, 2'000}, {70, 3'000}});
  std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) - 1);
  ReplayEnd end({.file = file.path(), .loops = 2}, {});
  WireBench bench(end);
  bench.run_until(10'000'000);
  EXPECT_EQ(bench.take().size(), 4U);
  EXPECT_TRUE(end.statistics().broken_off);
  EXPECT_EQ(end.statistics().left_out, 0U);
}

TEST(ReplayEnd, GoesOnWhenTimesGoBackwards) {
  TestFile file(".pcap");
  record(file.path(), {{60, 5'000'000'000}, {64, 1'000}, {70, 4'000'000'000}, {80, 5'000'001'000}});
  ReplayEnd end({.file = file.path(), .recorded_times = true, .loops = 2}, {});
  WireBench bench(end);
  bench.run_until(20'000'000);
  EXPECT_EQ(bench.take().size(), 8U);
  EXPECT_TRUE(end.done());
}

TEST(ReplayEnd, LoopsAtTheRecordedPace) {
  TestFile file(".pcap");
  record(file.path(), {{60, 1'000}, {60, 2'000}, {60, 3'000}});
  ReplayEnd end({.file = file.path(), .recorded_times = true, .loops = 3}, {});
  WireBench bench(end);
  bench.run_until(20'000'000);
  const auto frames = bench.take();
  ASSERT_EQ(frames.size(), 9U);
  for (unsigned i = 0; i < 9; ++i) EXPECT_EQ(frames[i].sfd_ps, i * 1'000'000 + 2560U);
  EXPECT_EQ(end.statistics().loops, 3U);
}

TEST(ReplayEnd, FillsTheWireBackToBackAndPads) {
  for (const unsigned gbps : {10U, 25U}) {
    TestFile file(".pcap");
    record(file.path(), {{14, 0}, {1514, 5'000'000'000}, {61, 5'000'000'001}});
    const WireSetting wire{.gbps = gbps};
    ReplayEnd end({.file = file.path(), .loops = 100}, wire);
    WireBench bench(end, wire);
    bench.run_until(1'000'000'000);
    const auto frames = bench.take();
    ASSERT_EQ(frames.size(), 300U);
    EXPECT_EQ(frames[0].bytes.size(), 60U);
    const std::uint64_t loop_ps = wire.frame_ps(60) + wire.frame_ps(1514) + wire.frame_ps(61);
    EXPECT_EQ(frames[297].sfd_ps - frames[0].sfd_ps, 99 * loop_ps);
    EXPECT_TRUE(end.done());
  }
}

TEST(ReplayEnd, ForEverIsForEver) {
  TestFile file(".pcap");
  record(file.path(), {{60, 0}});
  ReplayEnd end({.file = file.path(), .loops = 0, .pad = false}, {});
  WireBench bench(end);
  bench.run_until(1'000'000'000);
  EXPECT_FALSE(end.done());
  EXPECT_NEAR(static_cast<double>(bench.take().size()), 1e9 / (84 * 320), 1.0);
}

TEST(ReplayEnd, RefusesWhatItCannotReplay) {
  TestFile file(".pcap");
  record(file.path(), {});
  EXPECT_NE(input_error_of([&] { ReplayEnd({.file = file.path()}, {}); }).find("holds no frame"), std::string::npos);
  record(file.path(), {{60, 0}});
  EXPECT_FALSE(input_error_of([&] { ReplayEnd({.file = file.path(), .speed = 0}, {}); }).empty());
  EXPECT_FALSE(input_error_of([&] { ReplayEnd({.file = "/nowhere"}, {}); }).empty());
}

TEST(CaptureEnd, KeepsBothDirectionsAndCanBeReplayed) {
  TestFile source(".pcap");
  TestFile file(".pcapng");
  record(source.path(), {{60, 0}, {61, 10'000}, {62, 20'000}});
  {
    auto capture = std::make_shared<CaptureFile>(file.path(), std::vector<CaptureInterface>{{"wire0", 0}});
    CaptureEnd end(
        std::make_unique<ReplayEnd>(ReplaySetting{.file = source.path(), .recorded_times = true}, WireSetting{}),
        capture, 0);
    WireBench bench(end);
    bench.run_until(15'000'000);
    bench.send(Bytes(99, 'x'));
    bench.run_until(40'000'000);
    EXPECT_TRUE(end.done());
    EXPECT_EQ(capture->frames(), 4U);
  }
  PcapReader reader(file.path());
  std::vector<std::pair<std::size_t, std::uint64_t>> frames;
  while (const auto bytes = reader.next()) frames.emplace_back(bytes->size(), reader.time_ns());
  const decltype(frames) expected = {{60, 2}, {61, 10'002}, {99, 15'000}, {62, 20'002}};
  EXPECT_EQ(frames, expected);
}

TEST(CaptureFuzz, WhateverTheFileTheReaderEndsWithAnInputErrorOrFrames) {
  TestFile good(".pcapng");
  {
    CaptureFile capture(good.path(), {{"wire0", 1}});
    for (unsigned i = 0; i < 5; ++i) capture.write(0, i * 1000, Bytes(60 + i, 'f'));
  }
  std::ifstream file(good.path(), std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  TestFile bad(".fuzz");
  Random random(11);
  for (int round = 0; round < 500; ++round) {
    std::string bytes = content;
    for (unsigned i = 0; i <= random.below(6); ++i)
      bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] = static_cast<char>(random.next());
    if (random.percent(30)) bytes.resize(random.below(static_cast<std::uint32_t>(bytes.size())));
    std::ofstream(bad.path(), std::ios::binary) << bytes;
    try {
      ReplayEnd end({.file = bad.path()}, {});
      WireBench bench(end);
      bench.run_until(10'000'000);
      EXPECT_LE(bench.take().size(), 5U);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(bad.path()), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace meridian
