// SPDX-License-Identifier: Apache-2.0
#include "wire/capture/pcap_file.hpp"

#include <utility>

#include "base/error.hpp"

namespace meridian {

namespace {

constexpr std::uint16_t ethernet = 1;

}  // namespace

PcapReader::PcapReader(std::string path) : path_(std::move(path)), records_(path_) {
  const auto type = records_.link_type();
  if (type && *type != ethernet)
    throw InputError("capture " + path_ + ": its link type is " + std::to_string(*type) + ", not Ethernet (1)");
}

std::string PcapReader::why_no_frame() const {
  std::string why;
  const auto add = [&why](const std::string& reason) { why += (why.empty() ? ": " : "; ") + reason; };
  const auto count = [&add](std::uint64_t frames, const char* one, const char* several, const std::string& reason) {
    if (frames != 0) add(std::to_string(frames) + (frames == 1 ? one : several) + reason);
  };
  const std::string unfit = "empty, longer than 65535 bytes, or shorter than what was kept of it";
  count(cut_, " frame was ", " frames were ", "cut by the snap length, capture whole frames (tcpdump -s 0)");
  count(unfit_, " frame is ", " frames are ", unfit);
  count(faulty_, " frame was ", " frames were ", "received with an error");
  count(foreign_, " frame is ", " frames are ", "of an interface that is not Ethernet");
  if (!broken().empty()) add(broken());
  return "capture " + path_ + " holds no frame that can be sent" + why;
}

/// Counts it if not.
bool PcapReader::fits(const CaptureRecord& record) {
  std::uint64_t* reason = nullptr;
  if (record.link_type != ethernet) {
    reason = &foreign_;
  } else if (record.kept < record.length) {
    reason = &cut_;
  } else if (record.length == 0 || record.kept > record.length || record.length > CaptureRecords::longest) {
    reason = &unfit_;
  } else if (record.faulty) {
    reason = &faulty_;
  }
  if (reason != nullptr) ++*reason;
  return reason == nullptr;
}

std::optional<Bytes> PcapReader::next() {
  while (auto record = records_.next()) {
    if (!fits(*record)) continue;
    ++count_;
    time_ns_ = record->time_ns;
    return std::move(record->data);
  }
  if (count_ == 0) throw InputError(why_no_frame());
  return std::nullopt;
}

}  // namespace meridian
