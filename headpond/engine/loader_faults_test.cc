// SPDX-License-Identifier: Apache-2.0
// A Loader where something goes wrong that is nobody's element: operators that throw, pipelines without an element, an
// end in the middle of errors, another process.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "headpond/dataset/run_state.h"
#include "headpond/engine/testing/engine_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// 0, 1, ..., but a place that is a multiple of `bad` throws, and so does every `bad_epoch`th binding.
class Throws final : public Node {
 public:
  Throws(int64_t slots, int64_t bad, uint64_t bad_epoch = UINT64_MAX)
      : Node({.op = "throws", .spec = {{"", DType::i64, {}}}, .slots = slots}), bad_(bad), bad_epoch_(bad_epoch) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    if (binding.epoch == bad_epoch_) throw std::runtime_error("cannot bind");
    class ThrowsView final : public View {
     public:
      explicit ThrowsView(int64_t bad) : bad_(bad) {}
      Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
        if (i % bad_ == bad_ - 1) throw std::runtime_error("bad place");
        out.append(Tensor::scalar(i));
        return Got::value;
      }
      const int64_t bad_;
    };
    return std::make_shared<ThrowsView>(bad_);
  }

 private:
  const int64_t bad_;
  const uint64_t bad_epoch_;
};
Dataset throws(int64_t slots, int64_t bad, uint64_t bad_epoch = UINT64_MAX) {
  return Dataset(std::make_shared<Throws>(slots, bad, bad_epoch));
}

TEST(LoaderFaults, WhatAViewThrowsIsTheErrorOfItsElement) {
  for (const int threads : {0, 2}) {
    EXPECT_THAT(loaded(throws(5, 3), {.threads = threads}), ElementsAre("0", "1", HasSubstr("bad place"), "3", "4"));
    EXPECT_THAT(loaded(throws(5, 3) | batch(2), {.threads = threads}),
                ElementsAre("[0 1]", HasSubstr("bad place"), "[3 4]"));
    EXPECT_THAT(loaded(throws(5, 3) | batch(2), {.threads = threads, .deterministic = false}).size(), 4U);
  }
  EXPECT_THAT(elements(throws(5, 3) | batch(2)), ElementsAre("[0 1]", HasSubstr("bad place"), "[3 4]"));
}

// Leaves out some elements, as a source does whose file is lost.
class LosesSome final : public Node {
 public:
  explicit LosesSome(const std::atomic<bool>& loses)
      : Node({.op = "loses_some", .spec = {{"", DType::i64, {}}}, .kind = Kind::sparse, .slots = 400}), loses_(loses) {}
  std::shared_ptr<const View> bind(const Binding&) const override {
    class LosesView final : public View {
     public:
      explicit LosesView(const std::atomic<bool>& loses) : loses_(loses) {}
      Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
        if (loses_ && i % 100 == 50) {
          ++context.left_out;
          return Got::hole;
        }
        out.append(Tensor::scalar(i));
        return Got::value;
      }
      const std::atomic<bool>& loses_;
    };
    return std::make_shared<LosesView>(loses_);
  }

 private:
  const std::atomic<bool>& loses_;
};

TEST(LoaderFaults, NoCacheKeepsWhatFollowsAnElementThatTheSystemLost) {
  std::atomic<bool> loses = true;
  const Dataset source(std::make_shared<LosesSome>(loses));
  for (const int threads : {0, 2}) {
    for (const Dataset& all : {source, source | as_stream()}) {
      const test::TempFolder folder;
      const Dataset dataset = all | batch(3) | cache(folder.path());
      loses = true;
      const auto lacking = loaded(dataset, {.threads = threads});
      loses = false;
      const auto whole = elements(range(400) | batch(3));
      EXPECT_NE(lacking, whole);
      EXPECT_EQ(loaded(dataset, {.threads = threads}), whole);
    }
  }
}

