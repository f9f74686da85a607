// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "wire/capture/pcap_file.hpp"

namespace meridian {
namespace {

/// A capture file of the given content, gone with the object.
class TemporaryFile {
 public:
  TemporaryFile() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() / (std::string("meridian_") + test->name() + ".pcap");
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  template <typename Word>
  void put(Word word) {
    content_.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  void header(std::uint32_t link_type, std::uint16_t major = 2) {
    put<std::uint32_t>(0xa1b2c3d4);
    put<std::uint16_t>(major);
    put<std::uint16_t>(4);
    put<std::uint32_t>(0);
    put<std::uint32_t>(0);
    put<std::uint32_t>(65535);
    put<std::uint32_t>(link_type);
  }
  void frame(std::uint32_t captured, std::uint32_t length, char fill) {
    put<std::uint32_t>(1);
    put<std::uint32_t>(2);
    put<std::uint32_t>(captured);
    put<std::uint32_t>(length);
    content_.append(captured, fill);
  }
  /// A block of pcapng; words of its body.
  void block(std::uint32_t type, const std::vector<std::uint32_t>& words, std::size_t fill_bytes = 0, char fill = 0,
             const std::vector<std::uint32_t>& options = {}) {
    const auto length =
        static_cast<std::uint32_t>(12 + 4 * words.size() + (fill_bytes + 3) / 4 * 4 + 4 * options.size());
    put(type);
    put(length);
    for (const auto word : words) put(word);
    content_.append(fill_bytes, fill);
    content_.append((4 - fill_bytes % 4) % 4, '\0');
    for (const auto word : options) put(word);
    put(length);
  }
  void section(std::uint32_t version = 1) { block(0x0a0d0d0a, {0x1a2b3c4d, version, ~0U, ~0U}); }
  void interface(std::uint32_t link_type, std::uint32_t snap = 0, const std::vector<std::uint32_t>& options = {}) {
    block(1, {link_type, snap}, 0, 0, options);
  }
  void packet(std::uint32_t from, std::uint32_t length, char fill, const std::vector<std::uint32_t>& options = {},
              std::uint64_t time = 0) {
    block(6, {from, static_cast<std::uint32_t>(time >> 32), static_cast<std::uint32_t>(time), length, length}, length,
          fill, options);
  }
  void cut(std::size_t bytes) { content_.resize(content_.size() - bytes); }
  std::string write() {
    std::ofstream(path_, std::ios::binary) << content_;
    return path_.string();
  }

 private:
  std::filesystem::path path_;
  std::string content_;
};

std::string error_of(const std::string& path) {
  try {
    PcapReader reader(path);
    while (reader.next()) continue;
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(PcapReader, ReadsFramesInOrder) {
  TemporaryFile file;
  file.header(1);
  file.frame(60, 60, 'a');
  file.frame(1514, 1514, 'b');
  PcapReader reader(file.write());
  EXPECT_EQ(reader.next(), Bytes(60, 'a'));
  EXPECT_EQ(reader.next(), Bytes(1514, 'b'));
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.count(), 2U);
}

TEST(PcapReader, LeavesOutWhatWasCutAndCountsIt) {
  TemporaryFile file;
  file.header(1);
  file.frame(60, 1514, 'a');
  file.frame(60, 60, 'b');
  file.frame(0, 0, 'c');
  file.frame(96, 1514, 'd');
  file.frame(70, 70, 'e');
  PcapReader reader(file.write());
  EXPECT_EQ(reader.next(), Bytes(60, 'b'));
  EXPECT_EQ(reader.next(), Bytes(70, 'e'));
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.count(), 2U);
  EXPECT_EQ(reader.cut(), 2U);
  EXPECT_EQ(reader.unfit(), 1U);
  EXPECT_EQ(reader.broken(), "");
}

TEST(PcapReader, EndsWhereAFileBreaksOffAndSaysSo) {
  for (const std::size_t missing : {1U, 59U, 60U, 61U, 75U}) {
    TemporaryFile file;
    file.header(1);
    file.frame(64, 64, 'a');
    file.frame(60, 60, 'b');
    file.cut(missing);
    PcapReader reader(file.write());
    EXPECT_EQ(reader.next(), Bytes(64, 'a'));
    EXPECT_EQ(reader.next(), std::nullopt);
    EXPECT_FALSE(reader.broken().empty()) << missing;
    EXPECT_EQ(reader.next(), std::nullopt);
  }
}

TEST(PcapReader, TellsWhatIsWrong) {
  EXPECT_NE(error_of("/nowhere/at.pcap").find("/nowhere/at.pcap"), std::string::npos);
  {
    TemporaryFile file;
    file.header(101);
    EXPECT_NE(error_of(file.write()).find("not Ethernet"), std::string::npos);
  }
  {
    TemporaryFile file;
    file.header(1);
    EXPECT_NE(error_of(file.write()).find("holds no frame that can be sent"), std::string::npos);
  }
  {
    TemporaryFile file;
    file.header(1);
    file.frame(60, 1514, 'b');
    file.frame(0, 0, 'c');
    const std::string error = error_of(file.write());
    EXPECT_NE(error.find("1 frame was cut by the snap length"), std::string::npos);
    EXPECT_NE(error.find("1 frame is empty"), std::string::npos);
  }
  {
    TemporaryFile file;
    file.header(1);
    file.frame(60, 60, 'a');
    file.cut(10);
    EXPECT_NE(error_of(file.write()).find("truncated"), std::string::npos);
  }
  {
    TemporaryFile file;
    file.put<std::uint32_t>(0x12345678);
    EXPECT_NE(error_of(file.write()).find("too few"), std::string::npos);
  }
  {
    TemporaryFile file;
    for (int i = 0; i < 10; ++i) file.put<std::uint32_t>(0x12345678);
    EXPECT_NE(error_of(file.write()).find("neither pcap nor pcapng"), std::string::npos);
  }
  {
    TemporaryFile file;
    file.header(1, 3);
    file.frame(60, 60, 'a');
    EXPECT_NE(error_of(file.write()).find("version 3.4 of pcap is not known"), std::string::npos);
  }
  {
    TemporaryFile file;
    file.section(2);
    EXPECT_NE(error_of(file.write()).find("version 2 of pcapng"), std::string::npos);
  }
}

TEST(PcapReader, OpensNoPipeAndNoDevice) {
  TemporaryFile file;
  const std::string path = file.write();
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  for (const std::string& name : {path, std::string("/dev/zero"), std::string("/tmp")})
    EXPECT_NE(error_of(name).find("is not a regular file"), std::string::npos) << name;
}

TEST(PcapReader, TakesTheFcsOffWhereTheFileTellsOfOne) {
  const std::uint32_t four_bytes = 1U << 26 | 2U << 28;
  TemporaryFile file;
  file.header(four_bytes | 1);
  file.frame(64, 64, 'a');
  file.frame(60, 64, 'b');  // the FCS alone was cut
  file.frame(59, 64, 'c');
  PcapReader reader(file.write());
  EXPECT_EQ(reader.next(), Bytes(60, 'a'));
  EXPECT_EQ(reader.next(), Bytes(60, 'b'));
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.cut(), 1U);
}

TEST(PcapReader, TakesTheFcsOffByInterfaceAndByPacket) {
  TemporaryFile file;
  file.section();
  file.interface(1, 0, {1U << 16 | 13, 4, 0});  // if_fcslen
  file.interface(1);
  file.packet(0, 64, 'a');
  file.packet(1, 64, 'b');
  file.packet(1, 64, 'c', {4U << 16 | 2, 2U << 5, 0});  // epb_flags
  PcapReader reader(file.write());
  EXPECT_EQ(reader.next(), Bytes(60, 'a'));
  EXPECT_EQ(reader.next(), Bytes(64, 'b'));
  EXPECT_EQ(reader.next(), Bytes(62, 'c'));
}

TEST(PcapReader, LeavesOutWhatWasReceivedWithAnError) {
  TemporaryFile file;
  file.section();
  file.interface(1);
  file.packet(0, 60, 'a', {4U << 16 | 2, 1U << 24 | 1, 0});
  file.packet(0, 60, 'b', {4U << 16 | 2, 1, 0});
  PcapReader reader(file.write());
  EXPECT_EQ(reader.next(), Bytes(60, 'b'));
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.faulty(), 1U);
}

TEST(PcapReader, TakesInterfacesThatDiffer) {
  TemporaryFile file;
  file.section();
  file.interface(101, 96);
  file.interface(1, 262'144);
  file.packet(0, 40, 'x');
  file.packet(1, 60, 'a');
  file.interface(1, 100, {1U << 16 | 9, 3, 0});  // milliseconds
  file.packet(2, 61, 'b', {}, 5);
  PcapReader reader(file.write());
  EXPECT_EQ(reader.next(), Bytes(60, 'a'));
  EXPECT_EQ(reader.next(), Bytes(61, 'b'));
  EXPECT_EQ(reader.time_ns(), 5'000'000U);
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.foreign(), 1U);
  EXPECT_EQ(reader.left_out(), 1U);
}

TEST(PcapReader, CountsTimeInEachUnit) {
  const std::uint64_t second = 1'700'000'000;
  // Negative powers of ten, then, with the highest bit, of two.
  const std::vector<std::pair<std::uint8_t, std::uint64_t>> units = {
      {0, second},
      {6, second * 1'000'000 + 7},
      {9, second * 1'000'000'000 + 7'000},
      {0x80, second},
      {0x80 | 20, second << 20 | (1U << 19)},
  };
  const std::uint64_t expected[] = {0, 7'000, 7'000, 0, 500'000'000};
  for (std::size_t i = 0; i < units.size(); ++i) {
    TemporaryFile file;
    file.section();
    file.interface(1, 0, {1U << 16 | 9, units[i].first, 0});
    file.packet(0, 60, 'a', {}, units[i].second);
    PcapReader reader(file.write());
    reader.next();
    EXPECT_EQ(reader.time_ns(), second * 1'000'000'000 + expected[i]) << i;
  }
  for (const std::uint32_t unit : {10U, 127U, 0x80U | 127, 0U}) {  // whatever it is, the result is a time
    TemporaryFile file;
    file.section();
    file.interface(1, 0, {1U << 16 | 9, unit, 8U << 16 | 14, ~0U, 0x7fff'ffff, 0});
    file.packet(0, 60, 'a', {}, ~0ULL);
    PcapReader reader(file.write());
    reader.next();
    EXPECT_EQ(reader.time_ns(), 9'000'000'000'000'000'000U);
  }
}

TEST(PcapReader, TakesNoMemoryForLengthsThatAreNotTrue) {
  TemporaryFile file;
  file.header(1);
  file.frame(60, 60, 'a');
  file.frame(60, 40, 'b');
  file.frame(300'000, 300'000, 'c');
  file.put<std::uint64_t>(0);
  file.put<std::uint32_t>(~0U);
  file.put<std::uint32_t>(~0U);
  PcapReader reader(file.write());
  EXPECT_EQ(reader.next(), Bytes(60, 'a'));
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.unfit(), 2U);
  EXPECT_NE(reader.broken().find("ends beyond the file"), std::string::npos);
}

}  // namespace
}  // namespace meridian
