// SPDX-License-Identifier: Apache-2.0
#include "wire/capture/capture_file.hpp"

#include <concepts>
#include <cstring>

#include "base/error.hpp"

namespace meridian {

namespace {

// Numbers of the pcapng specification (draft-ietf-opsawg-pcapng).
constexpr std::uint32_t section_block = 0x0a0d0d0a;
constexpr std::uint32_t interface_block = 1;
constexpr std::uint32_t packet_block = 6;
constexpr std::uint32_t byte_order_magic = 0x1a2b3c4d;
constexpr std::uint16_t ethernet = 1;
constexpr std::uint32_t snap_length = 262'144;
constexpr std::uint16_t option_end = 0;
constexpr std::uint16_t option_application = 4;  // of a section
constexpr std::uint16_t option_name = 2;         // of an interface
constexpr std::uint16_t option_speed = 8;
constexpr std::uint16_t option_resolution = 9;
constexpr std::uint16_t option_flags = 2;  // of a packet
constexpr std::uint32_t flag_crc_error = 1U << 24;
constexpr std::uint64_t hold_ps = 50'000'000;

/// A block in the making, in the order of this machine's bytes, which the section's magic number tells.
class Block {
 public:
  explicit Block(std::uint32_t type) {
    put(type);
    put<std::uint32_t>(0);
  }

  template <std::integral Number>
  void put(Number number) {
    std::uint8_t raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    bytes_.insert(bytes_.end(), raw, raw + sizeof number);
  }

  void put(std::span<const std::uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
  }

  void option(std::uint16_t code, std::span<const std::uint8_t> value) {
    put(code);
    put(static_cast<std::uint16_t>(value.size()));
    put(value);
  }

  void option(std::uint16_t code, std::string_view text) {
    option(code, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }

  template <std::integral Number>
  void option(std::uint16_t code, Number number) {
    std::uint8_t raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    option(code, std::span<const std::uint8_t>(raw));
  }

  Bytes finish() && {
    put(option_end);
    put<std::uint16_t>(0);
    const auto length = static_cast<std::uint32_t>(bytes_.size() + 4);
    put(length);
    std::memcpy(bytes_.data() + 4, &length, sizeof length);
    return std::move(bytes_);
  }

 private:
  Bytes bytes_;
};

void write_block(std::ofstream& file, const Bytes& block) {
  file.write(reinterpret_cast<const char*>(block.data()), static_cast<std::streamsize>(block.size()));
}

}  // namespace

CaptureFile::CaptureFile(const std::filesystem::path& path, const std::vector<CaptureInterface>& interfaces,
                         std::uint64_t epoch_ns)
    : path_(path),
      file_(path, std::ios::binary | std::ios::trunc),
      interfaces_(interfaces.size()),
      epoch_ns_(epoch_ns) {
  if (interfaces.empty()) throw InputError("a capture needs an interface");
  put_header(interfaces);
  file_.flush();
  check();
}

CaptureFile::~CaptureFile() {
  for (const auto& [time, block] : held_) write_block(file_, block);
}

void CaptureFile::check() {
  if (!file_) throw InputError("cannot write the capture " + path_.string());
}

void CaptureFile::put_header(const std::vector<CaptureInterface>& interfaces) {
  Block section(section_block);
  section.put(byte_order_magic);
  section.put<std::uint16_t>(1);
  section.put<std::uint16_t>(0);
  section.put<std::int64_t>(-1);  // its length is not told
  section.option(option_application, std::string_view("Meridian twin"));
  write_block(file_, std::move(section).finish());
  for (const auto& interface : interfaces) {
    Block block(interface_block);
    block.put(ethernet);
    block.put<std::uint16_t>(0);
    block.put(snap_length);
    block.option(option_name, std::string_view(interface.name).substr(0, 255));
    if (interface.bits_per_second != 0) block.option(option_speed, interface.bits_per_second);
    block.option(option_resolution, std::uint8_t{9});
    write_block(file_, std::move(block).finish());
  }
}

void CaptureFile::write(unsigned interface, std::uint64_t time_ps, std::span<const std::uint8_t> bytes,
                        CaptureDirection direction, bool bad_fcs) {
  if (interface >= interfaces_) throw InputError("the capture has no interface " + std::to_string(interface));
  if (bytes.size() > snap_length) throw InputError("a frame is too long for a capture");
  const std::uint64_t ns = epoch_ns_ + time_ps / 1000;
  Block block(packet_block);
  block.put<std::uint32_t>(interface);
  block.put(static_cast<std::uint32_t>(ns >> 32));
  block.put(static_cast<std::uint32_t>(ns));
  block.put(static_cast<std::uint32_t>(bytes.size()));
  block.put(static_cast<std::uint32_t>(bytes.size()));
  block.put(bytes);
  block.option(option_flags, static_cast<std::uint32_t>(direction) | (bad_fcs ? flag_crc_error : 0));
  held_.emplace(time_ps, std::move(block).finish());
  ++frames_;
  const std::uint64_t newest = held_.rbegin()->first;
  while (newest - held_.begin()->first > hold_ps) {
    write_block(file_, held_.begin()->second);
    held_.erase(held_.begin());
  }
  check();
}

void CaptureFile::flush() {
  for (const auto& [time, block] : held_) write_block(file_, block);
  held_.clear();
  file_.flush();
  check();
}

}  // namespace meridian
