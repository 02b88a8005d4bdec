// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "headpond/dataset/ops.h"
#include "headpond/plan/plan_test_internal.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;

std::string range(int stop) { return step("range", "stop = " + std::to_string(stop)); }
const std::string kTwo = range(5) + step("batch", "batch_size = 2");  // [0 1], [2 3], [4]

TEST(PlanRegroup, TakesBatchesApart) {
  expect(kTwo + step("unbatch") + step("skip", "count = 3"), {R"("x":3)", R"("x":4)"});
  expect(kTwo + step("rebatch", "batch_size = 3"), {R"("x":[0,1,2])", R"("x":[3,4])"});
  expect(kTwo + step("rebatch", "batch_size = [1, 3], drop_remainder = true"),
         {R"("x":[0])", R"("x":[1,2,3])", R"("x":[4])"});
  EXPECT_THAT(refused(range(3) + step("unbatch")), HasSubstr("f.toml:5: unbatch: "));
  EXPECT_THAT(refused(kTwo + step("rebatch", "batch_size = [1, 'a']")), HasSubstr("rebatch: batch_size"));
  EXPECT_THAT(refused(kTwo + step("rebatch", "batch_size = 0")), HasSubstr("at least 1"));
}

TEST(PlanRegroup, MakesBucketsByExpressionOrLength) {
  expect(range(5) + step("bucket_by_sequence_length",
                         "element_length_func = 'x % 3', bucket_boundaries = [2], "
                         "bucket_batch_sizes = [2, 1]"),
         {R"("x":[0,1])", R"("x":[2])", R"("x":[3,4])"});
  const std::string buckets = "element_length_func = 'x', bucket_boundaries = 2, bucket_batch_sizes = [1, 2], ";
  expect(kTwo + step("bucket_by_sequence_length", buckets + "padding_values = -1, padded_shapes = [3]"),
         {R"("x":[[0,1,-1],[2,3,-1]])", R"("x":[[4,-1,-1]])"});
  expect(kTwo + step("bucket_by_sequence_length", buckets + "no_padding = true, drop_remainder = true"),
         {R"("x":[[0,1],[2,3]])", R"("x":[[4]])"});
  EXPECT_THAT(delivered(kTwo + step("bucket_by_sequence_length", buckets + "pad_to_bucket_boundary = true"))[0],
              HasSubstr("a length of 2"));
  EXPECT_THAT(
      refused(range(5) + step("bucket_by_sequence_length",
                              "element_length_func = 'x * 0.5', bucket_boundaries = [2], bucket_batch_sizes = [2, 1]")),
      HasSubstr("must be one integer"));
}

TEST(PlanRegroup, BatchesBySize) {
  expect(range(5) + step("batch_by_size", "max_size = 4, size_func = 'x'"),
         {R"("x":[0,1])", R"("x":[2])", R"("x":[3])", R"("x":[4])"});
  expect(range(5) + step("batch_by_size", "max_size = 6, size_func = 'x', sum_of_sizes = true"),
         {R"("x":[0,1,2,3])", R"("x":[4])"});
  expect(range(4) + step("batch_by_size", "max_size = 9, size_func = 'x', max_elements = 1, bucket_boundaries = [2]"),
         {R"("x":[0])", R"("x":[1])", R"("x":[2])", R"("x":[3])"});
}

TEST(PlanRegroup, BatchesByLengthsOfAFile) {
  const std::string path = testing::TempDir() + "/plan_lengths.npy";
  ASSERT_TRUE(write_lengths(headpond::range(5), map([](int64_t x) { return x; }), path));
  const std::string file = "lengths = '" + path + "', ";
  expect(range(5) + step("dynamic_bucket", file + "max_padded = 4, buckets = 1"),
         {R"("x":[0,1])", R"("x":[2])", R"("x":[3])", R"("x":[4])"});
  expect(range(5) + step("dynamic_bucket", file + "max_padded_seconds = 4.5, rate = 2, buckets = 2, window = 9"),
         {R"("x":[2,3])", R"("x":[0,1])", R"("x":[4])"});
  EXPECT_THAT(refused(range(5) + step("dynamic_bucket", file + "buckets = 3")), HasSubstr("is needed"));
  EXPECT_THAT(delivered(range(4) + step("dynamic_bucket", file + "max_padded = 4"))[0], HasSubstr("5 lengths"));
}

TEST(PlanRegroup, BucketsByLengthsOfAFile) {
  const std::string path = testing::TempDir() + "/plan_bucket_lengths.npy";
  ASSERT_TRUE(write_lengths(headpond::range(5), map([](int64_t x) { return x % 2; }), path));
  const std::string sizes = "bucket_boundaries = [1], bucket_batch_sizes = [2, 2]";
  expect(range(5) + step("bucket_by_sequence_length", "lengths = '" + path + "', " + sizes),
         {R"("x":[0,2])", R"("x":[1,3])", R"("x":[4])"});
  EXPECT_THAT(refused(range(5) + step("bucket_by_sequence_length",
                                      "lengths = '" + path + "', element_length_func = 'x', " + sizes)),
              HasSubstr("one of them is needed"));
}

