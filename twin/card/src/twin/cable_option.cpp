// SPDX-License-Identifier: Apache-2.0
#include "twin/cable_option.hpp"

#include "base/error.hpp"
#include "wire/wire_spec.hpp"

namespace meridian {

namespace {

CablePlug parse_plug(const std::string& cable, std::string_view text) {
  const auto dot = text.find('.');
  CablePlug plug;
  if (dot == std::string_view::npos || !parse_number(text.substr(0, dot), plug.card) ||
      !parse_number(text.substr(dot + 1), plug.port))
    throw InputError("--cable " + cable + ": \"" + std::string(text) + "\" is not CARD.PORT, as 0.0");
  return plug;
}

}  // namespace

CableOption parse_cable(const std::string& text) {
  const auto comma = text.find(',');
  const std::string_view plugs = std::string_view(text).substr(0, comma);
  const auto equals = plugs.find('=');
  if (equals == std::string_view::npos)
    throw InputError("--cable " + text + ": give two ports, as 0.0=1.0, and maybe ,delay=TIME");
  CableOption cable;
  cable.first = parse_plug(text, plugs.substr(0, equals));
  cable.second = parse_plug(text, plugs.substr(equals + 1));
  if (cable.first == cable.second) throw InputError("--cable " + text + ": a port cannot be cabled to itself");
  std::string rest("cable");
  if (comma != std::string::npos) rest.append(1, ':').append(text, comma + 1);
  EndSpec options(rest);
  cable.delay_ps = options.duration_ps("delay", 0);
  options.finish();
  return cable;
}

}  // namespace meridian
