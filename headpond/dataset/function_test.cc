// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/function.h"

#include <bit>
#include <cmath>

#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// What the function gives for these fields, as text; "!" and the error.
template <class F>
std::string called(F f, const std::vector<Tensor>& fields) {
  const Function function = make_function(f);
  Spec spec;
  Element in;
  for (const Tensor& field : fields) {
    spec.push_back({"", field.dtype(), field.shape()});
    in.append(field);
  }
  function.check("map", spec);
  Element out;
  const Error error = function.call(in, out);
  if (error) return "!" + error.message();
  if (function.type_tells_all) {
    EXPECT_EQ(out.size(), function.result.size());
    for (size_t i = 0; i < out.size(); ++i) {
      EXPECT_EQ(out[i].dtype(), function.result[i].dtype);
      EXPECT_EQ(out[i].shape(), function.result[i].shape);
    }
  }
  return text_of(out);
}

template <class T>
Tensor three() {
  const T values[] = {T{0}, T{1}, T{1}};
  return Tensor::from(std::span<const T>(values), {3});
}

template <class T>
class FunctionOf : public testing::Test {};
using Types = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, float, double>;
TYPED_TEST_SUITE(FunctionOf, Types);

TYPED_TEST(FunctionOf, NumbersTakesAndGivesThem) {
  using T = TypeParam;
  EXPECT_EQ(called([](T x) { return static_cast<int64_t>(x) + 1; }, {Tensor::scalar(T{4})}), "5");
  EXPECT_EQ(called([](std::span<const T> x) { return static_cast<int64_t>(x.size()); }, {three<T>()}), "3");
  const Function function = make_function([](int64_t) { return T{1}; });
  ASSERT_EQ(function.result.size(), 1U);
  EXPECT_EQ(function.result[0].dtype, dtype_of<T>());
  EXPECT_EQ(function.result[0].shape.rank(), 0);
}

TYPED_TEST(FunctionOf, NumbersTakesNoOthers) {
  using T = TypeParam;
  const Tensor other = std::is_same_v<T, double> ? Tensor::scalar(1.0F) : Tensor::scalar(1.0);
  EXPECT_THROW(called([](T x) { return x; }, {other}), Exception);
  EXPECT_THROW(called([](std::span<const T> x) { return x[0]; }, {other}), Exception);
}

TEST(Function, TakesEachKindOfArgument) {
  EXPECT_EQ(called([](bool x) { return !x; }, {Tensor::scalar(true)}), "false");
  EXPECT_EQ(called([](uint8_t x) { return x; }, {Tensor::scalar(true)}), "1") << "bool as a byte";
  EXPECT_EQ(called([](std::span<const bool> x) { return x[2]; }, {three<bool>()}), "true");
  EXPECT_EQ(called([](std::span<const uint16_t> x) { return static_cast<int64_t>(x.size()); },
                   {Tensor::empty(DType::bf16, {2, 3})}),
            "6");
  EXPECT_EQ(called([](std::string_view x) { return std::string(x) + "!"; }, {Tensor::scalar("a")}), "'a!'");
  EXPECT_EQ(called([](const Tensor& x) { return x.size(); }, {three<float>()}), "3");
  EXPECT_EQ(called([](Tensor x) { return x; }, {three<int32_t>()}), "[0 1 1]");
  EXPECT_EQ(called([](const Element& x) { return static_cast<int64_t>(x.size()); }, std::vector<Tensor>(6)), "6");
  EXPECT_EQ(
      called([](int64_t a, const float& b, const std::span<const int32_t> c) { return b + float(a) + float(c[2]); },
             {Tensor::scalar(int64_t{1}), Tensor::scalar(0.5F), three<int32_t>()}),
      "2.5");
}

