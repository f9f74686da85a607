// SPDX-License-Identifier: Apache-2.0
#include "wire/pcap_file.hpp"

#include <pcap/pcap.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace meridian {

void PcapReader::Close::operator()(pcap* file) const {
  pcap_close(file);
}

PcapReader::PcapReader(std::string path) : path_(std::move(path)) {
  char error[PCAP_ERRBUF_SIZE] = "";
  file_.reset(pcap_open_offline_with_tstamp_precision(path_.c_str(), PCAP_TSTAMP_PRECISION_NANO, error));
  if (file_ == nullptr) throw InputError("capture " + path_ + ": " + error);
  if (pcap_datalink(file_.get()) != DLT_EN10MB)
    throw InputError("capture " + path_ + ": its link type is " + std::to_string(pcap_datalink(file_.get())) +
                     ", not Ethernet (1)");
}

std::string PcapReader::why_no_frame() const {
  std::string why;
  const auto add = [&why](const std::string& reason) { why += (why.empty() ? ": " : "; ") + reason; };
  if (cut_ != 0) add(std::to_string(cut_) + " frames were cut by the snap length, capture them whole (tcpdump -s 0)");
  if (unfit_ != 0) add(std::to_string(unfit_) + " frames are empty or longer than 65535 bytes");
  if (!broken_.empty()) add(broken_);
  return "capture " + path_ + " holds no frame that can be sent" + why;
}

std::optional<Bytes> PcapReader::next() {
  if (!broken_.empty()) return std::nullopt;
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  for (;;) {
    const int result = pcap_next_ex(file_.get(), &header, &data);
    if (result != 1) {
      if (result != PCAP_ERROR_BREAK) {
        broken_ = pcap_geterr(file_.get());
        if (broken_.empty()) broken_ = "the file breaks off";
      }
      if (count_ == 0) throw InputError(why_no_frame());
      return std::nullopt;
    }
    if (header->caplen != header->len)
      ++cut_;
    else if (header->len == 0 || header->len > 65535)
      ++unfit_;
    else
      break;
  }
  ++count_;
  // With nanosecond precision the field for microseconds holds nanoseconds.
  const auto seconds = static_cast<std::int64_t>(header->ts.tv_sec);
  const auto nanoseconds = static_cast<std::int64_t>(header->ts.tv_usec);
  constexpr std::int64_t last_second = 9'000'000'000;
  time_ns_ = seconds < 0 || nanoseconds < 0
                 ? 0
                 : static_cast<std::uint64_t>(std::min(seconds, last_second) * 1'000'000'000 + nanoseconds);
  return Bytes(data, data + header->caplen);
}

}  // namespace meridian
