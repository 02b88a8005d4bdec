// SPDX-License-Identifier: Apache-2.0
// The words of an expression: numbers, names, symbols.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headpond/plan/expression/expression_code.h"

namespace headpond::plan {

struct Token {
  enum Kind : uint8_t { integer, number, name, symbol, end };
  Kind kind = end;
  std::string_view text = {};  ///< Of a name in back quotes (`a/b`) what is between them.
  bool is_quoted = false;
  size_t column = 1;
  Value value = {.integer = 0};  ///< If it is a number.
};

/// At one token of `text`, which outlives this. next, take and the constructor throw Exception(InvalidArgument) for
/// text that is not a token.
class Lexer {
 public:
  explicit Lexer(std::string_view text);

  const Token& token() const { return token_; }
  void next();
  /// Iff the token is this symbol, moves to the next one and returns true.
  bool take(std::string_view symbol);

  /// Throws Exception(InvalidArgument): "'x +', column 4: <what>".
  [[noreturn]] void refuse(const Token& at, const std::string& what) const;
  [[noreturn]] void refuse(const std::string& what) const { refuse(token_, what); }

 private:
  void read_number();
  void read_symbol();
  void read_quoted_name();
  size_t skip(size_t at, bool (*goes_on)(char)) const;

  const std::string_view text_;
  size_t at_ = 0;  // After the token.
  Token token_;
};

}  // namespace headpond::plan
