// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/expression/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "headpond/plan/expression/expression_lexer.h"
#include "headpond/plan/named_fields.h"

namespace headpond::plan {
namespace {

constexpr size_t kDeepest = 200;
constexpr size_t kMostDraws = 32;  // Each is an operator.
constexpr int kOr = 0, kAnd = 1;

struct Operator {
  std::string_view text;
  int level;  // A higher level binds tighter.
  Code code;  // The one for float64 is the next one.
  bool swapped = false;
  bool compares = false;
};
constexpr std::array<Operator, 13> kOperators = {{
    {"||", kOr, Code::skip_unless_zero},
    {"&&", kAnd, Code::skip_if_zero},
    {"==", 2, Code::equal, false, true},
    {"!=", 2, Code::unequal, false, true},
    {"<", 3, Code::less, false, true},
    {"<=", 3, Code::less_equal, false, true},
    {">", 3, Code::less, true, true},
    {">=", 3, Code::less_equal, true, true},
    {"+", 4, Code::add},
    {"-", 4, Code::subtract},
    {"*", 5, Code::multiply},
    {"/", 5, Code::divide},
    {"%", 5, Code::modulo},
}};

Code for_numbers(Code code) { return static_cast<Code>(static_cast<uint8_t>(code) + 1); }

enum class Type : uint8_t { integer, number };

// What Python's operators are called here.
std::string advice(const Token& token) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kWords = {
      {{"and", "&&"}, {"or", "||"}, {"not", "!"}}};
  for (const auto& [word, own] : kWords) {
    if (token.kind == Token::name && !token.is_quoted && token.text == word) return fmt::format(": write {}", own);
  }
  return {};
}

class Parser {
 public:
  Parser(std::string_view text, const Spec& spec) : lexer_(text), spec_(spec) {}

  CompiledExpression parse() {
    const Type type = expression(kOr);
    if (lexer_.token().kind != Token::end) {
      lexer_.refuse(fmt::format("'{}' was not expected{}", lexer_.token().text, advice(lexer_.token())));
    }
    made_.is_float = type == Type::number;
    return std::move(made_);
  }

 private:
  // The present depth of nesting.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser.depth_ > kDeepest) parser.lexer_.refuse(fmt::format("nested deeper than {} levels", kDeepest));
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  void emit(const Instruction& instruction, int grows) {
    made_.program.instructions.push_back(instruction);
    on_stack_ = static_cast<size_t>(static_cast<int64_t>(on_stack_) + grows);
    made_.program.stack = std::max(made_.program.stack, on_stack_);
  }

  const Operator* operator_at(int level) const {
    if (lexer_.token().kind != Token::symbol) return nullptr;
    for (const Operator& known : kOperators) {
      if (known.text == lexer_.token().text && known.level >= level) return &known;
    }
    return nullptr;
  }

  Type expression(int level) {
    Type left = unary();
    while (const Operator* const found = operator_at(level)) {
      lexer_.next();
      left = found->level <= kAnd ? shortcut(*found, left) : binary(*found, left);
    }
    return left;
  }

  void emit_truth(Type type) { emit({type == Type::number ? Code::truth_number : Code::truth}, 0); }

  Type shortcut(const Operator& op, Type left) {
    emit_truth(left);
    const size_t skip = made_.program.instructions.size();
    emit({op.code}, -1);
    emit_truth(expression(op.level + 1));
    made_.program.instructions[skip].index = static_cast<uint32_t>(made_.program.instructions.size());
    return Type::integer;
  }

  // Converts the two values on the stack to one type, and returns it.
  Type meet(Type left, Type right) {
    if (left == right) return left;
    emit({right == Type::integer ? Code::float_top : Code::float_below}, 0);
    return Type::number;
  }

  Type binary(const Operator& op, Type left) {
    const Type type = meet(left, expression(op.level + 1));
    if (op.swapped) emit({Code::swap}, 0);
    emit({type == Type::number ? for_numbers(op.code) : op.code}, -1);
    return op.compares ? Type::integer : type;
  }

  Type unary() {
    const Level level(*this);
    const bool minus = lexer_.take("-");
    if (!minus && !lexer_.take("!")) return primary();
    const Type type = unary();
    if (minus) {
      emit({type == Type::number ? Code::negate_number : Code::negate}, 0);
      return type;
    }
    emit_truth(type);
    emit({Code::complement}, 0);
    return Type::integer;
  }

