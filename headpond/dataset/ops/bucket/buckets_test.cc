// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/bucket/buckets_internal.h"
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

const Spec kBucketSpec = {{"x", DType::i64, {kUnknown}}};

TEST(Buckets, HaveTheLengthsBelowTheirBoundary) {
  const Buckets buckets("op", kBucketSpec, {2, 5}, {});
  const std::vector<std::pair<int64_t, int64_t>> cases = {{0, 0}, {1, 0}, {2, 1}, {4, 1}, {5, 2}, {INT64_MAX, 2}};
  for (const auto& [length, bucket] : cases) {
    const auto member = buckets.member(length);
    ASSERT_TRUE(member);
    EXPECT_EQ(member->key, bucket) << length;
    EXPECT_EQ(member->size, length);
  }
  EXPECT_FALSE(buckets.member(-1));
  EXPECT_EQ(Buckets("op", kBucketSpec, {}, {}).member(7)->key, 0);
}

TEST(Buckets, ArePaddedToTheirBoundary) {
  const Buckets buckets("op", kBucketSpec, {2, 5}, {.pad_to_bucket_boundary = true});
  EXPECT_FALSE(buckets.member(5));
  const std::vector<Element> rows = {Element{Tensor::from(std::vector<int64_t>{7, 8}, {2})}};
  Context context;
  Element out;
  buckets.stack(1, rows, context, out);
  EXPECT_EQ(text_of(out), "[1,4][7 8 0 0]");
  EXPECT_TRUE(buckets.check({.key = 0}, {}, rows[0])) << "too long for its bucket";
  EXPECT_FALSE(buckets.check({.key = 1}, {}, rows[0]));
  EXPECT_EQ(buckets.to_string(), ", x=[?] pad 0, pad_to_bucket_boundary");
}

TEST(Buckets, AreRefused) {
  EXPECT_THROW(Buckets("op", kBucketSpec, {0, 2}, {}), Exception);
  EXPECT_THROW(Buckets("op", kBucketSpec, {2, 2}, {}), Exception);
  EXPECT_THROW(Buckets("op", kBucketSpec, {}, {.pad_to_bucket_boundary = true}), Exception);
  EXPECT_THROW(Buckets("op", kBucketSpec, {2}, {.padding_values = {{"x", 1}}, .no_padding = true}), Exception);
  EXPECT_THROW(Buckets("op", kBucketSpec, {2}, {.padding_values = {{"y", 1}}}), Exception);
}

TEST(RowStack, PadsOrAsksForOneShape) {
  const Element two{Tensor::from(std::vector<int64_t>{1, 2}, {2})}, one{Tensor::from(std::vector<int64_t>{3}, {1})};
  const RowStack plain = RowStack::plain(kBucketSpec),
                 padded = RowStack::padded("op", kBucketSpec, {{"x", {3}}}, {{"x", -1}});
  EXPECT_FALSE(plain.check(nullptr, 0, two));
  EXPECT_TRUE(plain.check(&two, 1, one));
  EXPECT_FALSE(padded.check(&two, 1, one));
  Context context;
  Element out;
  padded.stack(std::vector{two, one}, context, out);
  EXPECT_EQ(text_of(out), "[2,3][1 2 -1 3 -1 -1]");
  EXPECT_EQ(to_string(padded.spec(kUnknown)), "{'x': int64[?,3]}");
  EXPECT_EQ(to_string(plain.spec(4)), "{'x': int64[4,?]}");
}

}  // namespace
}  // namespace headpond::internal
