// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "wire/pcap_file.hpp"

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
  void header(std::uint32_t link_type) {
    put<std::uint32_t>(0xa1b2c3d4);
    put<std::uint16_t>(2);
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
    EXPECT_NE(error.find("1 frames were cut by the snap length"), std::string::npos);
    EXPECT_NE(error.find("1 frames are empty"), std::string::npos);
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
    EXPECT_FALSE(error_of(file.write()).empty());
  }
}

}  // namespace
}  // namespace meridian
