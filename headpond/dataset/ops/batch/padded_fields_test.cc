// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/batch.h"
#include "headpond/dataset/ops/batch/padded_batch_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

const Spec kPaddedSpec = {{"x", DType::i32, {kUnknown, 2}}, {"", DType::bytes, {}}};

std::vector<PaddedField> padded_fields_of(const PaddedBatchOptions& options) {
  return padded_fields("padded_batch", kPaddedSpec, options.padded_shapes, options.padding_values);
}

TEST(PaddedFields, TakesTheInputsDimensionsWhereNoneIsGiven) {
  const auto limits = [](const PaddedBatchOptions& options) { return to_string(padded_fields_of(options)); };
  EXPECT_EQ(limits({}), ", x=[?,2] pad 0, 1=[] pad 0");
  EXPECT_EQ(limits({.padded_shapes = {{"x", {5, 3}}}}), ", x=[5,3] pad 0, 1=[] pad 0");
  EXPECT_EQ(limits({.padded_shapes = {{"x", {kUnknown, kUnknown}}, {"1", {}}}, .padding_values = {{"x", -1}}}),
            ", x=[?,2] pad -1, 1=[] pad 0");
}

TEST(PaddedFields, NamesTextsInThePlan) {
  const auto said = [](const std::string& text) { return padded_fields_of({.padding_values = {{"1", text}}})[1].said; };
  EXPECT_EQ(said("<pad>"), "'<pad>'");
  EXPECT_EQ(said("it's\n"), "'it\\x27s\\x0a'");
  EXPECT_EQ(said(""), "''");
  EXPECT_NE(said(std::string(100, 'a') + "b"), said(std::string(100, 'a') + "c"));
  EXPECT_EQ(padded_fields_of({})[1].said, "0") << "as in states of older plans";
}

TEST(PaddedFields, RefusesWhatCannotBe) {
  const auto refused = [](const PaddedBatchOptions& options) -> std::string {
    try {
      (void)padded_fields_of(options);
    } catch (const Exception& exception) {
      return exception.error().message();
    }
    return "";
  };
  EXPECT_EQ(refused({}), "");
  EXPECT_EQ(refused({.padded_shapes = {{"y", {1}}}}),
            "padded_batch: padded_shapes names field 'y', which is not in {'x': int32[?,2], 1: bytes[]}");
  EXPECT_NE(refused({.padding_values = {{"0", 1}}}), "");
  EXPECT_EQ(refused({.padded_shapes = {{"x", {5}}}}),
            "padded_batch: padded_shapes of field 'x' is [5], which is not of the rank of [?,2]");
  EXPECT_EQ(refused({.padding_values = {{"x", 0.5}}}),
            "padded_batch: 0.5 is not a padding value for field 'x' of dtype int32");
  EXPECT_EQ(refused({.padding_values = {{"1", 0}}}),
            "padded_batch: 0 is not a padding value for field '1' of dtype bytes");
  EXPECT_EQ(refused({.padding_values = {{"x", "a"}}}),
            "padded_batch: 'a' is not a padding value for field 'x' of dtype int32");
}

TEST(CheckPadded, NamesFieldElementShapeAndLimit) {
  const auto fields = padded_fields_of({.padded_shapes = {{"x", {3, kUnknown}}}});
  const auto row = [](const Shape& x) { return Element{Tensor::empty(DType::i32, x), Tensor::scalar("s")}; };
  EXPECT_FALSE(check_padded(kPaddedSpec, fields, 0, row({3, 2})));
  EXPECT_FALSE(check_padded(kPaddedSpec, fields, 0, row({0, 1})));
  const Error longer = check_padded(kPaddedSpec, fields, 4, row({4, 2}));
  EXPECT_EQ(longer.kind(), ErrorKind::DataLoss);
  EXPECT_EQ(longer.message(),
            "field 'x' of element 4 of the batch has shape [4,2], longer than the padded shape [3,2]");
  const Error rank = check_padded(kPaddedSpec, fields, 1, row({4}));
  EXPECT_EQ(rank.kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(rank.message(), "field 'x' of element 1 of the batch is int32[4], which cannot be padded to int32[3,2]");
  EXPECT_EQ(check_padded(kPaddedSpec, fields, 0, {Tensor::scalar(1)}).kind(), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace headpond::internal
