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

std::optional<Bytes> PcapReader::next() {
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  const int result = pcap_next_ex(file_.get(), &header, &data);
  if (result == PCAP_ERROR_BREAK) return std::nullopt;
  const std::string where = "capture " + path_ + ", frame " + std::to_string(count_ + 1) + ": ";
  if (result != 1) throw InputError(where + pcap_geterr(file_.get()));
  if (header->caplen != header->len)
    throw InputError(where + "only " + std::to_string(header->caplen) + " of its " + std::to_string(header->len) +
                     " bytes were captured");
  if (header->len == 0 || header->len > 65535) throw InputError(where + "its length is " + std::to_string(header->len));
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
