// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/expression/expression_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "headpond/base/status.h"

namespace headpond::plan {
namespace {

constexpr std::array<std::string_view, 18> kSymbols = {"||", "&&", "==", "!=", "<=", ">=", "<", ">", "+",
                                                       "-",  "*",  "/",  "%",  "!",  "(",  ")", ",", "="};
constexpr size_t kShown = 60;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_name(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) { next(); }

void Lexer::refuse(const Token& at, const std::string& what) const {
  const bool is_long = text_.size() > kShown;
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("'{}{}', column {}: {}", text_.substr(0, kShown),
                                                                is_long ? "..." : "", at.column, what)));
}

size_t Lexer::skip(size_t at, bool (*goes_on)(char)) const {
  while (at < text_.size() && goes_on(text_[at])) ++at;
  return at;
}

void Lexer::next() {
  const size_t from = skip(at_, is_space);
  token_ = {.column = from + 1};
  at_ = from;
  if (from == text_.size()) return;
  const char first = text_[from];
  if (is_digit(first) || first == '.') return read_number();
  if (first == '`') return read_quoted_name();
  if (!is_letter(first)) return read_symbol();
  at_ = skip(from, in_name);
  token_.kind = Token::name;
  token_.text = text_.substr(from, at_ - from);
}

bool Lexer::take(std::string_view symbol) {
  if (token_.kind != Token::symbol || token_.text != symbol) return false;
  next();
  return true;
}

void Lexer::read_number() {
  const size_t from = at_;
  size_t to = skip(from, is_digit);
  const bool has_point = to < text_.size() && text_[to] == '.';
  if (has_point) to = skip(to + 1, is_digit);
  const bool has_exponent = to < text_.size() && (text_[to] == 'e' || text_[to] == 'E');
  if (has_exponent)
    to = skip(to + (to + 1 < text_.size() && (text_[to + 1] == '+' || text_[to + 1] == '-') ? 2 : 1), is_digit);
  to = skip(to, in_name);  // Letters directly after a number make it invalid.
  token_.text = text_.substr(from, to - from);
  at_ = to;
  const bool is_float = has_point || has_exponent;
  token_.kind = is_float ? Token::number : Token::integer;
  const char* const begin = token_.text.data();
  const char* const end = begin + token_.text.size();
  const auto read =
      is_float ? std::from_chars(begin, end, token_.value.number) : std::from_chars(begin, end, token_.value.integer);
  if (read.ec == std::errc::result_out_of_range) {
    refuse(fmt::format("{} does not fit {}", token_.text, is_float ? "float64" : "int64"));
  }
  const bool is_octal = !is_float && token_.text.size() > 1 && token_.text[0] == '0';
  if (read.ec != std::errc() || read.ptr != end || is_octal) refuse(fmt::format("'{}' is not a number", token_.text));
}

void Lexer::read_quoted_name() {
  const size_t from = at_ + 1, to = text_.find('`', from);
  if (to == std::string_view::npos) refuse("the name that begins here has no second `");
  if (to == from) refuse("the name between the back quotes is empty");
  token_.kind = Token::name;
  token_.text = text_.substr(from, to - from);
  token_.is_quoted = true;
  at_ = to + 1;
}

void Lexer::read_symbol() {
  const std::string_view rest = text_.substr(at_);
  const auto found =
      std::find_if(kSymbols.begin(), kSymbols.end(), [&](std::string_view one) { return rest.starts_with(one); });
  if (found == kSymbols.end()) refuse(fmt::format("'{}' has no meaning here", rest.substr(0, 1)));
  if (*found == "=") refuse("'=' has no meaning here; == compares");
  token_.kind = Token::symbol;
  token_.text = rest.substr(0, found->size());
  at_ += found->size();
}

}  // namespace headpond::plan
