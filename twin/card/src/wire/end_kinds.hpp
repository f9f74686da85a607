// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "wire/wire_end.hpp"
#include "wire/wire_setting.hpp"
#include "wire/wire_spec.hpp"

namespace meridian {

/// A kind of end as the command line knows it.
struct EndKind {
  std::string_view name;
  std::unique_ptr<WireEnd> (*make)(EndSpec& spec, const WireSetting& wire);
  std::string_view help;
};

std::unique_ptr<WireEnd> make_ptp(EndSpec& spec, const WireSetting& wire);
extern const std::string_view ptp_help;

std::unique_ptr<WireEnd> make_traffic(EndSpec& spec, const WireSetting& wire);
extern const std::string_view traffic_help;

}  // namespace meridian