  Type primary() {
    const Token token = lexer_.token();
    if (token.kind == Token::integer || token.kind == Token::number) {
      lexer_.next();
      emit({Code::constant, 0, token.value}, 1);
      return token.kind == Token::number ? Type::number : Type::integer;
    }
    if (token.kind == Token::name) {
      lexer_.next();
      return !token.is_quoted && lexer_.take("(") ? call(token) : field(token);
    }
    if (!lexer_.take("(")) {
      lexer_.refuse(token.kind == Token::end ? "a value is missing"
                                             : fmt::format("a value is missing before '{}'", token.text));
    }
    const Type type = expression(kOr);
    close();
    return type;
  }

  void close() {
    if (!lexer_.take(")")) lexer_.refuse("')' is missing");
  }

  Type field(const Token& token) {
    for (size_t i = 0; i < spec_.size(); ++i) {
      const FieldSpec& field = spec_[i];
      if (shown_name(spec_, i) != token.text) continue;
      bool is_float = false;
      if (!loadable(field.dtype, is_float)) {
        lexer_.refuse(token, fmt::format("'{}' is {}, which has no arithmetic here", token.text, name(field.dtype)));
      }
      if (field.shape.rank() > 0) join_shape(token, field.shape);
      load(i, is_float);
      return is_float ? Type::number : Type::integer;
    }
    lexer_.refuse(token, fmt::format("there is no field '{}'{}; known: {}", token.text, advice(token),
                                     fmt::join(shown_names(spec_), ", ")));
  }

  void load(size_t index, bool is_float) {
    auto& fields = made_.fields;
    const auto known = std::find(fields.begin(), fields.end(), index);
    const auto source = static_cast<uint32_t>(known - fields.begin());
    if (known == fields.end()) fields.push_back(index);
    emit({is_float ? Code::load_number : Code::load_integer, source}, 1);
  }

  void join_shape(const Token& token, const Shape& shape) {
    if (made_.shape.rank() == 0) {
      made_.shape = shape;
      return;
    }
    std::vector<int64_t> dims(made_.shape.dims().begin(), made_.shape.dims().end());
    bool fits = shape.rank() == made_.shape.rank();
    for (int axis = 0; fits && axis < shape.rank(); ++axis) {
      int64_t& dim = dims[static_cast<size_t>(axis)];
      fits = dim == kUnknown || shape[axis] == kUnknown || dim == shape[axis];
      if (dim == kUnknown) dim = shape[axis];
    }
    if (!fits) {
      lexer_.refuse(token, fmt::format("'{}' is of shape {}, other arrays here are of {}", token.text,
                                       shape.to_string(), made_.shape.to_string()));
    }
    made_.shape = Shape(dims);
  }

  Type call(const Token& token) {
    if (token.text == "random_u32") {
      close();
      if (made_.draws == kMostDraws)
        lexer_.refuse(token, fmt::format("more than {} calls of random_u32()", kMostDraws));
      load(spec_.size() + made_.draws++, false);
      return Type::integer;
    }
    if (token.text == "sleep_us" || token.text == "spin_us") {
      const bool sleeps = token.text == "sleep_us";
      if (expression(kOr) != Type::integer) lexer_.refuse(token, fmt::format("{} takes an integer", token.text));
      close();
      emit({sleeps ? Code::sleep_us : Code::spin_us}, 0);
      made_.sleeps = made_.sleeps || sleeps;
      return Type::integer;
    }
    if (token.text != "throw_at") {
      lexer_.refuse(
          token, fmt::format("there is no function '{}'; known: sleep_us, spin_us, throw_at, random_u32", token.text));
    }
    const Type left = expression(kOr);
    if (!lexer_.take(",")) lexer_.refuse("throw_at takes two values");
    const Type type = meet(left, expression(kOr));
    close();
    emit({type == Type::number ? Code::throw_at_number : Code::throw_at}, -1);
    return type;
  }

  Lexer lexer_;
  const Spec& spec_;
  CompiledExpression made_;
  size_t depth_ = 0;
  size_t on_stack_ = 0;
};

}  // namespace

CompiledExpression compile_expression(std::string_view text, const Spec& spec) { return Parser(text, spec).parse(); }

}  // namespace headpond::plan