TEST(LoaderFaults, WhatOpeningThrowsIsTheErrorOfItsEpoch) {
  for (const int threads : {0, 2}) {
    EXPECT_THAT(loaded(throws(2, 9, 1), {.epochs = 3, .threads = threads}),
                ElementsAre("0", "1", HasSubstr("cannot bind"), "0", "1"));
    EXPECT_THAT(loaded(throws(2, 9, 1) | repeat(3), {.threads = threads}),
                ElementsAre("0", "1", HasSubstr("cannot bind"), HasSubstr("cannot bind"), "0", "1"));
  }
}

TEST(LoaderFaults, APartThatCannotBeOpenedIsLeftOut) {
  const Dataset dataset = throws(4, 9, 1) | batch(2) | repeat(3);
  const auto expected = elements(dataset);
  EXPECT_THAT(expected, ElementsAre("[0 1]", "[2 3]", HasSubstr("cannot bind"), "[0 1]", "[2 3]"));
  for (const int threads : {0, 2}) EXPECT_EQ(loaded(dataset, {.threads = threads}), expected);
  Sequence sequence(throws(2, 9, 1), {.epochs = 3});
  int errors = 0, values = 0;
  for (auto next = sequence.next(); !at_end(next); next = sequence.next()) next ? ++values : ++errors;
  EXPECT_EQ(errors, 1) << "of an epoch that cannot be opened, as a Loader says it";
  EXPECT_EQ(values, 4);
}

TEST(LoaderFaults, TheStateStaysBeforeAnEpochThatCannotBeOpened) {
  const Dataset dataset = throws(2, 9, 1);
  Sequence sequence(dataset, {.epochs = 3});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(sequence.next());
  ASSERT_FALSE(sequence.next());
  for (const int threads : {0, 2}) {
    Loader loader(dataset, {.epochs = 3, .threads = threads});
    while (loader.next_in_epoch()) continue;
    EXPECT_FALSE(at_end(loader.next_in_epoch()));
    EXPECT_EQ(loader.state(), sequence.state());
    EXPECT_TRUE(at_end(loader.next_in_epoch())) << "it has an end as others do";
    EXPECT_EQ(loader.next_in_epoch()->epoch(), 2);
  }
}

// 0, 1, ... without positions; nobody can ask where it stands after 5.
class NoPlace final : public Node {
 public:
  NoPlace() : Node({.op = "no_place", .spec = {{"", DType::i64, {}}}, .kind = Kind::stream, .slots = kEndless}) {}
  std::unique_ptr<Iterator> iterate(const Binding&, Feed&) const override {
    class Numbers final : public Iterator {
     public:
      Got next(Context&, Element& out) override {
        out.append(Tensor::scalar(next_++));
        return Got::value;
      }
      void visit_state(StateVisitor& visitor) override {
        if (next_ > 5) throw std::runtime_error("no place");
        visitor.number(next_);
      }
      int64_t next_ = 0;
    };
    return std::make_unique<Numbers>();
  }
  bool iterates() const override { return true; }
};

TEST(LoaderFaults, WhatAWindowLosesComesAfterAllThatWasMade) {
  for (const int threads : {0, 2}) {
    EXPECT_THAT(loaded(Dataset(std::make_shared<NoPlace>()), {.threads = threads}),
                ElementsAre("0", "1", "2", "3", "4", HasSubstr("no place")));
  }
}

// 0, 1, ..., 59 without positions, but some calls, counted over all runs, find no memory.
class NoMemoryAtTimes final : public Node {
 public:
  NoMemoryAtTimes(int first, int count)
      : Node({.op = "no_memory_at_times", .spec = {{"", DType::i64, {}}}, .kind = Kind::stream, .slots = 60}),
        first_(first),
        count_(count) {}
  std::unique_ptr<Iterator> iterate(const Binding&, Feed&) const override {
    class Numbers final : public Iterator {
     public:
      explicit Numbers(const NoMemoryAtTimes& node) : node_(node) {}
      Got next(Context&, Element& out) override {
        const int call = node_.calls_++;
        if (call >= node_.first_ && call < node_.first_ + node_.count_) throw std::bad_alloc();
        if (next_ == node_.slots()) return Got::end;
        out.append(Tensor::scalar(next_++));
        return Got::value;
      }
      void visit_state(StateVisitor& visitor) override { visitor.number(next_); }
      const NoMemoryAtTimes& node_;
      int64_t next_ = 0;
    };
    return std::make_unique<Numbers>(*this);
  }
  bool iterates() const override { return true; }