TEST(Function, GivesEachKindOfResult) {
  const std::vector<Tensor> one = {Tensor::scalar(int64_t{7})};
  EXPECT_EQ(called([](int64_t x) { return x > 3; }, one), "true");
  EXPECT_EQ(called([](int64_t) { return std::string(); }, one), "''");
  EXPECT_EQ(called([](int64_t x) { return std::tuple(x, 0.5F, std::string("c"), true); }, one), "7, 0.5, 'c', true");
  EXPECT_EQ(called([](int64_t) { return three<int32_t>(); }, one), "[0 1 1]");
  EXPECT_EQ(called([](int64_t x) { return std::tuple(three<int32_t>(), x); }, one), "[0 1 1], 7");
  EXPECT_EQ(called([](int64_t x) { return Element{Tensor::scalar(x), Tensor::scalar(x + 1)}; }, one), "7, 8");
  EXPECT_EQ(called([](int64_t x) -> Result<int64_t> { return x; }, one), "7");
  EXPECT_EQ(called([](int64_t x) -> Result<std::tuple<int64_t, bool>> { return std::tuple(x, true); }, one), "7, true");
  EXPECT_EQ(called([](int64_t) -> Result<int64_t> { return fail(ErrorKind::DataLoss, "bad"); }, one), "!bad");
}

TEST(Function, KnowsWhatItsTypeTells) {
  EXPECT_TRUE(
      make_function([](int64_t x) -> Result<std::tuple<int64_t, bool>> { return std::tuple(x, true); }).type_tells_all);
  EXPECT_FALSE(make_function([](int64_t) { return Tensor(); }).type_tells_all);
  EXPECT_FALSE(make_function([](int64_t x) { return std::tuple(x, Tensor()); }).type_tells_all);
  EXPECT_TRUE(make_function([](int64_t x) { return std::tuple(x, Tensor()); }).result.empty());
  EXPECT_FALSE(make_function([](int64_t) { return Element(); }).type_tells_all);
}

TEST(Function, SaysWhichArgumentDoesNotFit) {
  EXPECT_THAT(
      [] {
        called([](int64_t, float x) { return x; }, {Tensor::scalar(int64_t{1}), Tensor::scalar(1.0)});
      },
      ThrowsMessage<Exception>(
          HasSubstr("map: argument 1 of the function takes float32[], the field is {0: float64[]}")));
  EXPECT_THAT(
      [] { called([](int32_t x) { return x; }, {three<int32_t>()}); },
      ThrowsMessage<Exception>(HasSubstr("argument 0 of the function takes int32[], the field is {0: int32[3]}")));
  EXPECT_THAT([] { called([](std::span<const float> x) { return x[0]; }, {three<int32_t>()}); },
              ThrowsMessage<Exception>(HasSubstr("takes float32 values, the field is {0: int32[3]}")));
  EXPECT_THAT([] { called([](std::string_view) { return 1; }, {three<uint8_t>()}); },
              ThrowsMessage<Exception>(HasSubstr("takes bytes[], the field is {0: uint8[3]}")));
}

TEST(Function, SaysHowManyArgumentsItTakes) {
  EXPECT_THAT([] { called([](const Tensor&, const Tensor&) { return 1; }, {three<int32_t>()}); },
              ThrowsMessage<Exception>(
                  HasSubstr("map: the function takes 2 arguments, an element has 1 fields: {0: int32[3]}")));
  EXPECT_THAT([] { called([] { return 1; }, {three<int32_t>()}); },
              ThrowsMessage<Exception>(HasSubstr("takes 0 arguments, an element has 1 fields")));
}

// The bytes of `f` of some numbers near 1, by one of the two loops.
template <class F>
std::vector<uint64_t> each_bits(bool avx2, F f) {
  std::vector<double> in, out(1000);
  for (int i = 0; i < 1000; ++i) in.push_back(1 + i * 0x1p-40);
  avx2 ? each_value_avx2(f, in.data(), out.data(), in.size()) : each_value(f, in.data(), out.data(), in.size());
  std::vector<uint64_t> bits;
  for (const double value : out) bits.push_back(std::bit_cast<uint64_t>(value));
  return bits;
}

TEST(Function, GivesTheSameBytesWithWiderVectors) {
#if defined(__x86_64__)
  if (!has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
#endif
  const auto rounds_twice = [](double x) { return x * x - 1; };
  EXPECT_EQ(each_bits(true, rounds_twice), each_bits(false, rounds_twice));
  EXPECT_NE(each_bits(true, [](double x) { return std::fma(x, x, -1.0); }), each_bits(false, rounds_twice));
  const auto divides = [](double x) { return x / 255; };
  EXPECT_EQ(each_bits(true, divides), each_bits(false, divides));
}

}  // namespace
}  // namespace headpond::internal