TEST(PlanRegroup, GroupsAndWindows) {
  expect(range(5) + step("group_by_window", "key_func = 'x % 2', window_size = 2"),
         {R"("x":[0,2])", R"("x":[1,3])", R"("x":[4])"});
  expect(kTwo + step("group_by_window", "key_func = '0 * 1', window_size = 3, reduce_func = 'padded_batch'"),
         {R"("x":[[0,1],[2,3],[4,0]])"});
  expect(range(5) + step("window", "size = 2, shift = 3, stride = 2"), {R"("x":[0,2])", R"("x":[3])"});
  expect(range(5) + step("window", "size = 2, drop_remainder = true"), {R"("x":[0,1])", R"("x":[2,3])"});
  expect(kTwo + step("window", "size = 2, shift = 1, reduce_func = 'padded_batch'"),
         {R"("x":[[0,1],[2,3]])", R"("x":[[2,3],[4,0]])", R"("x":[[4]])"});
  EXPECT_THAT(refused(range(5) + step("group_by_window", "key_func = 'x', window_size = 0")), HasSubstr("at least 1"));
  EXPECT_THAT(refused(range(5) + step("window", "size = 0")), HasSubstr("f.toml:6: window: "));
}

TEST(PlanRegroup, BatchesWithoutPadding) {
  expect(kTwo + step("ragged_batch", "batch_size = 3"), {R"("x":[0,1,2,3,4],"x.row_splits":[0,2,4,5])"});
  expect(kTwo + step("ragged_batch", "batch_size = 2, drop_remainder = true, row_splits_dtype = 'int32'"),
         {R"("x":[0,1,2,3],"x.row_splits":[0,2,4])"});
}

TEST(PlanRegroup, BatchesSparsely) {
  expect(kTwo + step("sparse_batch", "batch_size = 2, row_shape = [3]"),
         {R"("x.indices":[[0,0],[0,1],[1,0],[1,1]],"x.values":[0,1,2,3],"x.shape":[2,3])",
          R"("x.indices":[[0,0]],"x.values":[4],"x.shape":[1,3])"});
  expect(range(1) + step("sparse_batch", "batch_size = 2, row_shape = []"),
         {R"("x.indices":[[0]],"x.values":[0],"x.shape":[1])"});
  EXPECT_THAT(refused(kTwo + step("sparse_batch", "batch_size = 2, row_shape = [3, 4]")), HasSubstr("rank"));
}

TEST(PlanRegroup, PadsTextsWithTexts) {
  const std::string texts =
      step("text_lines", "paths = ['" + testing::TempDir() + "/plan_texts'], num_parallel_reads = 2");
  std::ofstream(testing::TempDir() + "/plan_texts") << "a\nb\nc\n";
  const std::string pairs = texts + step("batch", "batch_size = 2");
  expect(pairs + step("padded_batch", "batch_size = 2, padding_values = '?'"),
         {R"("x":[[{"bytes":"YQ=="},{"bytes":"Yg=="}],[{"bytes":"Yw=="},{"bytes":"Pw=="}]])"});
  expect(pairs + step("bucket_by_sequence_length",
                      "element_length_func = 'x', bucket_boundaries = [9], bucket_batch_sizes = [2, 1], "
                      "padding_values = { x = '?' }"),
         {R"("x":[[{"bytes":"YQ=="},{"bytes":"Yg=="}],[{"bytes":"Yw=="},{"bytes":"Pw=="}]])"});
  EXPECT_THAT(refused(kTwo + step("padded_batch", "batch_size = 2, padding_values = '?'")),
              HasSubstr("'?' is not a padding value"));
}

TEST(PlanRegroup, SharesRowsByAnExpression) {
  const std::string four = range(4) + step("batch", "batch_size = 4");
  expect(four + step("distribute", "world_size = 2, rank = 0, cost_func = '5 - x'"), {R"("x":[0,3])"});
  expect(four + step("distribute", "world_size = 2, rank = 1, cost_func = '5 - x', uneven = 'pad'"), {R"("x":[1,2])"});
  expect(kTwo + step("batch", "batch_size = 2, drop_remainder = true") +
             step("distribute", "world_size = 2, rank = 1, cost_func = 'x'"),
         {R"("x":[[2,3]])"});
  EXPECT_THAT(refused(four + step("distribute", "world_size = 2, rank = 0, cost_func = 'x', cost_field = 'x'")),
              HasSubstr("one of them is needed"));
  EXPECT_THAT(refused(four + step("distribute", "world_size = 2, rank = 0, cost_func = 'x * 0.5'")),
              HasSubstr("must be one integer"));
}

TEST(PlanRegroup, PacksSequences) {
  expect(kTwo + step("pack", "length = 5, padding_values = 9"),
         {R"("x":[0,1,2,3,4],"x_segment_ids":[1,1,2,2,3],"x_positions":[0,1,0,1,0])"});
  expect(kTwo + step("pack", "length = { x = 3 }, fit = 'best_fit', num_packing_bins = 1, padding_values = 9"),
         {R"("x":[0,1,9],"x_segment_ids":[1,1,0],"x_positions":[0,1,0])",
          R"("x":[2,3,4],"x_segment_ids":[1,1,2],"x_positions":[0,1,0])"});
  EXPECT_THAT(refused(kTwo + step("pack", "length = { y = 3 }")), HasSubstr("'y'"));
}

}  // namespace
}  // namespace headpond::plan
