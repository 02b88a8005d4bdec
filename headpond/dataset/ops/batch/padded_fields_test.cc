// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/batch.h"
#include "headpond/dataset/ops/batch/padded_batch_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

const Spec kSpec = {{"x", DType::i32, {kUnknown, 2}}, {"", DType::bytes, {}}};

std::vector<PaddedField> fields_of(const PaddedBatchOptions& options) {
  return padded_fields("padded_batch", kSpec, options.padded_shapes, options.padding_values);
}

TEST(PaddedFields, TakesTheInputsDimensionsWhereNoneIsGiven) {
  const auto limits = [](const PaddedBatchOptions& options) { return to_string(fields_of(options)); };
  EXPECT_EQ(limits({}), ", x=[?,2] pad 0, 1=[] pad 0");
  EXPECT_EQ(limits({.padded_shapes = {{"x", {5, 3}}}}), ", x=[5,3] pad 0, 1=[] pad 0");
  EXPECT_EQ(limits({.padded_shapes = {{"x", {kUnknown, kUnknown}}, {"1", {}}}, .padding_values = {{"x", -1}}}),
            ", x=[?,2] pad -1, 1=[] pad 0");
}

TEST(PaddedFields, RefusesWhatCannotBe) {
  const auto refused = [](const PaddedBatchOptions& options) -> std::string {
    try {
      (void)fields_of(options);
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
  EXPECT_NE(refused({.padding_values = {{"1", 0}}}), "");
}

TEST(CheckPadded, NamesFieldElementShapeAndLimit) {
  const auto fields = fields_of({.padded_shapes = {{"x", {3, kUnknown}}}});
  const auto row = [](const Shape& x) { return Element{Tensor::empty(DType::i32, x), Tensor::scalar("s")}; };
  EXPECT_FALSE(check_padded(kSpec, fields, 0, row({3, 2})));
  EXPECT_FALSE(check_padded(kSpec, fields, 0, row({0, 1})));
  const Error longer = check_padded(kSpec, fields, 4, row({4, 2}));
  EXPECT_EQ(longer.kind(), ErrorKind::DataLoss);
  EXPECT_EQ(longer.message(),
            "field 'x' of element 4 of the batch has shape [4,2], longer than the padded shape [3,2]");
  const Error rank = check_padded(kSpec, fields, 1, row({4}));
  EXPECT_EQ(rank.kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(rank.message(), "field 'x' of element 1 of the batch is int32[4], which cannot be padded to int32[3,2]");
  EXPECT_EQ(check_padded(kSpec, fields, 0, {Tensor::scalar(1)}).kind(), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace headpond::internal
