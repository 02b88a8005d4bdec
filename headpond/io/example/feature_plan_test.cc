// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/io/example/feature_plan_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Where = FeaturePlan::Where;

std::string refusal(std::vector<ExampleFeature> features, Where where = Where::features) {
  try {
    const FeaturePlan plan(std::move(features), where, {});
  } catch (const Exception& error) {
    EXPECT_EQ(error.error().kind(), ErrorKind::InvalidArgument);
    return error.error().message();
  }
  return "";
}

TEST(FeaturePlan, SaysWhatEachKindGives) {
  using enum FeatureKind;
  const FeaturePlan plan({{.key = "a", .dtype = u8, .shape = {28, 28}},
                          {.key = "b", .dtype = i64, .kind = VarLen},
                          {.key = "c", .dtype = f32, .kind = Ragged, .row_lengths = "b"},
                          {.key = "d", .dtype = bytes, .shape = {2}, .kind = FixedLenSequence}},
                         Where::features, {});
  std::vector<std::string> texts;
  for (const FieldSpec& field : plan.fields()) {
    texts.push_back(field.name + " " + std::string(name(field.dtype)) + field.shape.to_string());
  }
  EXPECT_THAT(texts,
              ElementsAre("a uint8[28,28]", "b int64[?]", "c float32[?]", "c.row_splits int64[?]", "d bytes[?,2]"));
  EXPECT_EQ(plan.features()[3].field, 4U);
  EXPECT_EQ(plan.features()[2].row_lengths_key, plan.features()[1].key);
}

TEST(FeaturePlan, RefusesWhatContradictsItself) {
  using enum FeatureKind;
  EXPECT_THAT(refusal({{.key = "a"}, {.key = "a", .dtype = i64}}), HasSubstr("feature 'a': requested twice"));
  EXPECT_THAT(refusal({{.key = "a", .dtype = i32}}), HasSubstr("int32"));
  EXPECT_THAT(refusal({{.key = "a", .dtype = u8, .kind = VarLen}}), HasSubstr("uint8 needs FixedLen"));
  EXPECT_THAT(refusal({{.key = "a", .dtype = u8, .kind = FixedLenSequence}}), HasSubstr("uint8"));
  EXPECT_THAT(refusal({{.key = "a", .shape = {2}, .kind = VarLen}}), HasSubstr("shape applies only to"));
  EXPECT_THAT(refusal({{.key = "a", .shape = {kUnknown}}}), HasSubstr("[?]"));
  EXPECT_THAT(refusal({{.key = "a", .shape = {int64_t{1} << 40, int64_t{1} << 40}}}), HasSubstr("too large"));
  EXPECT_THAT(refusal({{.key = "a", .shape = {int64_t{1} << 61}}}), HasSubstr("too large"));
  EXPECT_THAT(refusal({{.key = "a", .shape = {0}, .kind = FixedLenSequence}}), HasSubstr("cannot be counted"));
  EXPECT_THAT(refusal({{.key = "a", .kind = Ragged}}), HasSubstr("needs row_lengths"));
  EXPECT_THAT(refusal({{.key = "a", .row_lengths = "b"}}), HasSubstr("row_lengths"));
  EXPECT_THAT(refusal({{.key = "a", .allow_missing = true}}), HasSubstr("allow_missing"));
  EXPECT_THAT(refusal({{.key = "a", .kind = Ragged, .row_lengths = "b"}, {.key = "a.row_splits", .dtype = i64}}),
              HasSubstr("two fields"));
}

TEST(FeaturePlan, RefusesMoreDimensionsThanATensorHas) {
  const auto ones = [](int rank) { return Shape(std::vector<int64_t>(static_cast<size_t>(rank), 1)); };
  using enum FeatureKind;
  EXPECT_EQ(refusal({{.key = "a", .shape = ones(32)}}), "");
  EXPECT_THAT(refusal({{.key = "a", .shape = ones(33)}}), HasSubstr("33 dimensions; at most 32"));
  for (const Where where : {Where::features, Where::lists}) {
    EXPECT_EQ(refusal({{.key = "a", .shape = ones(31), .kind = FixedLenSequence}}, where), "");
    EXPECT_THAT(refusal({{.key = "a", .shape = ones(32), .kind = FixedLenSequence}}, where), HasSubstr("33 dim"));
  }
}

