// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace meridian {

/// One end of a wire as text: KIND or KIND:OPTION=VALUE,OPTION=VALUE... A backslash takes the next character as it is.
///
/// Each getter names an option and its fallback. What is wrong is an InputError that names kind, option and what it
/// takes; finish() refuses options that no getter asked for, naming those that were.
class EndSpec {
 public:
  explicit EndSpec(std::string_view text);

  const std::string& kind() const { return kind_; }
  bool has(const std::string& name);

  std::string text(const std::string& name, const std::string& fallback);
  std::string required_text(const std::string& name);
  std::uint64_t number(const std::string& name, std::uint64_t fallback, std::uint64_t least, std::uint64_t most);
  std::int64_t integer(const std::string& name, std::int64_t fallback, std::int64_t least, std::int64_t most);
  double real(const std::string& name, double fallback, double least, double most);

  /// 0 or 1, off or on, no or yes, false or true.
  bool flag(const std::string& name, bool fallback);

  /// 0 to 1, or with % 0 to 100.
  double share(const std::string& name, double fallback);

  /// A time with ps, ns, us, ms or s; without a unit it is ns.
  std::uint64_t duration_ps(const std::string& name, std::uint64_t fallback_ps);

  /// Index of the choice.
  std::size_t choice(const std::string& name, const std::vector<std::string>& choices, std::size_t fallback);

  /// Parts of the value between slashes; empty without the option.
  std::vector<std::string> list(const std::string& name);

  [[noreturn]] void refuse(const std::string& name, const std::string& takes) const;
  void finish() const;

 private:
  const std::string* find(const std::string& name);

  std::string kind_;
  std::map<std::string, std::string> options_;
  std::vector<std::string> known_;
};

/// The parts of text between separators that no backslash precedes; the backslashes stay.
std::vector<std::string> split_spec(std::string_view text, char separator);

/// The whole text as a number; false if it is none.
template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

}  // namespace meridian
