// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace meridian {

/// Command-line arguments, one after another.
class Arguments {
 public:
  explicit Arguments(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}

  bool next() {
    if (index_ >= arguments_.size()) return false;
    option_ = arguments_[index_++];
    return true;
  }
  const std::string& option() const { return option_; }
  bool is_option() const { return option_.size() > 1 && option_.front() == '-'; }

  /// The value of the option at hand.
  const std::string& value() {
    if (index_ >= arguments_.size()) throw InputError(option_ + ": its value is missing");
    return arguments_[index_++];
  }

  template <typename Number>
  Number number() {
    return parse<Number>(value());
  }

  /// A number in a unit that is `factor` of a smaller one, which the result is in.
  std::uint64_t scaled(std::uint64_t factor) {
    const auto number_given = number<std::uint64_t>();
    if (number_given > std::numeric_limits<std::uint64_t>::max() / factor)
      throw InputError(option_ + ": " + std::to_string(number_given) + " is too large, the largest is " +
                       std::to_string(std::numeric_limits<std::uint64_t>::max() / factor));
    return factor * number_given;
  }

  /// NAME=VALUE, as the value of the option at hand.
  template <typename Number>
  std::pair<std::string, Number> named_number() {
    const std::string& text = value();
    const auto equals = text.find('=');
    if (equals == std::string::npos) throw InputError(option_ + ": give NAME=VALUE");
    return {text.substr(0, equals), parse<Number>(std::string_view(text).substr(equals + 1))};
  }

 private:
  template <typename Number>
  Number parse(std::string_view text) const {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
      throw InputError(option_ + ": \"" + std::string(text) + "\" is not a number it can take");
    return value;
  }

  std::vector<std::string> arguments_;
  std::size_t index_ = 0;
  std::string option_;
};

}  // namespace meridian
