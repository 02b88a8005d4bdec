// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/expression/expression_code.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include "headpond/base/clock.h"

namespace headpond::plan {
namespace {

constexpr int64_t kLongestWaitUs = int64_t{1} << 40;

template <class T>
T read(const Source& source, size_t row) {
  T value;
  std::memcpy(&value, source.data + (source.one_for_all ? 0 : row * sizeof(T)), sizeof(T));
  return value;
}

int64_t load_integer(const Source& source, size_t row) {
  switch (source.dtype) {
    case DType::u8:
    case DType::boolean:
      return read<uint8_t>(source, row);
    case DType::i8:
      return read<int8_t>(source, row);
    case DType::u16:
      return read<uint16_t>(source, row);
    case DType::i16:
      return read<int16_t>(source, row);
    case DType::u32:
      return read<uint32_t>(source, row);
    case DType::i32:
      return read<int32_t>(source, row);
    default:
      return read<int64_t>(source, row);
  }
}

double load_number(const Source& source, size_t row) {
  return source.dtype == DType::f32 ? double{read<float>(source, row)} : read<double>(source, row);
}

int64_t wrapped(uint64_t value) { return static_cast<int64_t>(value); }
uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

// For b that is not 0.
int64_t divided(int64_t a, int64_t b) { return b == -1 ? wrapped(0 - bits(a)) : a / b; }
int64_t remainder(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

void wait_us(int64_t n, bool busy) {
  const int64_t us = std::clamp<int64_t>(n, 0, kLongestWaitUs);
  if (!busy) return std::this_thread::sleep_for(std::chrono::microseconds(us));
  for (const int64_t until = now_ns() + us * 1000; now_ns() < until;) {
  }
}

// Instructions that take two values and give one.
Outcome combine(Code code, Value& a, const Value& b) {
  const int64_t x = a.integer, y = b.integer;
  switch (code) {
    case Code::add:
      a.integer = wrapped(bits(x) + bits(y));
      break;
    case Code::subtract:
      a.integer = wrapped(bits(x) - bits(y));
      break;
    case Code::multiply:
      a.integer = wrapped(bits(x) * bits(y));
      break;
    case Code::divide:
      if (y == 0) return Outcome::division_by_zero;
      a.integer = divided(x, y);
      break;
    case Code::modulo:
      if (y == 0) return Outcome::division_by_zero;
      a.integer = remainder(x, y);
      break;
    case Code::equal:
      a.integer = x == y;
      break;
    case Code::unequal:
      a.integer = x != y;
      break;
    case Code::less:
      a.integer = x < y;
      break;
    case Code::less_equal:
      a.integer = x <= y;
      break;
    default:
      return x == y ? Outcome::thrown : Outcome::done;
  }
  return Outcome::done;
}

Outcome combine_numbers(Code code, Value& a, const Value& b) {
  const double x = a.number, y = b.number;
  switch (code) {
    case Code::add_number:
      a.number = x + y;
      break;
    case Code::subtract_number:
      a.number = x - y;
      break;
    case Code::multiply_number:
      a.number = x * y;
      break;
    case Code::divide_number:
      a.number = x / y;
      break;
    case Code::modulo_number:
      a.number = std::fmod(x, y);
      break;
    case Code::equal_number:
      a.integer = x == y;
      break;
    case Code::unequal_number:
      a.integer = x != y;
      break;
    case Code::less_number:
      a.integer = x < y;
      break;
    case Code::less_equal_number:
      a.integer = x <= y;
      break;
    default:
      return x == y ? Outcome::thrown_number : Outcome::done;
  }
  return Outcome::done;
}

// Instructions that push a value; returns false for others. `top` is the next free slot.
bool push(const Instruction& instruction, std::span<const Source> sources, size_t row, Value*& top) {
  if (instruction.code == Code::constant) {
    *top++ = instruction.value;
  } else if (instruction.code == Code::load_integer) {
    (top++)->integer = load_integer(sources[instruction.index], row);
  } else if (instruction.code == Code::load_number) {
    (top++)->number = load_number(sources[instruction.index], row);
  } else {
    return false;
  }
  return true;
}

// Instructions that change a value in place; returns false for others.
bool change(Code code, Value& a, Value& b) {
  switch (code) {
    case Code::float_top:
      return b.number = static_cast<double>(b.integer), true;
    case Code::float_below:
      return a.number = static_cast<double>(a.integer), true;
    case Code::truth:
      return b.integer = b.integer != 0 ? 1 : 0, true;
    case Code::truth_number:
      return b.integer = b.number != 0 ? 1 : 0, true;
    case Code::negate:
      return b.integer = wrapped(0 - bits(b.integer)), true;
    case Code::negate_number:
      return b.number = -b.number, true;
    case Code::complement:
      return b.integer = b.integer == 0 ? 1 : 0, true;
    case Code::swap:
      return std::swap(a, b), true;
    case Code::sleep_us:
    case Code::spin_us:
      wait_us(b.integer, code == Code::spin_us);
      return b.integer = 0, true;
    default:
      return false;
  }
}

bool is_for_numbers(Code code) {
  switch (code) {
    case Code::add_number:
    case Code::subtract_number:
    case Code::multiply_number:
    case Code::divide_number:
    case Code::modulo_number:
    case Code::equal_number:
    case Code::unequal_number:
    case Code::less_number:
    case Code::less_equal_number:
    case Code::throw_at_number:
      return true;
    default:
      return false;
  }
}

}  // namespace

Outcome run(const Program& program, std::span<const Source> sources, size_t row, Value* stack) {
  Value* top = stack + 2;  // So that there are always two values below it.
  for (size_t at = 0; at < program.instructions.size();) {
    const Instruction& instruction = program.instructions[at++];
    const Code code = instruction.code;
    if (push(instruction, sources, row, top) || change(code, top[-2], top[-1])) continue;
    if (code == Code::skip_if_zero || code == Code::skip_unless_zero) {
      if ((top[-1].integer == 0) == (code == Code::skip_if_zero)) {
        at = instruction.index;
      } else {
        --top;
      }
      continue;
    }
    --top;
    const Outcome outcome = is_for_numbers(code) ? combine_numbers(code, top[-1], *top) : combine(code, top[-1], *top);
    if (outcome == Outcome::done) continue;
    stack[0] = *top;
    return outcome;
  }
  stack[0] = top[-1];
  return Outcome::done;
}

bool loadable(DType dtype, bool& is_float) {
  is_float = dtype == DType::f32 || dtype == DType::f64;
  return dtype != DType::bytes && dtype != DType::f16 && dtype != DType::bf16;
}

}  // namespace headpond::plan
