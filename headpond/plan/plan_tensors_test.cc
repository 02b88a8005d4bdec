// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/plan_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headpond::plan {
namespace {

PlanArguments arguments(const PlanValue& value) { return {"f.toml", 1, "op", &value, {"a"}}; }

template <class Ask>
std::string problem(const Ask& ask) {
  try {
    (void)ask();
    return "no error";
  } catch (const PlanError& error) {
    return error.error().message();
  }
}

std::string problem_of(const std::string& value, DType dtype) {
  const PlanValue table = parse_toml("a = " + value, "f.toml");
  return problem([&] { return to_scalar(arguments(table), "a", dtype); });
}

template <class T>
void expect_scalar(const std::string& value, DType dtype, T expected) {
  const PlanValue table = parse_toml("a = " + value, "f.toml");
  const Tensor made = to_scalar(arguments(table), "a", dtype);
  EXPECT_EQ(made.dtype(), dtype) << value;
  EXPECT_EQ(made.shape(), Shape()) << value;
  EXPECT_EQ(made.as<T>()[0], expected) << value;
}

TEST(PlanTensors, DTypesHaveNumPysNames) {
  for (const DType dtype : {u8, i64, f16, f32, boolean, bytes}) {
    const PlanValue value = parse_toml("a = '" + std::string(name(dtype)) + "'", "f.toml");
    EXPECT_EQ(to_dtype(arguments(value), "a"), dtype);
  }
  const PlanValue wrong = parse_toml("\na = 'float23'", "f.toml");
  EXPECT_THAT(problem([&] { return to_dtype(arguments(wrong), "a"); }),
              testing::StartsWith("f.toml:2: op: a is 'float23'; did you mean 'float"));
  const PlanValue none = parse_toml("", "f.toml");
  EXPECT_EQ(problem([&] { return to_dtype(arguments(none), "a"); }), "f.toml:1: op: a is missing");
}

TEST(PlanTensors, ShapesAreListsOfDimensions) {
  const PlanValue value = parse_toml("a = [2, -1]\n", "f.toml");
  const PlanArguments args = arguments(value);
  EXPECT_EQ(to_shape(args, "a", args.value("a")), Shape({2, kUnknown}));
  const PlanValue wrong = parse_toml("a = [2, -2]\n", "f.toml");
  EXPECT_EQ(problem([&] { return to_shape(arguments(wrong), "a", arguments(wrong).value("a")); }),
            "f.toml:1: op: a has a dimension -2; -1 is unknown");
  const PlanValue number = parse_toml("a = 2\n", "f.toml");
  EXPECT_EQ(problem([&] { return to_shape(arguments(number), "a", arguments(number).value("a")); }),
            "f.toml:1: op: a must be a list of dimensions, not an integer");
}

TEST(PlanTensors, ScalarsAreOfTheDTypeThatIsAskedFor) {
  expect_scalar<uint8_t>("255", u8, 255);
  expect_scalar<int8_t>("-128", i8, -128);
  expect_scalar<uint16_t>("65535", u16, 65535);
  expect_scalar<int16_t>("-1", i16, -1);
  expect_scalar<uint32_t>("4294967295", u32, 4294967295U);
  expect_scalar<int32_t>("-1", i32, -1);
  expect_scalar<uint64_t>("9223372036854775807", u64, 9223372036854775807U);
  expect_scalar<int64_t>("-1", i64, -1);
  expect_scalar<float>("0.5", f32, 0.5F);
  expect_scalar<float>("3", f32, 3.0F);
  expect_scalar<float>("-inf", f32, -std::numeric_limits<float>::infinity());
  expect_scalar<double>("1e300", f64, 1e300);
  expect_scalar<bool>("true", boolean, true);
  const PlanValue text = parse_toml("a = 'none'", "f.toml");
  EXPECT_EQ(to_scalar(arguments(text), "a", bytes).bytes_at(0), "none");
}

TEST(PlanTensors, WhatADTypeCannotHoldIsRefused) {
  EXPECT_EQ(problem_of("256", u8), "f.toml:1: op: a is 256, beyond uint8");
  EXPECT_EQ(problem_of("-1", u64), "f.toml:1: op: a is -1, beyond uint64");
  EXPECT_EQ(problem_of("0.5", i64), "f.toml:1: op: a must be an integer, not a float");
  EXPECT_EQ(problem_of("1e39", f32), "f.toml:1: op: a is 1e+39, beyond float32");
  EXPECT_EQ(problem_of("'1'", f64), "f.toml:1: op: a must be a number, not a string");
  EXPECT_EQ(problem_of("1", boolean), "f.toml:1: op: a must be true or false, not an integer");
  EXPECT_EQ(problem_of("1", bytes), "f.toml:1: op: a must be a string, not an integer");
  EXPECT_EQ(problem_of("1", f16), "f.toml:1: op: a of float16 cannot be given");
}

TEST(PlanTensors, AreFilledWithAValue) {
  const Tensor numbers = filled({2, 3}, Tensor::scalar(int16_t{-5}));
  EXPECT_EQ(numbers.shape(), (Shape{2, 3}));
  for (const int16_t value : numbers.as<int16_t>()) EXPECT_EQ(value, -5);
  const Tensor texts = filled({2}, Tensor::scalar("none"));
  EXPECT_EQ(texts.bytes_at(1), "none");
  EXPECT_EQ(filled({0}, Tensor::scalar(1.5F)).size(), 0);
  EXPECT_EQ(filled({}, Tensor::scalar(true)).item<bool>(), true);
}

}  // namespace
}  // namespace headpond::plan
