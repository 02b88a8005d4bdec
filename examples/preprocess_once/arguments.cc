// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/arguments.h"

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

namespace preprocess_once {
namespace {

hp::Result<void> refuse(std::string_view flag, const std::string& why) {
  return hp::fail(hp::ErrorKind::InvalidArgument, std::string(flag) + why);
}

hp::Result<void> take_number(std::string_view flag, std::string_view value, int64_t& to) {
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), to);
  if (problem == std::errc() && end == value.data() + value.size() && to > 0) return {};
  return refuse(flag, " " + std::string(value) + ": a whole number above 0 was expected");
}

hp::Result<void> take_value(std::string_view flag, std::string_view value, MeasureOptions& to) {
  if (flag == "--images") return take_number(flag, value, to.images);
  if (flag == "--rounds") return take_number(flag, value, to.rounds);
  to.data = value;
  return value.empty() ? refuse(flag, ": a folder was expected") : hp::Result<void>();
}

}  // namespace

hp::Result<Arguments> parse_arguments(std::span<char* const> words) {
  Arguments to;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view flag = words[i];
    if (flag == "--json") {
      to.json = true;
    } else if (flag == "--check") {
      to.check = true;
    } else if (flag == "--help") {
      to.help = true;
    } else if (flag == "--data" || flag == "--images" || flag == "--rounds") {
      if (++i == words.size()) HEADPOND_TRY(refuse(flag, ": a value was expected"));
      HEADPOND_TRY(take_value(flag, words[i], to.options));
    } else {
      HEADPOND_TRY(refuse(flag, " is unknown"));
    }
  }
  return to;
}

}  // namespace preprocess_once
