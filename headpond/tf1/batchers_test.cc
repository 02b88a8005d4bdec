// SPDX-License-Identifier: Apache-2.0
#include "headpond/tf1/batchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "headpond/base/log.h"
#include "headpond/queue/queue_test_internal.h"
#include "headpond/tf1/input_producers.h"

namespace headpond::tf1 {
namespace {

using headpond::internal::eventually;
using headpond::internal::number;
using headpond::internal::numbers;
using headpond::internal::QueueTest;
using headpond::internal::range;
using headpond::internal::refusal;
using headpond::internal::until_waiting;
using headpond::internal::value;
using headpond::internal::values;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class Batchers : public QueueTest {
 protected:
  Batchers() {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~Batchers() override { set_log_sink({}); }
};

tl::unexpected<Error> end() { return fail(ErrorKind::OutOfRange, "end"); }

// 0, ..., count - 1, from any number of threads.
Source counting(int64_t count) {
  return [count, next = std::make_shared<std::atomic<int64_t>>(0)](const std::stop_token&) -> Result<Element> {
    const int64_t i = (*next)++;
    if (i >= count) return end();
    return number(i);
  };
}
// The same as rows: 1, then 2, then 3 of them ...
Source counting_rows(int64_t calls) {
  return [calls, next = int64_t{0}, call = int64_t{0}](const std::stop_token&) mutable -> Result<Element> {
    if (call++ == calls) return end();
    const int64_t begin = next;
    next += call;
    return numbers(range(begin, next));
  };
}

BatchOptions of(int64_t batch_size) { return {.batch_size = batch_size, .dtypes = {i64}, .shapes = {Shape{}}}; }
ShuffleBatchOptions mixed(int64_t batch_size) {
  return {.batch_size = batch_size, .dtypes = {i64}, .shapes = {Shape{}}, .capacity = 20, .min_after_dequeue = 10};
}

struct Batches {
  std::vector<std::vector<int64_t>> all;
  Error end;
  std::vector<int64_t> joined() const {
    std::vector<int64_t> joined;
    for (const auto& batch : all) joined.insert(joined.end(), batch.begin(), batch.end());
    return joined;
  }
  std::vector<int64_t> sorted() const {
    auto sorted = joined();
    std::ranges::sort(sorted);
    return sorted;
  }
};
Batches run(Batcher batcher) {
  Coordinator coordinator;
  batcher.start(coordinator);
  Batches batches;
  while (true) {
    auto batch = batcher.dequeue();
    if (!batch) {
      batches.end = batch.error();
      return batches;
    }
    batches.all.push_back(values(*batch));
  }
}

TEST_F(Batchers, OneThreadKeepsTheOrderAndDropsWhatFillsNoBatch) {
  EXPECT_THAT(run(batch(counting(11), of(4))).all, ElementsAre(range(0, 4), range(4, 8)));
}

TEST_F(Batchers, ASmallerLastBatchComesIfAllowed) {
  auto options = of(4);
  options.allow_smaller_final_batch = true;
  EXPECT_THAT(run(batch(counting(6), options)).all, ElementsAre(range(0, 4), range(4, 6)));
  EXPECT_THAT(run(batch(counting(0), options)).all, IsEmpty());
}

TEST_F(Batchers, WithEnqueueManyEachRowIsAnExample) {
  auto options = of(5);
  options.enqueue_many = true;
  EXPECT_THAT(run(batch(counting_rows(4), options)).all, ElementsAre(range(0, 5), range(5, 10)));
}

TEST_F(Batchers, SeveralThreadsBringEachExampleOnce) {
  auto options = of(10);
  options.num_threads = 4;
  EXPECT_EQ(run(batch(counting(1000), options)).sorted(), range(0, 1000));
}

TEST_F(Batchers, AJoinHasAThreadForEachSource) {
  std::atomic<int> waiting = 0;
  // Each waits for the others: one thread alone would hang.
  const Source meets = [&waiting,
                        done = std::make_shared<std::atomic<int>>(0)](const std::stop_token&) -> Result<Element> {
    const int mine = ++*done;
    if (mine > 3) return end();
    ++waiting;
    eventually([&] { return waiting == 3; });
    return number(mine);
  };
  auto options = of(3);
  EXPECT_EQ(run(batch_join({meets, meets, meets}, options)).sorted(), range(1, 4));
}

TEST_F(Batchers, DynamicPadPadsToTheLongestOfABatch) {
  const Source growing = [next = int64_t{0}](const std::stop_token&) mutable -> Result<Element> {
    if (++next > 4) return end();
    return numbers(std::vector<int64_t>(static_cast<size_t>(next), next));
  };
  BatchOptions options = {.batch_size = 2, .dtypes = {i64}, .shapes = {Shape{kUnknown}}, .dynamic_pad = true};
  EXPECT_THAT(run(batch(growing, options)).all,
              ElementsAre(std::vector<int64_t>{1, 0, 2, 2}, std::vector<int64_t>{3, 3, 3, 0, 4, 4, 4, 4}));
  options.dynamic_pad = false;
  EXPECT_EQ(refusal([&] { (void)batch(growing, options); }).kind(), ErrorKind::InvalidArgument);
}

TEST_F(Batchers, ShuffledBatchesHaveEachExampleOnceInTheOrderOfTheSeed) {
  auto options = mixed(7);
  options.allow_smaller_final_batch = true;
  options.capacity = 1000;  // All are in before the first is taken: the order follows from the seed alone.
  const auto shuffled = [&](uint64_t seed) {
    options.seed = seed;
    Batcher batcher = shuffle_batch(counting(100), options);
    Coordinator coordinator;
    batcher.start(coordinator);
    eventually([&] { return batcher.queue().is_closed(); });
    return run(batcher);
  };
  const Batches first = shuffled(0);
  EXPECT_EQ(first.sorted(), range(0, 100));
  EXPECT_NE(first.joined(), range(0, 100));
  EXPECT_EQ(shuffled(0).joined(), first.joined());
  EXPECT_NE(shuffled(1).joined(), first.joined());
  EXPECT_EQ(run(shuffle_batch_join({counting(30), counting(40)}, options)).sorted().size(), 70U);
}

TEST_F(Batchers, AsManyAsTheMinimumStayWhileMoreMayCome) {
  std::atomic<bool> ends = false;
  const Source source = [&, next = int64_t{0}](const std::stop_token&) mutable -> Result<Element> {
    if (next == 12) {
      eventually([&] { return ends.load(); });
      return end();
    }
    return number(next++);
  };
  Batcher batcher = shuffle_batch(source, mixed(2));
  Coordinator coordinator;
  batcher.start(coordinator);
  EXPECT_TRUE(batcher.dequeue());
  eventually([&] { return batcher.queue().size() == 10; });
  EXPECT_EQ(batcher.dequeue({.timeout = std::chrono::nanoseconds(0)}).error().kind(), ErrorKind::DeadlineExceeded);
  ends = true;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(batcher.dequeue());
  EXPECT_FALSE(batcher.dequeue());
}

Result<Tensor> keeps_even(const Element& example) { return Tensor::scalar(value(example) % 2 == 0); }
Result<Tensor> keeps_even_rows(const Element& rows) {
  Tensor mask = Tensor::empty(DType::boolean, {rows[0].dim(0)});
  std::ranges::transform(values(rows), mask.mutable_as<bool>().begin(), [](int64_t i) { return i % 2 == 0; });
  return mask;
}

TEST_F(Batchers, TheMaybeFormsLeaveOutWhatIsNotKept) {
  EXPECT_THAT(run(maybe_batch(counting(9), keeps_even, of(2))).all, ElementsAre(ElementsAre(0, 2), ElementsAre(4, 6)));
  EXPECT_EQ(run(maybe_batch_join({counting(10), counting(10)}, keeps_even, of(5))).sorted(),
            (std::vector<int64_t>{0, 0, 2, 2, 4, 4, 6, 6, 8, 8}));
  EXPECT_EQ(run(maybe_shuffle_batch(counting(100), keeps_even, mixed(10))).joined().size(), 50U);
  EXPECT_EQ(run(maybe_shuffle_batch_join({counting(50), counting(50)}, keeps_even, mixed(10))).joined().size(), 50U);
}

TEST_F(Batchers, KeepInputMayBeAMaskOfRowsOrOneAnswerForAll) {
  auto options = of(3);
  options.enqueue_many = true;
  EXPECT_THAT(run(maybe_batch(counting_rows(4), keeps_even_rows, options)).all, ElementsAre(ElementsAre(0, 2, 4)));
  options.allow_smaller_final_batch = true;  // keeps_even looks at the first row: 0 of 0, 1 of 1 and 2, 3 of 3 to 5 ...
  EXPECT_THAT(run(maybe_batch(counting_rows(4), keeps_even, options)).all,
              ElementsAre(ElementsAre(0, 6, 7), ElementsAre(8, 9)));
}

TEST_F(Batchers, AKeepInputOfAnotherFormIsAnErrorThatTheConsumerSees) {
  const auto cause = [](const Batcher& batcher) {
    const Batches batches = run(batcher);
    return batches.end.cause() == nullptr ? "none" : batches.end.cause()->message();
  };
  const auto says = [](Tensor mask) { return [mask](const Element&) -> Result<Tensor> { return mask; }; };
  auto rows = of(2);
  rows.enqueue_many = true;
  EXPECT_EQ(cause(maybe_batch(counting(5), says(Tensor::scalar(int64_t{1})), of(2))),
            "keep_input: expected a boolean scalar, received int64 of shape []");
  EXPECT_EQ(cause(maybe_batch(counting(5), says(Tensor::empty(DType::boolean, {2})), of(2))),
            "keep_input: expected a boolean scalar, received bool of shape [2]");
  EXPECT_EQ(cause(maybe_batch(counting_rows(5), says(Tensor::empty(DType::boolean, {2})), rows)),
            "keep_input: a mask of 2 rows for component 0 of shape [1]");
  EXPECT_EQ(cause(maybe_batch(
                counting(5), [](const Element&) { return Result<Tensor>(fail(ErrorKind::DataLoss, "own")); }, of(2))),
            "own");
}

TEST_F(Batchers, AKeepInputMayEndTheData) {
  const auto until_five = [](const Element& example) -> Result<Tensor> {
    if (value(example) == 5) return end();
    return Tensor::scalar(true);
  };
  auto options = of(2);
  options.allow_smaller_final_batch = true;
  const Batches batches = run(maybe_batch(counting(100), until_five, options));
  EXPECT_EQ(batches.joined(), range(0, 5));
  EXPECT_EQ(batches.end.kind(), ErrorKind::OutOfRange);
  EXPECT_EQ(batches.end.cause(), nullptr);
}

TEST_F(Batchers, AFailedSourceIsTheCauseOfTheEnd) {
  const Source bad = [next = 0](const std::stop_token&) mutable -> Result<Element> {
    if (++next > 4) return fail(ErrorKind::DataLoss, "bad record");
    return number(next);
  };
  const Batches batches = run(batch(bad, of(2)));
  EXPECT_EQ(batches.end.kind(), ErrorKind::OutOfRange);
  ASSERT_NE(batches.end.cause(), nullptr);
  EXPECT_EQ(batches.end.cause()->message(), "bad record");
}

TEST_F(Batchers, TheCauseOfAnEarlierQueuesEndIsHandedOn) {
  const FIFOQueue files(headpond::internal::scalars(8));
  ASSERT_TRUE(files.enqueue(number(1)));
  files.close_with_error({ErrorKind::NotFound, "no such file"});
  const Source source = [files](std::stop_token stop) { return files.dequeue({.stop = std::move(stop)}); };
  auto options = of(1);
  options.allow_smaller_final_batch = true;
  const Batches batches = run(batch(source, options));
  EXPECT_EQ(batches.all.size(), 1U);
  ASSERT_NE(batches.end.cause(), nullptr);
  EXPECT_EQ(batches.end.cause()->message(), "no such file");
}

TEST_F(Batchers, AStopEndsSourceQueueAndConsumer) {
  InputProducer producer = range_input_producer(3);
  Batcher batcher = batch(producer.source(), of(2));
  Coordinator coordinator;
  producer.start(coordinator);
  batcher.start(coordinator);
  until_waiting(batcher.queue(), 1, 0);
  ASSERT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(coordinator.join());
  while (batcher.dequeue()) {
  }
}

TEST_F(Batchers, NamesAndDefaultsAreTensorFlows) {
  EXPECT_EQ(batch(counting(1), of(1)).queue().capacity(), 32);
  EXPECT_EQ(of(1).num_threads, 1);
  EXPECT_THAT(batch(counting(1), of(1)).queue().name(), StartsWith("batch"));
  EXPECT_THAT(batch_join({counting(1)}, of(1)).queue().name(), StartsWith("batch_join"));
  EXPECT_THAT(shuffle_batch(counting(1), mixed(1)).queue().name(), StartsWith("shuffle_batch"));
  EXPECT_THAT(shuffle_batch_join({counting(1)}, mixed(1)).queue().name(), StartsWith("shuffle_batch_join"));
  auto named = of(1);
  named.name = "own";
  EXPECT_EQ(batch(counting(1), named).queue().name(), "own");
}

TEST_F(Batchers, NamedExamplesGiveNamedBatches) {
  BatchOptions options = of(2);
  options.names = {"n"};
  const Source source = [next = int64_t{0}](const std::stop_token&) mutable -> Result<Element> {
    return Element::named({{"n", Tensor::scalar(next++)}});
  };
  Batcher batcher = batch(source, options);
  Coordinator coordinator;
  batcher.start(coordinator);
  EXPECT_THAT((*batcher.dequeue())["n"].as<int64_t>(), ElementsAre(0, 1));
}

TEST_F(Batchers, RefuseOptionsThatMakeNoSense) {
  EXPECT_REFUSES("batch: batch_size is 0", batch(counting(1), of(0)));
  const FIFOQueue queue(headpond::internal::scalars(1));
  const QueueRunner runner(queue, {[](std::stop_token) { return Result<void>(end()); }});
  for (const int64_t batch_size : {0, -1}) {
    EXPECT_REFUSES("Batcher: batch_size is " + std::to_string(batch_size), Batcher(queue, runner, batch_size, false));
  }
  auto options = of(1);
  options.num_threads = 0;
  EXPECT_REFUSES("num_threads is 0", batch(counting(1), options));
  options.num_threads = 100'000;
  EXPECT_REFUSES("num_threads is 100000: must be 1 to 1024", batch(counting(1), options));
  options.num_threads = 2;
  EXPECT_REFUSES("batch_join: num_threads is 2", batch_join({counting(1)}, options));
  EXPECT_REFUSES("no sources", batch_join({}, of(1)));
  EXPECT_REFUSES("empty source", batch(Source(), of(1)));
  EXPECT_REFUSES("maybe_batch: an empty keep_input", maybe_batch(counting(1), KeepInput(), of(1)));
  options = of(1);
  options.shapes = {};
  EXPECT_REFUSES("1 dtypes and 0 shapes", batch(counting(1), options));
  options = of(1);
  options.capacity = 0;
  EXPECT_REFUSES("capacity must not be 0", batch(counting(1), options));
  auto shuffled = mixed(1);
  shuffled.min_after_dequeue = shuffled.capacity;
  EXPECT_REFUSES("min_after_dequeue 20 must be below capacity 20", shuffle_batch(counting(1), shuffled));
}

}  // namespace
}  // namespace headpond::tf1
