// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/padding_fifo_queue.h"

#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

using ::testing::ElementsAre;
using Padding = QueueTest;

PaddingFIFOQueue vectors(int64_t capacity) {
  return PaddingFIFOQueue({.capacity = capacity, .dtypes = {i64}, .shapes = {Shape{kUnknown}}, .name = "pond"});
}

TEST_F(Padding, ShapesAreRequired) {
  EXPECT_REFUSES("without shapes", PaddingFIFOQueue({.capacity = 1, .dtypes = {i64}}));
  EXPECT_REFUSES("1 shapes for 2 dtypes", PaddingFIFOQueue({.capacity = 1, .dtypes = {i64, i64}, .shapes = {Shape{}}}));
  EXPECT_EQ(vectors(3).shapes()[0], Shape{kUnknown});
}

TEST_F(Padding, AnElementMustFitThePartialShape) {
  const PaddingFIFOQueue queue({.capacity = 4, .dtypes = {i64}, .shapes = {Shape{kUnknown, 2}}, .name = "pond"});
  EXPECT_TRUE(queue.enqueue(Element{Tensor::empty(i64, {5, 2})}));
  EXPECT_TRUE(queue.enqueue(Element{Tensor::empty(i64, {0, 2})}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument,
                    "PaddingFIFOQueue 'pond': component 0: expected shape [?,2], received [5,3]",
                    queue.enqueue(Element{Tensor::empty(i64, {5, 3})}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "received [2]", queue.enqueue(Element{Tensor::empty(i64, {2})}));
  EXPECT_EQ(queue.size(), 2);
}

TEST_F(Padding, DequeueGivesAnElementAsItWasPut) {
  const PaddingFIFOQueue queue = vectors(4);
  ASSERT_TRUE(queue.enqueue(numbers({1, 2, 3})) && queue.enqueue(numbers({})) && queue.enqueue(numbers({4})));
  EXPECT_EQ(values(*queue.dequeue()), range(1, 4));
  EXPECT_EQ((*queue.dequeue())[0].shape(), Shape{0});
  EXPECT_EQ(values(*queue.dequeue()), range(4, 5));
}

TEST_F(Padding, ABatchIsPaddedWithZerosToItsOwnMaximum) {
  const PaddingFIFOQueue queue = vectors(8);
  for (const auto& each : {range(1, 4), range(4, 5), range(5, 5), range(5, 7), range(1, 9)}) {
    ASSERT_TRUE(queue.enqueue(numbers(each)));
  }
  const Result<Element> first = queue.dequeue_many(2);
  ASSERT_TRUE(first);
  EXPECT_EQ((*first)[0].shape(), (Shape{2, 3}));
  EXPECT_THAT(values(*first), ElementsAre(1, 2, 3, 4, 0, 0));
  const Result<Element> second = queue.dequeue_up_to(2);
  ASSERT_TRUE(second);
  EXPECT_EQ((*second)[0].shape(), (Shape{2, 2}));
  EXPECT_THAT(values(*second), ElementsAre(0, 0, 5, 6));
  EXPECT_EQ((*queue.dequeue_many(0))[0].shape(), (Shape{0, 0}));
}

TEST_F(Padding, KnownDimensionsStayAndStringsArePaddedWithEmptyOnes) {
  const PaddingFIFOQueue queue(
      {.capacity = 4, .dtypes = {bytes, f32}, .shapes = {Shape{kUnknown}, Shape{2, kUnknown, 3}}});
  const auto put = [&](const std::vector<std::string_view>& texts, int64_t middle) {
    Tensor ones = Tensor::empty(f32, {2, middle, 3});
    for (float& each : ones.mutable_as<float>()) each = 1;
    return queue.enqueue(
        Element{Tensor::from(std::span<const std::string_view>(texts), {std::ssize(texts)}), std::move(ones)});
  };
  ASSERT_TRUE(put({"a"}, 2) && put({"b", "cc"}, 1));
  const Result<Element> batch = queue.dequeue_many(2);
  ASSERT_TRUE(batch);
  EXPECT_EQ((*batch)[0].shape(), (Shape{2, 2}));
  std::vector<std::string_view> texts;
  for (int64_t i = 0; i < 4; ++i) texts.push_back((*batch)[0].bytes_at(i));
  EXPECT_THAT(texts, ElementsAre("a", "", "b", "cc"));
  EXPECT_EQ((*batch)[1].shape(), (Shape{2, 2, 2, 3}));
  const auto all = (*batch)[1].as<float>();
  EXPECT_EQ(std::ranges::count(all, 1.0F), 12 + 6);
  EXPECT_THAT(all.subspan(12), ElementsAre(1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0));
}

TEST_F(Padding, PadsUpToRankFourAndBeyondIsUnimplementedAtOnce) {
  const Shape four{kUnknown, 1, kUnknown, 2};
  const PaddingFIFOQueue queue({.capacity = 4, .dtypes = {u8}, .shapes = {four}});
  ASSERT_TRUE(queue.enqueue(Element{Tensor::empty(u8, {1, 1, 2, 2})}));
  ASSERT_TRUE(queue.enqueue(Element{Tensor::empty(u8, {3, 1, 1, 2})}));
  EXPECT_EQ((*queue.dequeue_many(2))[0].shape(), (Shape{2, 3, 1, 2, 2}));
  const PaddingFIFOQueue more({.capacity = 4, .dtypes = {u8, u8}, .shapes = {Shape{}, Shape{kUnknown, 1, 1, 1, 1}}});
  ASSERT_TRUE(more.enqueue(Element{Tensor::scalar(uint8_t{1}), Tensor::empty(u8, {2, 1, 1, 1, 1})}));
  EXPECT_FAILS_WITH(ErrorKind::Unimplemented, "component 1: shape [?,1,1,1,1] of rank 5", more.dequeue_many(1));
  EXPECT_FAILS(ErrorKind::Unimplemented, more.dequeue_up_to(1));
  EXPECT_EQ((*more.dequeue())[1].shape(), (Shape{2, 1, 1, 1, 1}));
}

TEST_F(Padding, AKnownShapeOfAnyRankIsNotPadded) {
  const Shape five{1, 2, 1, 1, 1};
  const PaddingFIFOQueue queue({.capacity = 4, .dtypes = {u8}, .shapes = {five}});
  ASSERT_TRUE(queue.enqueue(Element{Tensor::empty(u8, five)}));
  EXPECT_EQ((*queue.dequeue_many(1))[0].shape(), (Shape{1, 1, 2, 1, 1, 1}));
}

TEST_F(Padding, RowsOfOneCallHaveOneShapeAndBecomeElements) {
  const PaddingFIFOQueue queue = vectors(8);
  const std::vector<int64_t> rows = range(1, 7);
  ASSERT_TRUE(queue.enqueue_many(Element{Tensor::from(std::span<const int64_t>(rows), {3, 2})}));
  ASSERT_TRUE(queue.enqueue(numbers({7, 8, 9})));
  EXPECT_EQ(values(*queue.dequeue()), range(1, 3));
  EXPECT_THAT(values(*queue.dequeue_many(3)), ElementsAre(3, 4, 0, 5, 6, 0, 7, 8, 9));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "expected shape [?,?], received [2]",
                    queue.enqueue_many(numbers({1, 2})));
}

TEST_F(Padding, ATimedOutOrCancelledBatchGivesItsElementsBackUnpaddedAndInOrder) {
  const PaddingFIFOQueue queue = vectors(4);
  ASSERT_TRUE(queue.enqueue(numbers({1})) && queue.enqueue(numbers({2, 3})));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue_many(3, {.timeout = milliseconds(1)}));
  std::stop_source stop;
  auto batch = later([&] { return queue.dequeue_many(3, {.stop = stop.get_token()}); });
  eventually([&] { return queue.size() == 0; });
  stop.request_stop();
  EXPECT_FAILS(ErrorKind::Cancelled, batch.get());
  EXPECT_EQ(values(*queue.dequeue()), range(1, 2));
  EXPECT_EQ(values(*queue.dequeue()), range(2, 4));
}

