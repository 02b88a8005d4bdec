// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include "cli/flag_values.h"
#include "headpond/plan/suggestion.h"

namespace headpond::cli {
namespace {

template <class T>
struct Plain {
  using type = T;
};
template <class T>
struct Plain<std::optional<T>> {
  using type = T;
};

template <class T>
constexpr const char* kPlaceholder = std::is_integral_v<T>     ? "N"
                                     : std::is_arithmetic_v<T> ? "X"
                                                               : "TEXT";

template <class Number>
bool read_number(const std::string& text, Number& to) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, to);
  if (read.ec != std::errc() || read.ptr != end) return false;
  if constexpr (std::is_floating_point_v<Number>) return std::isfinite(to);
  return true;
}

std::string expected_number(bool is_integer, std::optional<int64_t> least) {
  const std::string what = is_integer ? "an integer" : "a number";
  return least ? fmt::format("{} of at least {}", what, *least) : what;
}

template <class T>
std::string set_value(const std::string& text, std::optional<int64_t> least, T& to) {
  using Value = typename Plain<T>::type;
  if constexpr (std::is_same_v<Value, std::string>) {
    to = text;
  } else {
    if constexpr (std::is_unsigned_v<Value>) least = 0;
    Value value{};
    if (!read_number(text, value) || (least && !(value >= static_cast<Value>(*least))))
      return expected_number(std::is_integral_v<Value>, least);
    to = value;
  }
  return "";
}

std::string set_bool(const std::string& text, bool& to) {
  std::string word = text;
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto is_one_of = [&](std::vector<std::string> all) {
    return std::find(all.begin(), all.end(), word) != all.end();
  };
  const bool is_true = is_one_of({"1", "true", "yes", "on"});
  if (!is_true && !is_one_of({"0", "false", "no", "off"})) return "true or false";
  to = is_true;
  return "";
}

template <class T>
Flag flag_of(const std::string& spec, std::optional<int64_t> least, T& to, const std::string& what) {
  const size_t space = spec.find(' ');
  return {.name = spec.substr(0, space),
          .placeholder = space == std::string::npos ? kPlaceholder<typename Plain<T>::type> : spec.substr(space + 1),
          .what = what,
          .set = [&to, least](const std::string& text) { return set_value(text, least, to); }};
}

}  // namespace

std::string environment_variable(const std::string& name) {
  if (name == "data") return "";
  std::string text = "HEADPOND_" + name;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return letter == '-' ? '_' : static_cast<char>(std::toupper(letter)); });
  return text;
}

template <class T>
Flag& Flags::option(const std::string& spec, T& to, const std::string& what) {
  return add(flag_of(spec, {}, to, what));
}
template Flag& Flags::option(const std::string&, int&, const std::string&);
template Flag& Flags::option(const std::string&, int64_t&, const std::string&);
template Flag& Flags::option(const std::string&, uint64_t&, const std::string&);
template Flag& Flags::option(const std::string&, double&, const std::string&);
template Flag& Flags::option(const std::string&, std::string&, const std::string&);
template Flag& Flags::option(const std::string&, std::optional<int64_t>&, const std::string&);
template Flag& Flags::option(const std::string&, std::optional<double>&, const std::string&);

template <class T>
Flag& Flags::option_from(int64_t least, const std::string& spec, T& to, const std::string& what) {
  return add(flag_of(spec, least, to, what));
}
template Flag& Flags::option_from(int64_t, const std::string&, int&, const std::string&);
template Flag& Flags::option_from(int64_t, const std::string&, int64_t&, const std::string&);
template Flag& Flags::option_from(int64_t, const std::string&, double&, const std::string&);
template Flag& Flags::option_from(int64_t, const std::string&, std::optional<int64_t>&, const std::string&);
template Flag& Flags::option_from(int64_t, const std::string&, std::optional<double>&, const std::string&);

Flag& Flags::bytes(const std::string& name, std::optional<int64_t>& to, const std::string& what) {
  return add({.name = name, .placeholder = "BYTES", .what = what, .set = [&to](const std::string& text) -> std::string {
                const auto count = byte_count(text);
                if (!count || *count < 1) return "a number of bytes of at least 1 (1000000, 512K, 64M or 2G)";
                to = count;
                return "";
              }});
}

Flag& Flags::cpus(const std::string& name, std::vector<int>& to, const std::string& what) {
  return add({.name = name, .placeholder = "LIST", .what = what, .set = [&to](const std::string& text) -> std::string {
                auto list = cpu_list(text);
                if (!list) return "a list like 0,2-3";
                to = std::move(*list);
                return "";
              }});
}

Flag& Flags::choice(const std::string& name, std::string& to, const std::vector<std::string>& words,
                    const std::string& what) {
  const std::string fallback = to.empty() ? "" : fmt::format("{}(default: {})", what.empty() ? "" : " ", to);
  return add({.name = name,
              .placeholder = fmt::format("{}", fmt::join(words, "|")),
              .what = what + fallback,
              .set = [&to, words](const std::string& text) -> std::string {
                if (std::find(words.begin(), words.end(), text) == words.end())
                  return fmt::format("one of {}", fmt::join(words, ", "));
                to = text;
                return "";
              }});
}

Flag& Flags::flag(const std::string& name, bool& to, const std::string& what) {
  return add(
      {.name = name, .placeholder = "", .what = what, .set = [&to](const auto& text) { return set_bool(text, to); }});
}

void Flags::words(const std::string& name, std::vector<std::string>& to, const std::string& what) {
  word_ = {.name = name, .placeholder = "", .what = what};
  words_ = &to;
}

Flag& Flags::add(Flag flag) { return flags_.emplace_back(std::move(flag)); }

}  // namespace headpond::cli