 private:
  const int first_, count_;
  mutable std::atomic<int> calls_ = 0;
};
Dataset no_memory_at_times(int first, int count) { return Dataset(std::make_shared<NoMemoryAtTimes>(first, count)); }

// What it delivers, and how many errors of memory came between.
std::pair<std::vector<std::string>, int> with_lacks(const Dataset& dataset, const LoaderOptions& options) {
  std::pair<std::vector<std::string>, int> all;
  Loader loader(dataset, options);
  for (auto next = loader.next(); !at_end(next); next = loader.next()) {
    if (next) all.first.push_back(to_string((*next)[0]));
    if (!next) {
      EXPECT_EQ(next.error().kind(), ErrorKind::ResourceExhausted) << next.error();
    }
    all.second += next ? 0 : 1;
    if (all.second > 100) break;
  }
  return all;
}

TEST(LoaderFaults, WhatIsLostForLackOfMemoryComesAfterItsError) {
  const std::vector<std::function<Dataset(const Dataset&)>> pipelines = {
      [](const Dataset& input) { return input; },
      [](const Dataset& input) { return input | batch(8); },
      [](const Dataset& input) { return input | map([](int64_t x) { return 2 * x; }) | batch(7); },
      [](const Dataset& input) { return input | shuffle({.window = 10}) | batch(4); },
      [](const Dataset& input) {
        return zip({input, range(60)}) | batch(8) | take(5);
      },
  };
  for (const auto& pipeline : pipelines) {
    const Dataset whole = pipeline(no_memory_at_times(0, 0));
    const auto expected = with_lacks(whole, {.epochs = 2, .threads = 0});
    ASSERT_EQ(expected.second, 0);
    for (const int threads : {0, 1, 2}) {
      for (const int first : {0, 3, 33, 59, 80}) {
        const auto got = with_lacks(pipeline(no_memory_at_times(first, 3)), {.epochs = 2, .threads = threads});
        EXPECT_EQ(got.first, expected.first) << threads << " threads, from call " << first;
        // What is made ahead and not needed is told to nobody.
        if (first <= 33) {
          EXPECT_GE(got.second, 1) << threads << " threads, from call " << first;
        }
        EXPECT_LE(got.second, 3);
      }
    }
  }
}

TEST(LoaderFaults, AnEpochForWhichThereWasNoMemoryIsOpenedAgain) {
  class NoMemoryToBind final : public Node {
   public:
    explicit NoMemoryToBind(std::atomic<int>& lacks)
        : Node({.op = "no_memory_to_bind", .spec = {{"", DType::i64, {}}}, .slots = 5}), lacks_(lacks) {}
    std::shared_ptr<const View> bind(const Binding& binding) const override {
      if (binding.epoch == 1 && lacks_-- > 0) throw std::bad_alloc();
      return view_of(*range(5).node(), binding);
    }
    std::atomic<int>& lacks_;
  };
  for (const int threads : {0, 2}) {
    std::atomic<int> lacks = 3;
    const auto got = with_lacks(Dataset(std::make_shared<NoMemoryToBind>(lacks)), {.epochs = 3, .threads = threads});
    EXPECT_EQ(got.first.size(), 15U) << threads;
    EXPECT_GE(got.second, 1);
  }
}

