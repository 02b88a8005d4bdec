// SPDX-License-Identifier: Apache-2.0
#include "headpond/tf1/input_producers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "headpond/queue/queue_test_internal.h"

namespace headpond::tf1 {
namespace {

using headpond::internal::later;
using headpond::internal::number;
using headpond::internal::numbers;
using headpond::internal::QueueTest;
using headpond::internal::range;
using headpond::internal::refusal;
using headpond::internal::until_waiting;
using headpond::internal::value;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Producers : public QueueTest {};

std::vector<int64_t> numbers_of(InputProducer producer) {
  Coordinator coordinator;
  producer.start(coordinator);
  std::vector<int64_t> all;
  while (const auto row = producer.dequeue()) all.push_back(value(*row));
  EXPECT_TRUE(coordinator.join());
  return all;
}

std::vector<std::string> strings_of(InputProducer producer) {
  Coordinator coordinator;
  producer.start(coordinator);
  std::vector<std::string> all;
  while (const auto row = producer.dequeue()) all.emplace_back((*row)[0].bytes_at(0));
  EXPECT_TRUE(coordinator.join());
  return all;
}

TEST_F(Producers, WithoutShufflingRowsComeInOrderAsOftenAsThereAreEpochs) {
  EXPECT_THAT(strings_of(string_input_producer({"b", "a", ""}, {.num_epochs = 2, .shuffle = false})),
              ElementsAre("b", "a", "", "b", "a", ""));
  EXPECT_THAT(numbers_of(range_input_producer(3, {.num_epochs = 1, .shuffle = false})), ElementsAre(0, 1, 2));
}

TEST_F(Producers, EachEpochHasEachRowOnceInAnOrderOfItsOwn) {
  const auto all = numbers_of(range_input_producer(50, {.num_epochs = 4}));
  ASSERT_EQ(all.size(), 200U);
  std::set<std::vector<int64_t>> orders;
  for (auto epoch = all.begin(); epoch != all.end(); epoch += 50) {
    std::vector<int64_t> rows(epoch, epoch + 50);
    orders.insert(rows);
    std::ranges::sort(rows);
    EXPECT_EQ(rows, range(0, 50));
  }
  EXPECT_EQ(orders.size(), 4U);
}

TEST_F(Producers, TheOrderFollowsFromSeedAndEpochAloneAndZeroIsASeed) {
  const auto run = [](uint64_t seed, int64_t epochs, int64_t capacity) {
    return numbers_of(range_input_producer(50, {.num_epochs = epochs, .seed = seed, .capacity = capacity}));
  };
  const auto first = run(0, 3, 32);
  EXPECT_EQ(run(0, 3, 1), first);
  EXPECT_EQ(run(0, 2, 1000), std::vector<int64_t>(first.begin(), first.begin() + 100));
  EXPECT_NE(run(1, 3, 32), first);
}

TEST_F(Producers, AllRowsOfAnEpochGoInWithOneCall) {
  InputProducer producer = range_input_producer(5, {.num_epochs = 1, .shuffle = false, .capacity = 2});
  Coordinator coordinator;
  producer.start(coordinator);
  until_waiting(producer.queue(), 1, 0);  // More rows than room: the call waits and goes on row by row.
  EXPECT_EQ(producer.queue().size(), 2);
  for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(value(*producer.dequeue()), i);
  EXPECT_FALSE(producer.dequeue());
}

TEST_F(Producers, WithoutEpochsThereIsNoEndUntilAStop) {
  InputProducer producer = range_input_producer(2, {.shuffle = false});
  Coordinator coordinator;
  producer.start(coordinator);
  for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(value(*producer.dequeue()), i % 2);
  ASSERT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(coordinator.join());
  EXPECT_TRUE(producer.queue().is_closed());
}

TEST_F(Producers, TheDefaultsAreTensorFlows) {
  const InputProducerOptions options;
  EXPECT_EQ(options.capacity, 32);
  EXPECT_TRUE(options.shuffle);
  EXPECT_FALSE(options.num_epochs);
  const InputProducer producer = string_input_producer({"a"});
  EXPECT_EQ(producer.queue().capacity(), 32);
  EXPECT_THAT(producer.queue().name(), StartsWith("input_producer"));
  EXPECT_EQ(string_input_producer({"a"}, {.summary_name = "fill", .name = "files"}).summary_name(), "fill");
  EXPECT_EQ(string_input_producer({"a"}, {.name = "files"}).queue().name(), "files");
}

TEST_F(Producers, RowsMayHaveAnyShape) {
  const std::vector<float> values = {1, 2, 3, 4};
  InputProducer producer = input_producer(Tensor::from(std::span<const float>(values), {2, 2}),
                                          {.element_shape = Shape{2}, .num_epochs = 1, .shuffle = false});
  Coordinator coordinator;
  producer.start(coordinator);
  EXPECT_THAT((*producer.dequeue())[0].as<float>(), ElementsAre(1, 2));
  EXPECT_THAT((*producer.dequeue())[0].as<float>(), ElementsAre(3, 4));
}

TEST_F(Producers, AnElementShapeMayLeaveDimensionsOpen) {
  const Tensor rows = Tensor::empty(DType::u8, {2, 3, 4});
  for (const Shape& shape : {Shape{kUnknown, 4}, Shape{3, kUnknown}, Shape{kUnknown, kUnknown}, Shape{3, 4}}) {
    EXPECT_EQ(input_producer(rows, {.element_shape = shape}).queue().shapes()[0], (Shape{3, 4}));
  }
  EXPECT_REFUSES("element_shape is [?,5]", input_producer(rows, {.element_shape = Shape{kUnknown, 5}}));
  EXPECT_REFUSES("element_shape is [?]", input_producer(rows, {.element_shape = Shape{kUnknown}}));
}

TEST_F(Producers, ASliceIsOneRowOfEachTensorWithTheNames) {
  const std::vector<int64_t> numbers = {5, 6};
  const std::vector<std::string_view> strings = {"five", "six"};
  InputProducer producer =
      slice_input_producer(Element::named({{"n", Tensor::from(std::span<const int64_t>(numbers), {2})},
                                           {"s", Tensor::from(std::span<const std::string_view>(strings), {2})}}),
                           {.num_epochs = 20});
  Coordinator coordinator;
  producer.start(coordinator);
  const Source source = producer.source();
  std::multiset<int64_t> seen;
  for (int i = 0; i < 40; ++i) {
    const auto row = i % 2 == 0 ? producer.dequeue() : source({});
    ASSERT_TRUE(row);
    const int64_t n = (*row)["n"].as<int64_t>()[0];
    EXPECT_EQ((*row)["s"].bytes_at(0), n == 5 ? "five" : "six");
    EXPECT_EQ(row->key, static_cast<uint64_t>(n - 5));
    seen.insert(n);
  }
  EXPECT_EQ(seen.count(5), 20U);
  EXPECT_FALSE(source({}));
}

TEST_F(Producers, OneSharedNameIsOneQueue) {
  const InputProducerOptions options = {.num_epochs = 1, .shuffle = false, .shared_name = "shared by producers"};
  InputProducer first = string_input_producer({"a"}, options), second = string_input_producer({"b"}, options);
  Coordinator coordinator;
  first.start(coordinator);
  EXPECT_EQ((*second.dequeue())[0].bytes_at(0), "a");
}

// `count` numbers from 100 on as a component, strings of them as another.
InputProducer slices(int64_t count, const InputProducerOptions& options) {
  std::vector<std::string> texts;
  for (const int64_t number : range(100, 100 + count)) texts.push_back(std::to_string(number));
  const std::vector<std::string_view> strings(texts.begin(), texts.end());
  return slice_input_producer(
      {numbers(range(100, 100 + count))[0], Tensor::from(std::span<const std::string_view>(strings), {count})},
      options);
}

TEST_F(Producers, ANumberOfAnotherSlicesRowsIsAnErrorAndTheNextOneFollows) {
  const InputProducerOptions options = {.num_epochs = 1, .shuffle = false, .shared_name = "rows of two slices"};
  InputProducer ten = slices(10, options);
  const InputProducer three = slices(3, options);
  Coordinator coordinator;
  ten.start(coordinator);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(value(*three.dequeue()), 100 + i);
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "row 3 of 3", three.dequeue());
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "row 4 of 3", three.source()({}));
  EXPECT_EQ(value(*ten.dequeue()), 105);
}

