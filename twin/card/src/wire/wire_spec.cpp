// SPDX-License-Identifier: Apache-2.0
#include "wire/wire_spec.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"

namespace meridian {

namespace {

std::string without_backslashes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    plain.push_back(text[i]);
  }
  return plain;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::vector<std::string> split_spec(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == separator) {
      parts.emplace_back();
      continue;
    }
    parts.back().push_back(text[i]);
    if (text[i] == '\\' && i + 1 < text.size()) parts.back().push_back(text[++i]);
  }
  return parts;
}

EndSpec::EndSpec(std::string_view text) {
  const auto colon = text.find(':');
  kind_ = text.substr(0, colon);
  if (colon == std::string_view::npos) return;
  for (const auto& part : split_spec(text.substr(colon + 1), ',')) {
    const auto equals = part.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError("wire " + kind_ + ": \"" + part + "\" is not OPTION=VALUE");
    const std::string name = part.substr(0, equals);
    if (!options_.emplace(name, without_backslashes(part.substr(equals + 1))).second)
      throw InputError("wire " + kind_ + ": option " + name + " is there twice");
  }
}

const std::string* EndSpec::find(const std::string& name) {
  if (std::find(known_.begin(), known_.end(), name) == known_.end()) known_.push_back(name);
  const auto found = options_.find(name);
  return found == options_.end() ? nullptr : &found->second;
}

void EndSpec::refuse(const std::string& name, const std::string& takes) const {
  const auto found = options_.find(name);
  throw InputError("wire " + kind_ + ": option " + name +
                   (found == options_.end() ? " is missing" : " cannot be \"" + found->second + "\"") + ", it takes " +
                   takes);
}

bool EndSpec::has(const std::string& name) {
  return find(name) != nullptr;
}

std::string EndSpec::text(const std::string& name, const std::string& fallback) {
  const std::string* value = find(name);
  if (value != nullptr && value->empty()) refuse(name, "a text");
  return value == nullptr ? fallback : *value;
}

std::string EndSpec::required_text(const std::string& name) {
  const std::string* value = find(name);
  if (value == nullptr || value->empty()) refuse(name, "a text");
  return *value;
}

std::uint64_t EndSpec::number(const std::string& name, std::uint64_t fallback, std::uint64_t least,
                              std::uint64_t most) {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  std::uint64_t number = 0;
  if (!parse_number(*value, number) || number < least || number > most)
    refuse(name, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return number;
}

std::int64_t EndSpec::integer(const std::string& name, std::int64_t fallback, std::int64_t least, std::int64_t most) {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  std::int64_t number = 0;
  if (!parse_number(*value, number) || number < least || number > most)
    refuse(name, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return number;
}

double EndSpec::real(const std::string& name, double fallback, double least, double most) {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  double number = 0;
  if (!parse_number(*value, number) || !(number >= least && number <= most))
    refuse(name, "a number from " + std::to_string(least) + " to " + std::to_string(most));
  return number;
}

bool EndSpec::flag(const std::string& name, bool fallback) {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  for (const char* yes : {"1", "on", "yes", "true"})
    if (*value == yes) return true;
  for (const char* no : {"0", "off", "no", "false"})
    if (*value == no) return false;
  refuse(name, "0 or 1");
}

double EndSpec::share(const std::string& name, double fallback) {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  std::string_view text = *value;
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  double number = 0;
  const bool parsed = parse_number(text, number);
  if (percent) number /= 100;
  if (!parsed || !(number >= 0 && number <= 1)) refuse(name, "0 to 1, or 0% to 100%");
  return number;
}

std::uint64_t EndSpec::duration_ps(const std::string& name, std::uint64_t fallback_ps) {
  struct Unit {
    std::string_view name;
    double ps;
  };
  static constexpr std::array<Unit, 5> units = {{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}}};
  const std::string* value = find(name);
  if (value == nullptr) return fallback_ps;
  std::string_view text = *value;
  double scale = 1e3;
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    text.remove_suffix(unit.name.size());
    scale = unit.ps;
    break;
  }
  constexpr double longest_ps = 1e18;
  double number = 0;
  if (!parse_number(text, number) || !(number >= 0 && number * scale <= longest_ps))
    refuse(name, "a time like 250, 250ns, 1.5us, 2ms or 1s");
  return static_cast<std::uint64_t>(std::llround(number * scale));
}

std::size_t EndSpec::choice(const std::string& name, const std::vector<std::string>& choices, std::size_t fallback) {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  const auto found = std::find(choices.begin(), choices.end(), *value);
  if (found == choices.end()) refuse(name, joined(choices));
  return static_cast<std::size_t>(found - choices.begin());
}

std::vector<std::string> EndSpec::list(const std::string& name) {
  const std::string* value = find(name);
  return value == nullptr ? std::vector<std::string>{} : split_spec(*value, '/');
}

void EndSpec::finish() const {
  for (const auto& [name, value] : options_)
    if (std::find(known_.begin(), known_.end(), name) == known_.end())
      throw InputError("wire " + kind_ + ": no option is named " + name + ", it takes " + joined(known_));
}

}  // namespace meridian