TEST(LoaderFaults, PlacesWithoutAnElementForEverAreAnErrorAndNoLoop) {
  const auto never = [](int64_t) { return false; };
  EXPECT_EQ(Holes::most, int64_t{1} << 22);
  Holes::most = 20'000;
  const Dataset dataset = range(10) | repeat() | filter(never);
  Loader loader(dataset, {.threads = 2});
  Sequence sequence(dataset, {});
  EXPECT_THAT(loader.next().error().message(), HasSubstr("filter(opaque): 20000 elements in a row were left out"));
  EXPECT_EQ(sequence.next().error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(loaded(range(10) | repeat(5000) | filter(never), {.threads = 2}), ElementsAre())
      << "control: what ends may be empty";
  Holes::most = int64_t{1} << 22;
}

TEST(LoaderFaults, ABatchThatIsMadeAnewDoesNotHoldUpTheEnd) {
  struct Calls {
    std::atomic<int> first = 0, second = 0;
    Gate gate;
  };
  const auto calls = std::make_shared<Calls>();
  const auto waits_the_second_time = [calls](int64_t x) -> Result<int64_t> {
    if (x == 0 && ++calls->first > 0) return fail(ErrorKind::DataLoss, "first");
    if (calls->first < 2) return x;
    ++calls->second;
    calls->gate.pass();
    return x;
  };
  const auto own = calls.use_count();
  testing::internal::CaptureStderr();
  {
    Loader loader(
        range(2000) | map(waits_the_second_time) | batch(1000),
        {.threads = 1, .run_ahead = 1, .consumer_helps = false, .abandon_after = std::chrono::milliseconds(50)});
    EXPECT_FALSE(loader.next());
    EXPECT_TRUE(becomes_true([&] { return calls->second > 0; })) << "it is made anew, one by one";
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("does not return"));
  calls->gate.open = true;
  EXPECT_TRUE(becomes_true([&] { return calls.use_count() == own; })) << "its thread has ended";
  EXPECT_LT(calls->second, 500) << "not at the end of the batch";
}

#if defined(__SANITIZE_THREAD__)
constexpr int kThreadsAfterFork = 0;  // It ends a process that starts a thread after fork().
#else
constexpr int kThreadsAfterFork = 2;
#endif

TEST(LoaderFaults, AnotherProcessIsToldSoAndIsNotHeldUp) {
  Loader loader(range(100) | batch(3), {.threads = 2});
  ASSERT_TRUE(loader.next());
  const pid_t child = fork();
  if (child == 0) {
    const auto next = loader.next();
    const bool told = !next && next.error().kind() == ErrorKind::FailedPrecondition;
    loader.next_epoch();
    const bool still = loader.stats().batches == 0;
    { Loader gone(std::move(loader)); }
    Loader own(range(7), {.threads = kThreadsAfterFork});
    const bool works = rest_of(own).size() == 7;
    _exit(told && still && works ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(loader.next()) << "it goes on where it was made";
}

TEST(LoaderFaults, InAnyOrderErrorsLeaveNothingInTheState) {
  const Dataset dataset = range(4000) | map([](int64_t x) -> Result<int64_t> {
                            if (x % 1000 == 0) return fail(ErrorKind::DataLoss, "thousands");
                            return x;
                          });
  Loader loader(dataset, {.threads = 2, .deterministic = false});
  int errors = 0, values = 0;
  for (auto next = loader.next(); !at_end(next); next = loader.next()) {
    next ? ++values : ++errors;
    if (values != 3500 || !next) continue;
    EXPECT_LT(loader.state().size(), 2500U);
    auto restored = Loader::restored(dataset, {.threads = 2, .deterministic = false}, loader.state());
    ASSERT_TRUE(restored) << restored.error();
    EXPECT_EQ(rest_of(*restored).size() + static_cast<size_t>(values + errors), 4000U);
  }
  EXPECT_EQ(errors, 4);
  EXPECT_EQ(values, 3996);
}

TEST(LoaderFaults, InAnyOrderAnErrorThatWasGivenBeforeTheRestoreIsNotCountedAgain) {
  const auto gate = std::make_shared<Gate>();
  const Dataset dataset = range(20) | map([gate](int64_t x) -> Result<int64_t> {
                            if (x == 0) gate->pass();
                            if (x == 5 || x == 15) return fail(ErrorKind::DataLoss, "bad");
                            return x;
                          });
  const LoaderOptions options{.threads = 2, .consumer_helps = false, .deterministic = false};
  const auto errors_of = [](const Loader& loader) { return loader.stats().stages.at(0).totals.errors; };
  Loader loader(dataset, options);
  for (int i = 0; i < 10; ++i) (void)loader.next();
  EXPECT_EQ(errors_of(loader), 1) << "that of 5";
  const std::string state = loader.state();
  gate->open = true;
  auto restored = Loader::restored(dataset, options, state);
  ASSERT_TRUE(restored) << restored.error();
  int errors = 0;
  for (auto next = restored->next(); !at_end(next); next = restored->next()) errors += next ? 0 : 1;
  EXPECT_EQ(errors, 1) << "that of 15";
  EXPECT_EQ(errors_of(*restored), 1);
}

TEST(LoaderFaults, InAnyOrderASlowElementIsNotLeftFarBehind) {
  for (const bool blocking : {false, true}) {
    const auto gate = std::make_shared<Gate>();
    const auto passes = [gate, blocking](int64_t x) {
      if (x == 5) gate->pass();
      if (blocking && !gate->open) pause_ms(5);  // So many are made at once.
      return x;
    };
    const Dataset dataset = range(10'000) | map(passes, {.blocking = blocking});
    Loader loader(dataset, {.threads = 2, .io_threads = 64, .consumer_helps = false, .deterministic = false});
    std::atomic<int> taken = 0;
    std::thread program([&] {
      for (; loader.next(); ++taken) continue;
    });
    EXPECT_TRUE(becomes_true([&] { return taken > 1000; }));
    pause_ms(50);
    EXPECT_LE(taken, 5 + 1024) << "what came early is listed in the state";
    gate->open = true;
    program.join();
    EXPECT_EQ(taken, 10'000);
  }
}

TEST(LoaderFaults, AStateThatListsWhatCameEarlyIsNotForARunInOrder) {
  const auto gate = std::make_shared<Gate>();
  const Dataset dataset = range(50) | map([gate](int64_t x) {
                            if (x == 0) gate->pass();
                            return x;
                          });
  const LoaderOptions options{.threads = 2, .consumer_helps = false, .deterministic = false};
  Loader loader(dataset, options);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(loader.next());
  const std::string state = loader.state();
  gate->open = true;
  EXPECT_TRUE(Loader::restored(dataset, options, state)) << "control: for one like it";
  const auto loaded_in_order = Loader::restored(dataset, {.threads = 2}, state);
  const auto sequence = Sequence::restored(dataset, {}, state);
  ASSERT_FALSE(loaded_in_order || sequence);
  for (const Error& error : {loaded_in_order.error(), sequence.error()}) {
    EXPECT_EQ(error.kind(), ErrorKind::FailedPrecondition);
    EXPECT_THAT(error.message(), HasSubstr("deterministic=false"));
  }
}

// The number of a file's lines is known when it is bound, but nothing above the assertion asks for it.
TEST(LoaderFaults, ANumberThatIsNotTheAssertedOneIsToldWhereNobodyAsksForIt) {
  const test::TempFolder folder;
  const std::string path = folder.file("a.txt");
  std::ofstream(path) << "one\ntwo\n";
  const auto asserted = [&](int64_t lines) {
    return text_lines({path}) | batch(1) | assert_cardinality(lines) | enumerate() |
           bucket_by_sequence_length([](int64_t, const Tensor&) { return 1; }, {9}, {1, 1}, {.name = "one"}) |
           assert_cardinality(2);
  };
  for (const int threads : {0, 2}) {
    Loader wrong(asserted(3), {.threads = threads});
    const auto next = wrong.next();
    ASSERT_FALSE(next);
    EXPECT_THAT(next.error().to_string(), testing::HasSubstr("expected 3 elements, the input has 2"));
    EXPECT_EQ(loaded(asserted(2), {.threads = threads}).size(), 2U) << "control";
  }
}

}  // namespace
}  // namespace headpond::internal