TEST_F(Producers, ANumberThatAUserPutsIsCheckedToo) {
  const InputProducer producer = slices(3, {});
  ASSERT_TRUE(producer.queue().enqueue(number(-1)));
  ASSERT_TRUE(producer.queue().enqueue(number(INT64_MIN)));
  ASSERT_TRUE(producer.queue().enqueue(number(2)));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "row -1 of 3", producer.dequeue());
  EXPECT_FAILS(ErrorKind::InvalidArgument, producer.source()({}));
  EXPECT_EQ((*producer.dequeue())[1].bytes_at(0), "102");
}

TEST_F(Producers, WhatALookupThrowsIsAnError) {
  const FIFOQueue queue(headpond::internal::scalars(1));
  const QueueRunner runner(
      queue, {[queue](std::stop_token stop) { return queue.enqueue(number(1), {.stop = std::move(stop)}); }});
  InputProducer producer(queue, runner, "", [](const Element&) -> Result<Element> { throw std::bad_alloc(); });
  Coordinator coordinator;
  producer.start(coordinator);
  EXPECT_FAILS(ErrorKind::ResourceExhausted, producer.dequeue());
  EXPECT_FAILS(ErrorKind::ResourceExhausted, producer.source()({}));
}

TEST_F(Producers, ACancelOpRunsInPlaceOfTheDefault) {
  bool ran = false;
  Coordinator coordinator;
  InputProducer producer = range_input_producer(100, {.cancel_op = [&ran]() -> Result<void> {
                                                  ran = true;
                                                  return {};
                                                }});
  producer.start(coordinator);
  until_waiting(producer.queue(), 1, 0);
  ASSERT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(ran);
  EXPECT_TRUE(producer.queue().close(true));
  EXPECT_TRUE(coordinator.join());
}

