// SPDX-License-Identifier: Apache-2.0
// The words of an expression: numbers, names, symbols.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/plan/expression_code.h"

namespace headpond::cli {

struct Token {
  enum Kind : uint8_t { integer, number, name, symbol, end };
  Kind kind = end;
  std::string_view text = {};
  size_t column = 1;
  Value value = {.integer = 0};  ///< Of a number.
};

/// Stands at one token; `text` outlives it. next, take and the constructor throw Exception(InvalidArgument) for what is
/// no token.
class Lexer {
 public:
  explicit Lexer(std::string_view text);

  const Token& token() const { return token_; }
  void next();
  /// Goes on, and returns true, iff the token is this symbol.
  bool take(std::string_view symbol);

  /// Throws Exception(InvalidArgument): "'x +', column 4: <what>".
  [[noreturn]] void refuse(const Token& at, const std::string& what) const;
  [[noreturn]] void refuse(const std::string& what) const { refuse(token_, what); }

 private:
  void read_number();
  void read_symbol();
  size_t skip(size_t at, bool (*goes_on)(char)) const;

  const std::string_view text_;
  size_t at_ = 0;  // Behind the token.
  Token token_;
};

}  // namespace headpond::cli
