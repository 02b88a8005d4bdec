// SPDX-License-Identifier: Apache-2.0
// The code of a compiled expression: a program for a stack machine, so that running it needs no recursion. Internal to
// expression.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headpond/tensor/dtype.h"

namespace headpond::plan {

/// An int64 or a float64; the program knows which.
union Value {
  int64_t integer;
  double number;
};

/// What an instruction does with the top of the stack (b) and the value below it (a). Of two variants the second is for
/// float64.
enum class Code : uint8_t {
  constant,      ///< Pushes `value`.
  load_integer,  ///< Pushes source `index` as int64.
  load_number,   ///< Pushes source `index` as float64.
  float_top,     ///< b becomes float64.
  float_below,   ///< a becomes float64.
  truth,
  truth_number,  ///< b becomes 1 unless it is 0, then 0.
  negate,
  negate_number,
  complement,  ///< !b
  swap,        ///< Exchanges a and b.
  add,
  add_number,
  subtract,
  subtract_number,
  multiply,
  multiply_number,
  divide,
  divide_number,
  modulo,
  modulo_number,
  equal,
  equal_number,
  unequal,
  unequal_number,
  less,
  less_number,
  less_equal,
  less_equal_number,
  skip_if_zero,
  skip_unless_zero,  ///< If it holds, continues at `index` and keeps b; else drops b.
  sleep_us,
  spin_us,  ///< For b microseconds; b becomes 0.
  throw_at,
  throw_at_number  ///< Fails if a equals b; else drops b.
};

struct Instruction {
  Code code;
  uint32_t index = 0;
  Value value = {.integer = 0};
};

/// A source's values: one for each row, or one for all rows.
struct Source {
  const std::byte* data = nullptr;
  DType dtype = DType::i64;
  bool one_for_all = true;
};

struct Program {
  std::vector<Instruction> instructions;
  size_t stack = 0;  ///< The most values on the stack.
};

enum class Outcome : uint8_t { done, division_by_zero, thrown, thrown_number };

/// Leaves the result in stack[0]; after a throw_at the value that triggered it. REQUIRES: a stack of program.stack + 1
/// values; at `row`, sources with values of the dtypes that the program was compiled for.
Outcome run(const Program& program, std::span<const Source> sources, size_t row, Value* stack);

/// True iff values of `dtype` can be loaded; `is_float` tells whether as float64.
bool loadable(DType dtype, bool& is_float);

}  // namespace headpond::plan