TEST_F(Producers, AnEpochThatAStopCutAndNobodyClosedBeginsAgainWithASecondStart) {
  const auto leaves_it_open = []() -> Result<void> { return {}; };
  InputProducer producer =
      range_input_producer(3, {.num_epochs = 2, .shuffle = false, .capacity = 4, .cancel_op = leaves_it_open});
  {
    Coordinator coordinator;
    producer.start(coordinator);
    until_waiting(producer.queue(), 1, 0);
    ASSERT_TRUE(coordinator.request_stop());
    ASSERT_TRUE(coordinator.join());
  }
  EXPECT_EQ(producer.queue().size(), 4);
  EXPECT_THAT(numbers_of(producer), ElementsAre(0, 1, 2, 0, 0, 1, 2));
}

TEST_F(Producers, ASourceStopsWaitingWhenAsked) {
  const InputProducer producer = range_input_producer(1);
  std::stop_source stop;
  auto waiting = later([&] { return producer.source()(stop.get_token()); });
  until_waiting(producer.queue(), 0, 1);
  stop.request_stop();
  EXPECT_EQ(waiting.get().error().kind(), ErrorKind::Cancelled);
}

TEST_F(Producers, RefuseListsAndNumbersThatMakeNoSense) {
  EXPECT_REFUSES("string_input_producer: a list without rows", string_input_producer({}));
  EXPECT_REFUSES("num_epochs is 0", string_input_producer({"a"}, {.num_epochs = 0}));
  EXPECT_REFUSES("num_epochs is -1", range_input_producer(1, {.num_epochs = -1}));
  EXPECT_REFUSES("limit of 0", range_input_producer(0));
  EXPECT_REFUSES("capacity must not be 0", range_input_producer(1, {.capacity = 0}));
  EXPECT_REFUSES("a scalar has no rows", input_producer(Tensor::scalar(1)));
  EXPECT_REFUSES("element_shape is", input_producer(Tensor::empty(DType::u8, {2, 3}), {.element_shape = Shape{4}}));
  EXPECT_REFUSES("no tensors", slice_input_producer({}));
  EXPECT_REFUSES("component 0 has 2 rows, component 1 has 3",
                 slice_input_producer({Tensor::empty(DType::u8, {2}), Tensor::empty(DType::u8, {3})}));
  EXPECT_REFUSES("component 1 is a scalar", slice_input_producer({Tensor::empty(DType::u8, {2}), Tensor::scalar(1)}));
}

TEST_F(Producers, LimitEpochsCountsUsesAcrossThreads) {
  const Source source = limit_epochs({Tensor::scalar(int64_t{7})}, 1000);
  const auto count = [&source] {
    int64_t uses = 0;
    while (const auto example = source({})) uses += value(*example) == 7 ? 1 : 0;
    return uses;
  };
  auto other = later(count);
  EXPECT_EQ(count() + other.get(), 1000);
  const auto over = source({});
  EXPECT_EQ(over.error().kind(), ErrorKind::OutOfRange);
  EXPECT_THAT(over.error().message(), HasSubstr("1000 epochs"));
}

TEST_F(Producers, LimitEpochsWithoutANumberHasNoEndAndRefusesZero) {
  const Source source = limit_epochs({Tensor::scalar(int64_t{7})});
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(source({}));
  EXPECT_REFUSES("limit_epochs: num_epochs is 0", limit_epochs({Tensor::scalar(1)}, 0));
}

}  // namespace
}  // namespace headpond::tf1