TEST(FeaturePlan, RefusesRowLengthsThatCannotBeLengths) {
  using enum FeatureKind;
  const ExampleFeature rows = {.key = "a", .dtype = i64, .kind = Ragged, .row_lengths = "n"};
  EXPECT_THAT(refusal({rows, {.key = "n", .dtype = f32, .kind = VarLen}}),
              HasSubstr("feature 'a': row_lengths 'n', which is requested as float32; lengths are int64"));
  EXPECT_THAT(refusal({{.key = "n", .dtype = bytes, .kind = VarLen}, rows}), HasSubstr("requested as bytes"));
  EXPECT_EQ(refusal({rows, {.key = "n", .dtype = i64, .shape = {3}, .kind = FixedLen}}), "");
  EXPECT_THAT(refusal({{.key = "a", .dtype = i64, .kind = Ragged, .row_lengths = "a"}}), HasSubstr("names itself"));
}

TEST(FeaturePlan, RefusesDefaultsThatDoNotFit) {
  using enum FeatureKind;
  EXPECT_THAT(refusal({{.key = "a", .dtype = f32, .default_value = Tensor::scalar(int64_t{1})}}),
              HasSubstr("float32[] requested with a default of int64[]"));
  const Tensor three = Tensor::from<float>(std::vector<float>{1, 2, 3}, {3});
  EXPECT_THAT(refusal({{.key = "a", .shape = {2}, .default_value = three}}), HasSubstr("float32[3]"));
  EXPECT_THAT(refusal({{.key = "a", .kind = VarLen, .default_value = Tensor::scalar(1.0F)}}), HasSubstr("default"));
  EXPECT_EQ(refusal({{.key = "a", .shape = {3}, .default_value = three}}), "");
}

TEST(FeaturePlan, ReshapesADefaultWithAsManyValues) {
  const FeaturePlan plan(
      {{.key = "a", .shape = {2, 2}, .default_value = Tensor::from(std::vector<float>{1, 2, 3, 4}, {4})},
       {.key = "b",
        .dtype = bytes,
        .shape = {1, 2},
        .default_value = Tensor::from(std::vector<std::string>{"x", "yz"}, {2})},
       {.key = "c", .dtype = i64, .shape = {}, .default_value = Tensor::from(std::vector<int64_t>{7}, {1, 1})},
       {.key = "d", .shape = {0, 3}, .default_value = Tensor::from(std::vector<float>{}, {0})}},
      Where::features, {});
  std::vector<Tensor> out(4);
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(plan.features()[i].default_value->give(i, nullptr, {{}, out}));
    EXPECT_TRUE(out[i].has_shape(plan.features()[i].asked.shape)) << i;
  }
  EXPECT_THAT(out[0].as<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(out[1].bytes_at(1), "yz");
  EXPECT_EQ(out[2].item<int64_t>(), 7);
}

TEST(FeaturePlan, TakesAHundredThousandFeatures) {
  std::vector<ExampleFeature> features;
  for (int i = 0; i < 100'000; ++i) features.push_back({.key = "feature " + std::to_string(i)});
  EXPECT_EQ(refusal(features), "");
  features.push_back({.key = "feature 7"});
  EXPECT_THAT(refusal(std::move(features)), HasSubstr("requested twice"));
}

TEST(FeaturePlan, RepeatsAScalarDefault) {
  const FeaturePlan plan({{.key = "a", .shape = {2}, .default_value = Tensor::scalar(1.5F)},
                          {.key = "b", .dtype = bytes, .shape = {2, 1}, .default_value = Tensor::scalar("xy")}},
                         Where::features, {});
  std::vector<Tensor> out(2);
  for (size_t i = 0; i < 2; ++i) ASSERT_TRUE(plan.features()[i].default_value->give(i, nullptr, {{}, out}));
  EXPECT_THAT(out[0].as<float>(), ElementsAre(1.5F, 1.5F));
  EXPECT_TRUE(out[1].has_shape({2, 1}));
  EXPECT_EQ(out[1].bytes_at(1), "xy");
}

TEST(FeaturePlan, TakesOnlySequencesAndRowsFromLists) {
  using enum FeatureKind;
  for (const FeatureKind kind : {FixedLen, VarLen}) {
    EXPECT_THAT(refusal({{.key = "a", .kind = kind}}, Where::lists), HasSubstr("feature list"));
  }
  EXPECT_EQ(refusal({{.key = "a", .kind = Ragged}, {.key = "b", .dtype = u8, .kind = FixedLenSequence}}, Where::lists),
            "");
  EXPECT_THAT(refusal({{.key = "a", .kind = Ragged, .row_lengths = "b"}}, Where::lists), HasSubstr("row_lengths"));
  EXPECT_THAT(refusal({{.key = "a", .dtype = u8, .kind = Ragged}}, Where::lists), HasSubstr("uint8"));
}

}  // namespace
}  // namespace headpond::internal
