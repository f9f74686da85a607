// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "wire/wire_end.hpp"
#include "wire/wire_setting.hpp"

namespace meridian {

/// The end that the text names (see wire_help): one, or several with + between them, which then share the port.
/// InputError for whatever is wrong, naming the option and what is allowed.
std::unique_ptr<WireEnd> make_wire_end(std::string_view spec, const WireSetting& wire);

/// For --help: kinds, options, defaults.
std::string wire_help();

}  // namespace meridian
