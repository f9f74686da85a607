// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace meridian {

/// What either half of a MAC counts. Bytes are without FCS; the size buckets are those of RMON (RFC 2819), with FCS.
struct MacCounters {
  static constexpr std::array<std::string_view, 8> bucket_names = {"size_below_64",  "size_64",        "size_65_127",
                                                                   "size_128_255",   "size_256_511",   "size_512_1023",
                                                                   "size_1024_1518", "size_above_1518"};

  std::uint64_t frames = 0;  // that passed, bad ones too
  std::uint64_t bytes = 0;
  std::uint64_t bad = 0;        // with a wrong FCS, whatever the reason
  std::uint64_t aborted = 0;    // of these: ended before their time, by the shell or by a link that went down
  std::uint64_t link_down = 0;  // did not pass: the link was down
  std::uint64_t unicast = 0;
  std::uint64_t multicast = 0;
  std::uint64_t broadcast = 0;
  std::array<std::uint64_t, bucket_names.size()> sizes{};

  /// A frame that passed.
  void count(std::span<const std::uint8_t> frame, bool is_bad, bool is_aborted);

  /// visit(name, value) for each counter, in the order above.
  template <typename Visit>
  void each(Visit&& visit) const {
    visit(std::string_view("frames"), frames);
    visit(std::string_view("bytes"), bytes);
    visit(std::string_view("bad"), bad);
    visit(std::string_view("aborted"), aborted);
    visit(std::string_view("link_down"), link_down);
    visit(std::string_view("unicast"), unicast);
    visit(std::string_view("multicast"), multicast);
    visit(std::string_view("broadcast"), broadcast);
    for (std::size_t i = 0; i < sizes.size(); ++i) visit(bucket_names[i], sizes[i]);
  }
};

}  // namespace meridian