TEST_F(Padding, ABatchTooLargeForAnyMemoryIsAnErrorAndItsElementsStay) {
  const PaddingFIFOQueue queue({.capacity = 4, .dtypes = {u8}, .shapes = {Shape{kUnknown, kUnknown}}});
  ASSERT_TRUE(queue.enqueue(Element{Tensor::empty(u8, {int64_t{1} << 40, 0})}));
  ASSERT_TRUE(queue.enqueue(Element{Tensor::empty(u8, {0, int64_t{1} << 40})}));
  EXPECT_FAILS_WITH(ErrorKind::ResourceExhausted, "too large", queue.dequeue_many(2));
  EXPECT_EQ(queue.size(), 2);
  EXPECT_EQ((*queue.dequeue())[0].dim(1), 0);
}

TEST_F(Padding, SharedNamesMustAgreeOnUnknownDimensionsToo) {
  QueueOptions options{.capacity = 4, .dtypes = {i64}, .shapes = {Shape{kUnknown}}, .shared_name = "ragged"};
  const PaddingFIFOQueue first(options);
  const PaddingFIFOQueue second(options);
  ASSERT_TRUE(first.enqueue(numbers({1, 2})));
  EXPECT_EQ(values(*second.dequeue()), range(1, 3));
  options.shapes = {Shape{2}};
  EXPECT_REFUSES("shapes [?], but was asked for with [2]", PaddingFIFOQueue(options));
  EXPECT_REFUSES("type PaddingFIFOQueue, but was asked for with FIFOQueue", FIFOQueue(options));
}

TEST_F(Padding, FromListChoosesAndNamesAreNumbered) {
  const PaddingFIFOQueue a = vectors(1);
  const PaddingFIFOQueue b({.capacity = 1, .dtypes = {i64}, .shapes = {Shape{kUnknown, 2}}});
  EXPECT_EQ(PaddingFIFOQueue::from_list(1, {a, b}).name(), b.name());
  EXPECT_THAT(b.name(), ::testing::StartsWith("padding_fifo_queue"));
  EXPECT_REFUSES("index 2 into 2 queues", PaddingFIFOQueue::from_list(2, {a, b}));
}

}  // namespace
}  // namespace headpond::internal
