// SPDX-License-Identifier: Apache-2.0
// Uses every public name of queues, datasets, tensors and errors the way a program outside the tree does: by the one
// header, and without a test framework, so that the consumer of the installed package compiles the same file.
#include <headpond/headpond.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace hp = headpond;

namespace {

void check(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "does not hold: " << what << '\n';
  std::exit(1);
}
#define CHECK(condition) check(static_cast<bool>(condition), #condition)

void errors() {
  const hp::Error none;
  const hp::Error cause(hp::ErrorKind::DataLoss, "inner");
  const hp::Error error(hp::ErrorKind::Unknown, "outer", cause);
  CHECK(!none && error && error.kind() == hp::ErrorKind::Unknown && error.message() == "outer");
  CHECK(error.cause() != nullptr && error.cause()->message() == "inner" && cause.cause() == nullptr);
  const auto failing = []() -> hp::Result<int> { return hp::fail(hp::ErrorKind::NotFound, "no"); };
  const auto failing_void = []() -> hp::Result<void> { return hp::fail(hp::ErrorKind::Cancelled, "no"); };
  CHECK(failing().error().kind() == hp::ErrorKind::NotFound && !failing_void());
  static_assert(std::is_same_v<hp::Result<int>, tl::expected<int, hp::Error>>);
  static_assert(std::is_base_of_v<std::runtime_error, hp::Exception>);
  static_assert(std::ranges::input_range<hp::FIFOQueue> && std::ranges::input_range<hp::Loader>);
  CHECK(hp::at_end(hp::Result<int>(hp::fail(hp::ErrorKind::OutOfRange, "end"))) && !hp::at_end(failing()));
  CHECK(hp::Error(hp::ErrorKind::OutOfRange, "end").is_end() && hp::value_or_throw(hp::Result<int>(3)) == 3);
  try {
    throw hp::Exception(error);
  } catch (const hp::Exception& thrown) {
    CHECK(thrown.error().cause() != nullptr);
  }
  for (const hp::ErrorKind kind : {hp::ErrorKind::OutOfRange, hp::ErrorKind::Cancelled, hp::ErrorKind::InvalidArgument,
                                   hp::ErrorKind::DeadlineExceeded, hp::ErrorKind::FailedPrecondition,
                                   hp::ErrorKind::DataLoss, hp::ErrorKind::NotFound, hp::ErrorKind::ResourceExhausted,
                                   hp::ErrorKind::Unimplemented, hp::ErrorKind::Unknown}) {
    CHECK(hp::Error(kind, "").kind() == kind);
  }
}

void tensors() {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const hp::Tensor tensor = hp::Tensor::from(std::span<const float>(values), hp::Shape{2, 3});
  CHECK(tensor.dtype() == hp::f32 && tensor.size() == 6 && tensor.shape() == (hp::Shape{2, 3}));
  CHECK(tensor.shape().rank() == 2 && tensor.shape()[1] == 3);
  const std::span<const float> read = tensor.as<float>();
  CHECK(read[5] == 6 && hp::kUnknown == -1);
  const std::array<std::string_view, 2> texts = {"a", "bc"};
  const hp::Tensor strings = hp::Tensor::from(std::span<const std::string_view>(texts), hp::Shape{2});
  CHECK(strings.dtype() == hp::bytes && strings.bytes_at(1) == "bc");
  for (const hp::DType dtype : {hp::u8, hp::i8, hp::u16, hp::i16, hp::u32, hp::i32, hp::u64, hp::i64, hp::f16, hp::bf16,
                                hp::f32, hp::f64, hp::boolean}) {
    CHECK(hp::item_size(dtype) > 0);
  }
  const hp::Element pair{{tensor, strings}};
  CHECK(pair.size() == 2 && pair[1].bytes_at(0) == "a");
  const hp::Element named = hp::Element::named({{"x", tensor}, {"y", strings}});
  CHECK(named["x"].size() == 6);
}

hp::Element number(int64_t value) {
  return hp::Element{{hp::Tensor::from(std::span<const int64_t>(&value, 1), hp::Shape{})}};
}

void queues() {
  hp::FIFOQueue queue({.capacity = 8, .dtypes = {hp::i64}, .shapes = {hp::Shape{}}, .name = "pond"});
  const hp::Wait brief{.timeout = std::chrono::milliseconds(1), .stop = std::stop_token()};
  CHECK(hp::Wait{}.timeout == hp::kForever);
  CHECK(queue.enqueue(number(1)) && queue.enqueue(number(2), brief) && queue.try_enqueue(number(3)));
  const std::array<int64_t, 3> rows = {4, 5, 6};
  CHECK(queue.enqueue_many(hp::Element{{hp::Tensor::from(std::span<const int64_t>(rows), hp::Shape{3})}}, brief));
  CHECK(queue.dequeue() && queue.dequeue(brief) && queue.try_dequeue());
  CHECK(queue.dequeue_many(1) && queue.dequeue_up_to(1, brief));
  const hp::QueueStats stats = queue.stats();
  CHECK(stats.enqueued == 6 && stats.dequeued == 5 && stats.waiting_enqueues == 0 && stats.waiting_dequeues == 0);
  CHECK(queue.name() == "pond" && queue.capacity() == 8 && queue.size() == 1 && !queue.is_closed());
  const hp::FIFOQueue unwatched({.capacity = 1, .dtypes = {hp::i64}, .watchdog = {}});
  CHECK(unwatched.enqueue(number(1)) && hp::QueueOptions{}.fill_patience == std::chrono::seconds(60));
  hp::FIFOQueue same = queue;
  hp::Queue base = same;
  CHECK(base.close(false) && queue.is_closed() && queue.close(true));
  int64_t count = 0;
  for (hp::Element element : queue) count += element[0].as<int64_t>()[0];
  CHECK(count == 6 && hp::FIFOQueue::from_list(0, {queue, same}).name() == "pond");
  hp::RandomShuffleQueue random(
      {.capacity = 4, .dtypes = {hp::i64}, .shapes = {}, .names = {"x"}, .shared_name = "all", .memory_limit = 1 << 20},
      /*min_after_dequeue=*/1, /*seed=*/hp::entropy());
  CHECK(random.enqueue(hp::Element::named({{"x", number(1)[0]}})));
  CHECK(hp::RandomShuffleQueue::from_list(0, {random}).size() == 1);
}

void queues_of_other_types() {
  const std::array<int64_t, 3> values = {4, 5, 6};
  const auto vector = [&](size_t size) {
    return hp::Element{{hp::Tensor::from(std::span(values).first(size), hp::Shape{static_cast<int64_t>(size)})}};
  };
  hp::PaddingFIFOQueue padding({.capacity = 8, .dtypes = {hp::i64}, .shapes = {hp::Shape{hp::kUnknown}}});
  CHECK(padding.enqueue(vector(1)) && padding.try_enqueue(vector(3)));
  const hp::Result<hp::Element> padded = hp::PaddingFIFOQueue::from_list(0, {padding}).dequeue_many(2);
  CHECK(padded && (*padded)[0].shape() == (hp::Shape{2, 3}) && (*padded)[0].as<int64_t>()[1] == 0);
  hp::PriorityQueue priority({.capacity = 8, .dtypes = {hp::i64}, .shapes = {hp::Shape{}}, .names = {"p", "x"}});
  for (const int64_t each : {2, 1}) {
    CHECK(priority.enqueue(hp::Element::named({{"p", number(each)[0]}, {"x", number(10 * each)[0]}})));
  }
  hp::Queue base = priority;
  const hp::Result<hp::Element> first = base.dequeue();
  CHECK(first && (*first)["p"].as<int64_t>()[0] == 1 && (*first)[1].as<int64_t>()[0] == 10);
  CHECK(hp::PriorityQueue::from_list(0, {priority}).dequeue_many(9).error().kind() == hp::ErrorKind::InvalidArgument);
  CHECK(priority.close() && base.dequeue_up_to(9) && priority.size() == 0);
}

void staging_areas() {
  const hp::Wait brief{.timeout = std::chrono::milliseconds(1)};
  hp::StagingOptions options{.dtypes = {hp::i64},
                             .shapes = {hp::Shape{}},
                             .names = {"x"},
                             .capacity = 2,
                             .memory_limit = 64,
                             .shared_name = "dock"};
  const auto named = [](int64_t value) { return hp::Element::named({{"x", number(value)[0]}}); };
  hp::StagingArea area(options);
  const hp::StagingArea same(options);
  hp::Result<void> put = area.put(named(1), brief);
  hp::Result<hp::Element> peeked = area.peek(0, brief);
  CHECK(put && peeked && same.size() == 1 && area.get(brief) && area.put(named(2)) && area.peek(0) && area.get());
  area.clear();
  hp::MapStagingArea unordered({.dtypes = {hp::i64}});
  CHECK(unordered.put(7, number(70)) && unordered.get()->key == 7);
  hp::MapStagingArea map({.dtypes = {hp::i64, hp::i64}, .shapes = {}, .names = {}}, /*ordered=*/true);
  CHECK(map.put(5, number(50), {0}) && map.incomplete_size() == 1 && map.put(5, number(51), {1}, brief));
  const hp::Result<hp::Element> second = map.peek(5, {1}, brief);
  const hp::Result<hp::Keyed> keyed = map.get(5, {0}, brief);
  CHECK(second && (*second)[0].as<int64_t>()[0] == 51 && keyed && keyed->key == 5 && keyed->element.size() == 1);
  CHECK(map.peek(5, {1}) && map.size() == 1 && map.get({}, {1}) && !map.get({}, {}, brief));
  map.clear();
}

void barriers() {
  const hp::Barrier other(hp::BarrierOptions{.dtypes = {hp::i64}, .shapes = {hp::Shape{}}, .name = "lock"});
  CHECK(other.name() == "lock" && hp::kUnbounded == -1);
  hp::Barrier barrier({.capacity = -1, .dtypes = {hp::i64, hp::i64}, .shapes = {hp::Shape{}, hp::Shape{}}});
  const std::array<int64_t, 2> values = {1, 2};
  const hp::Tensor column = hp::Tensor::from(std::span<const int64_t>(values), hp::Shape{2});
  const std::vector<std::string> keys = {"a", "b"};
  hp::Result<void> inserted = barrier.insert_many(0, keys, column);
  CHECK(inserted && barrier.incomplete_size() == 2 && barrier.insert_many(1, {"b", "a"}, column));
  CHECK(barrier.ready_size() == 2 && barrier.close());
  hp::Result<hp::BarrierBatch> batch = barrier.take_many(1);
  CHECK(batch && batch->indices.size() == 1 && batch->keys[0] == "a" && batch->values[1].as<int64_t>()[0] == 2);
  batch = barrier.take_many(9, /*allow_small_batch=*/true, {.timeout = std::chrono::milliseconds(1)});
  CHECK(batch && batch->keys[0] == "b" && barrier.close(true));
  CHECK(barrier.take_many(1).error().kind() == hp::ErrorKind::OutOfRange);
}

void runners() {
  hp::FIFOQueue queue({.capacity = 2, .dtypes = {hp::i64}});
  hp::Coordinator coordinator(hp::CoordinatorOptions{.clean_stop_kinds = {hp::ErrorKind::OutOfRange}});
  const hp::QueueRunnerOptions options{.queue_closed_kinds = {hp::ErrorKind::OutOfRange},
                                       .close_op = [queue]() mutable { return queue.close(); },
                                       .cancel_op = [queue]() mutable { return queue.close(true); }};
  std::vector<std::function<hp::Result<void>(std::stop_token)>> producers;
  producers.emplace_back([queue, next = int64_t{0}](const std::stop_token& stop) mutable -> hp::Result<void> {
    if (next == 5) return hp::fail(hp::ErrorKind::OutOfRange, "end");
    return queue.enqueue(number(next++), {.stop = stop});
  });
  hp::QueueRunner(queue, producers, options).start(coordinator);
  int64_t sum = 0;
  for (hp::Element element : queue) sum += element[0].as<int64_t>()[0];
  CHECK(sum == 10);
  coordinator.start("own", [](const std::stop_token&) -> hp::Result<void> { return {}; });
  CHECK(coordinator.join({.stop_grace_period = std::chrono::seconds(60), .ignore_live_threads = false}));
  CHECK(coordinator.joined() && !coordinator.should_stop() && coordinator.raise_requested_exception());
  coordinator.clear_stop();
  coordinator.stop_on_exception([] {});
  CHECK(!coordinator.wait_for_stop(std::chrono::milliseconds(1)) && !coordinator.stop_token().stop_requested());
  int calls = 0;
  hp::LooperThread::loop(coordinator, std::chrono::nanoseconds(0), [&]() -> hp::Result<void> {
    return ++calls < 3 ? hp::Result<void>() : coordinator.request_stop();
  });
  CHECK(coordinator.wait_for_stop() && coordinator.join() && calls == 3);
  CHECK(coordinator.request_stop() && coordinator.request_stop(hp::Error()) && coordinator.wait_for_stop());
}

hp::Result<hp::Generator> counting(int64_t from) {
  return [next = from]() mutable -> hp::Result<std::optional<hp::Element>> {
    if (next == 6) return std::nullopt;
    return hp::Element{hp::Tensor::scalar(next++)};
  };
}

hp::Dataset all_operators() {
  const auto generated = hp::from_generator(
      [](uint64_t) { return *counting(0); }, {{"", hp::i64, {}}},
      {.name = "counting", .version = 1, .seek = [](uint64_t, int64_t position) { return counting(position); }});
  const std::vector<int64_t> values = {1, 2, 3, 4};
  const auto slices = hp::from_tensor_slices(hp::Tensor::from(std::span<const int64_t>(values), {4}));
  const auto numbers = hp::concatenate({hp::range(9) | hp::skip(1) | hp::take(8) | hp::shard(2, 0), slices, generated});
  const hp::MapOptions waits{.output = {}, .name = "waits", .version = 1, .blocking = true};
  return hp::zip(
             {numbers | hp::filter([](int64_t x) { return x != 3; }) | hp::repeat(2), hp::range(100) | hp::cache()}) |
         hp::map([](int64_t x, int64_t y) { return static_cast<float>(x + y); }, waits) | hp::add_noise(0.5F) |
         hp::shuffle(10) | hp::random_u32({.field = "bits"}) | hp::enumerate() |
         hp::batch(2, {.drop_remainder = true}) | hp::random_flip(0, {.field = "bits"}) |
         hp::padded_batch(3, {.drop_remainder = false});
}

void datasets() {
  const hp::Dataset dataset = all_operators();
  CHECK(dataset.kind() == hp::Kind::stream && !dataset.cardinality() && !dataset.plan().empty());
  CHECK(dataset.spec().size() == 3 && hp::explain(dataset).stages.size() > 3);
  hp::Sequence sequence(dataset, {.seed = 7, .epochs = 2});
  hp::Loader loader(dataset, {.epochs = 2,
                              .seed = 7,
                              .threads = 2,
                              .io_threads = 4,
                              .memory = 1 << 20,
                              .run_ahead = 8,
                              .consumer_helps = true,
                              .deterministic = true});
  for (auto epoch : loader.epochs()) {
    for (const hp::Batch& batch : epoch) {
      const auto same = sequence.next();
      CHECK(same && loader.state() == sequence.state());
      CHECK(batch.epoch() == epoch.index() && batch.index() == sequence.index());
      CHECK(batch["bits"].size() == (*same)["bits"].size() && batch.size() == batch.element().size());
    }
  }
  CHECK(hp::at_end(loader.next()) && loader.stats().batches > 0);
  auto restored = hp::Loader::restored(dataset, {.epochs = 2, .seed = 7}, loader.state());
  CHECK(restored && hp::at_end(restored->next()) && hp::at_end(restored->next_in_epoch()));
  hp::Loader flat(hp::range(3) | hp::shuffle() | hp::batch(1));
  int64_t sum = 0;
  for (const hp::Batch& batch : flat) sum += batch[0].as<int64_t>()[0];
  flat.next_epoch();
  for (const hp::Batch& batch : hp::Loader(hp::range(3), {.epochs = 2})) sum += batch[0].as<int64_t>()[0];
  CHECK(sum == 9);
}

void records() {
  const std::string path = "names_test.tfrecord";
  const hp::RecordWriterOptions plain{.mode = hp::WriteMode::replace, .compression = hp::Compression::none, .level = 6};
  const auto writer = hp::RecordWriter::open(path, plain).value();
  CHECK(writer->append("a") && writer->append("") && writer->flush() && writer->close());
  CHECK(writer->records() == 2 && writer->cut_bytes() == 0 && writer->path() == path);
  const auto reader =
      hp::RecordReader::open(path, {.on_damage = hp::OnDamage::skip, .max_record_bytes = 9, .expected_records = 2});
  CHECK((*reader)->next().value()->size() == 1 && (*reader)->check() && (*reader)->counts().records == 1);
  const hp::RecordPosition position = (*reader)->position();
  CHECK(position.offset == 17 && (*reader)->seek(position) && (*reader)->next().value()->empty());
  CHECK((*reader)->name() == path && hp::to_string((*reader)->compression()) == "none");
  const auto file = hp::RecordFile::open(path, {.keep_index = false}).value();
  CHECK(file->size() == 2 && file->at(0).value().size() == 1 && file->check() && file->lost_bytes() == 0);
  const auto mapped = hp::MappedFile::open(path).value();
  CHECK(hp::read_frame(mapped->bytes(), 17, path)->next_offset == 33 && !mapped->lost() && mapped->check());
  CHECK(hp::RecordIndex::make(*mapped).value().offset(1) == 17 && hp::mark_of(*mapped).size == 33);
  CHECK(hp::expand_files(path)->front() == path && std::remove(path.c_str()) == 0);
}

}  // namespace

int main() {
  errors();
  tensors();
  queues();
  queues_of_other_types();
  staging_areas();
  barriers();
  runners();
  datasets();
  records();
  std::cout << "all names work\n";
}
