// SPDX-License-Identifier: Apache-2.0
// cache("DIR") and snapshot: what is kept, for whom, and what is made again.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "headpond/base/log.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/io/cache/cache_folder.h"
#include "headpond/io/cache/cache_store.h"
#include "headpond/io/file/system_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CacheOnDisk : public testing::Test {
 protected:
  void SetUp() override {
    old_sink_ = set_log_sink([this](LogLevel level, std::string_view line) {
      if (level >= LogLevel::warning) log_.emplace_back(line);
    });
  }
  void TearDown() override { set_log_sink(old_sink_); }

  // Counts what is made; a new function each time, as in a new process.
  Step counting(int version = 1) {
    return map(
        [this, version](int64_t x) {
          ++made_;
          return 10 * x + version;
        },
        {.name = "tens", .version = version});
  }
  int take_made() { return made_.exchange(0); }
  const std::string& dir() const { return folder_.path(); }

  const test::TempFolder folder_;
  std::atomic<int> made_ = 0;
  std::vector<std::string> log_;

 private:
  LogSink old_sink_;
};

TEST_F(CacheOnDisk, KeepsTheContract) {
  const Step all[] = {cache(dir()), cache({.folder = dir(), .spill = true, .memory = 20}), snapshot(dir())};
  for (const Step& kept : all) {
    check_contract(range(5) | kept);
    check_contract(range(5) | filter([](int64_t x) { return x % 2 == 0; }, {.name = "even"}) | kept);
    check_contract(range(5) | as_stream() | kept);
    check_contract(range(5) | batch(2) | kept | batch(2));
    check_contract(range(5) | random_u32() | kept | random_u32({.field = "above"}));
    check_contract(from_tensor_slices({{"a", Tensor::from(std::vector<std::string>{"x", "", "yy"}, {3})},
                                       {"b", Tensor::from(std::vector<float>(60, 1.5F), {3, 20})}}) |
                   kept);
  }
}

TEST_F(CacheOnDisk, MakesEachElementOnceForAllPrograms) {
  for (const bool stream : {false, true}) {
    const auto dataset = [&] { return (stream ? range(4) | as_stream() : range(4)) | counting() | cache(dir()); };
    const auto expected = elements(dataset(), {}, true);
    EXPECT_EQ(take_made(), 4);
    EXPECT_EQ(elements(dataset(), {}, true), expected);
    EXPECT_EQ(elements(dataset(), {.seed = 5}, true), expected) << "nothing is drawn, so seeds share it";
    EXPECT_EQ(elements(dataset(), {.epochs = 3}).size(), 12U);
    EXPECT_EQ(take_made(), 0);
  }
}

TEST_F(CacheOnDisk, APartialPassIsContinued) {
  for (const bool stream : {false, true}) {
    const auto dataset = [&] { return (stream ? range(9) | as_stream() : range(9)) | counting() | cache(dir()); };
    {
      Sequence sequence(dataset());
      for (int i = 0; i < 6; ++i) ASSERT_TRUE(sequence.next());
    }
    EXPECT_EQ(take_made(), 6);
    EXPECT_EQ(elements(dataset()).size(), 9U);
    EXPECT_EQ(take_made(), stream ? 9 : 3) << "a stream is read from its beginning, but nothing is written again";
    EXPECT_EQ(elements(dataset()).size(), 9U);
    EXPECT_EQ(take_made(), 0);
  }
  EXPECT_THAT(log_, IsEmpty()) << "an early end is no reason for a warning";
}

TEST_F(CacheOnDisk, AnyOrderFillsIt) {
  const auto kept = [&] { return range(50) | counting() | cache(dir()); };
  (void)elements(kept() | shuffle() | take(20), {.seed = 3});
  EXPECT_EQ(take_made(), 20);
  EXPECT_EQ(elements(kept()), elements(range(50) | counting()));
  EXPECT_EQ(take_made(), 30 + 50);
}

TEST_F(CacheOnDisk, TrainingAndEvaluationShareIt) {
  const Dataset train = range(8) | counting() | cache(dir()) | shuffle();
  const Dataset evaluation = range(8) | counting() | cache(dir());
  (void)elements(train);
  (void)elements(evaluation);
  EXPECT_EQ(take_made(), 8);
}

TEST_F(CacheOnDisk, AnotherVersionOfAFunctionIsMadeAnew) {
  EXPECT_THAT(elements(range(2) | counting(1) | cache(dir())), ElementsAre("1", "11"));
  EXPECT_THAT(elements(range(2) | counting(2) | cache(dir())), ElementsAre("2", "12"));
  EXPECT_THAT(elements(range(2) | counting(1) | cache(dir())), ElementsAre("1", "11"));
  EXPECT_EQ(take_made(), 4) << "both are kept";
}

// A cache that knows only the path of the data, as TensorFlow's.
Dataset keyed_by_path(const Dataset& dataset, const std::string& dir) {
  const auto store = CacheStore::open(dir, {.text = "the same path\n"});
  class View final : public headpond::View {
   public:
    View(std::shared_ptr<const headpond::View> input, std::shared_ptr<CacheStore> store)
        : input_(std::move(input)), store_(std::move(store)) {}
    Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
      if (store_->find(i, out) == CacheStore::Answer::value) return Got::value;
      const Got got = input_->at(i, context, {}, out);
      if (got == Got::value) store_->keep(i, out);
      return got;
    }
    const std::shared_ptr<const headpond::View> input_;
    const std::shared_ptr<CacheStore> store_;
  };
  class ByPath final : public Node {
   public:
    ByPath(const Node::Ref& input, std::shared_ptr<CacheStore> store)
        : Node(facts_over(input, "kept", "", input->spec())), store_(std::move(store)) {}
    std::shared_ptr<const headpond::View> bind(const Binding& binding) const override {
      return std::make_shared<View>(view_of(input(), binding), store_);
    }
    const std::shared_ptr<CacheStore> store_;
  };
  return Dataset(std::make_shared<ByPath>(dataset.node(), store));
}

TEST_F(CacheOnDisk, IsNeverStale) {
  const test::TempFolder data;
  int stale = 0;
  for (int change = 0; change < 4; ++change) {
    const std::string line = std::string(9000, 'x') + std::to_string(change) + std::string(9000, 'y') + "\n";
    test::put_file(data.file("a.txt"), test::to_bytes(line));
    std::filesystem::last_write_time(data.file("a.txt"),
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(9 - change));
    const auto expected = elements(text_lines(data.file("a.txt")));
    EXPECT_EQ(elements(text_lines(data.file("a.txt")) | cache(dir())), expected) << "change " << change;
    stale += elements(keyed_by_path(text_lines(data.file("a.txt")), dir())) != expected ? 1 : 0;
  }
  EXPECT_EQ(stale, 3) << "control: a key without the data gives what was there before";
}

TEST_F(CacheOnDisk, SeedsOfRandomOperatorsDoNotMix) {
  const auto drawn = [&] { return range(3) | random_u32(); };
  for (const uint64_t seed : {1, 2, 1}) {
    const auto frozen = elements(drawn() | cache(dir()), {.seed = seed, .epochs = 2});
    const auto epoch0 = elements(drawn(), {.seed = seed});
    EXPECT_EQ(std::vector(frozen.begin(), frozen.begin() + 3), epoch0);
    EXPECT_EQ(std::vector(frozen.begin() + 3, frozen.end()), epoch0);
  }
}

TEST_F(CacheOnDisk, StatesAreThoseOfAColdAndOfAWarmCache) {
  const test::TempFolder cold;
  for (const bool stream : {false, true}) {
    const auto dataset = [&](const std::string& folder) {
      return (stream ? range(9) | as_stream() : range(9)) | counting() | cache(folder) | shuffle(3);
    };
    const SequenceOptions twice = {.seed = 2, .epochs = 2};
    const auto expected = elements(dataset(dir()), twice);
    for (size_t stop = 1; stop < expected.size(); stop += 4) {
      Sequence warm(dataset(dir()), twice),
          memory((stream ? range(9) | as_stream() : range(9)) | counting() | cache() | shuffle(3), twice);
      const std::string fresh = cold.file(fmt::format("{}-{}", stream, stop));
      Sequence first(dataset(fresh), twice);
      for (size_t i = 0; i < stop; ++i) {
        ASSERT_TRUE(warm.next());
        ASSERT_TRUE(first.next());
        ASSERT_TRUE(memory.next());
      }
      EXPECT_EQ(warm.state(), first.state());
      EXPECT_EQ(warm.state(), memory.state()) << "where elements are kept is not part of it";
      for (const std::string& folder : {dir(), fresh, cold.file(fmt::format("{}-{}-new", stream, stop))}) {
        auto restored = Sequence::restored(dataset(folder), twice, warm.state());
        ASSERT_TRUE(restored) << restored.error();
        for (size_t i = stop; i < expected.size(); ++i) EXPECT_EQ(text_of(*restored->next()), expected[i]);
      }
    }
  }
}

TEST_F(CacheOnDisk, KeepsNoErrors) {
  const auto fails_at_1 = [](int64_t x) -> Result<int64_t> {
    if (x == 1) return fail(ErrorKind::DataLoss, "bad");
    return x;
  };
  for (const bool stream : {false, true}) {
    const auto dataset = [&] {
      return (stream ? range(4) | as_stream() : range(4)) | map(fails_at_1, {.name = "fails"}) | cache(dir());
    };
    for (int run = 0; run < 2; ++run) {
      const auto all = elements(dataset(), {.epochs = 2});
      ASSERT_EQ(all.size(), 8U);
      for (const size_t bad : {size_t{1}, size_t{5}}) EXPECT_THAT(all[bad], HasSubstr("range, record 1: bad"));
    }
  }
}

TEST_F(CacheOnDisk, ErrorsAboveANameWhereAnElementCameFrom) {
  const auto fails = [](int64_t) -> Result<int64_t> { return fail(ErrorKind::DataLoss, "no"); };
  for (int run = 0; run < 2; ++run) {
    EXPECT_THAT(elements(range(1) | cache(dir()) | map(fails)), ElementsAre(HasSubstr("range, record 0: no")));
  }
}

TEST_F(CacheOnDisk, ADamagedElementIsMadeAgain) {
  const auto dataset = [&] { return range(3) | counting() | cache(dir()); };
  const auto expected = elements(dataset());
  const std::string data = list_caches(dir()).value().at(0).key + "/data-0000";
  std::fstream file(folder_.file(data), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(80);
  file.put('!');
  file.close();
  take_made();
  EXPECT_EQ(elements(dataset()), expected);
  EXPECT_EQ(take_made(), 1);
  EXPECT_THAT(log_, ElementsAre(testing::AllOf(HasSubstr("/data-0000, offset 0: element 0 is damaged"))));
  EXPECT_EQ(elements(dataset()), expected);
  EXPECT_EQ(take_made(), 0);
}

TEST_F(CacheOnDisk, AFullDiskDoesNotEndTheRun) {
  const Dataset dataset = range(20) | counting() | cache(dir());
  const FaultInjection full([writes = 0](std::string_view call) mutable {
    return Fault{.error = call == "pwrite" && ++writes > 6 ? ENOSPC : 0};
  });
  const auto expected = elements(range(20) | counting());
  EXPECT_EQ(elements(dataset), expected);
  EXPECT_EQ(elements(dataset), expected);
  EXPECT_THAT(log_, ElementsAre(HasSubstr("keeps nothing more")));
}

TEST_F(CacheOnDisk, KeepsNothingThatFollowsAnErrorThatMayPass) {
  std::atomic<bool> fails = true;
  const Step reads = map(
      [&fails](int64_t x) -> Result<int64_t> {
        if (fails && x == 1) return fail(Error::of_system(ErrorKind::FailedPrecondition, "no answer", ESTALE));
        return x;
      },
      {.name = "reads"});
  for (const bool stream : {false, true}) {
    for (const Step& kept : {cache(dir()), cache()}) {
      const Dataset dataset = (stream ? range(5) | as_stream() : range(5)) | reads | batch(2) | kept;
      fails = true;
      EXPECT_THAT(elements(dataset), testing::Contains(HasSubstr("no answer")));
      fails = false;
      EXPECT_THAT(elements(dataset), ElementsAre("[0 1]", "[2 3]", "[4]"));
    }
  }
}

// A file of which a record is asked for when it is gone.
TEST_F(CacheOnDisk, KeepsNoHoleWhereAFileWasLost) {
  class Lost final : public headpond::View {
   public:
    explicit Lost(const std::atomic<bool>& is_lost) : is_lost_(is_lost) {}
    Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
      if (is_lost_ && i == 1) {
        ++context.left_out;
        return Got::hole;
      }
      out.append(Tensor::scalar(i));
      return Got::value;
    }

   private:
    const std::atomic<bool>& is_lost_;
  };
  class Source final : public Node {
   public:
    explicit Source(const std::atomic<bool>& is_lost)
        : Node({.op = "lost", .spec = {{"", DType::i64, {}}}, .kind = Kind::sparse, .slots = 3}), is_lost_(is_lost) {}
    std::shared_ptr<const headpond::View> bind(const Binding&) const override {
      return std::make_shared<Lost>(is_lost_);
    }

   private:
    const std::atomic<bool>& is_lost_;
  };
  std::atomic<bool> is_lost = true;
  for (const Step& kept : {cache(dir()), cache()}) {
    const Dataset dataset = Dataset(std::make_shared<Source>(is_lost)) | kept;
    is_lost = true;
    EXPECT_THAT(elements(dataset), ElementsAre("0", "2"));
    is_lost = false;
    EXPECT_THAT(elements(dataset), ElementsAre("0", "1", "2"));
  }
}

TEST_F(CacheOnDisk, SpillsWhatMemoryDoesNotHold) {
  const auto dataset = [&] { return range(10) | counting() | cache({.folder = dir(), .spill = true, .memory = 32}); };
  const Dataset one = dataset();
  const auto expected = elements(one);
  EXPECT_EQ(list_caches(dir()).value().at(0).elements, 6);
  EXPECT_EQ(elements(one), expected);
  EXPECT_EQ(take_made(), 10);
  EXPECT_EQ(elements(dataset()), expected) << "another program has what was spilled";
  EXPECT_EQ(take_made(), 4);
  const Dataset small = range(10) | counting() | cache({.memory = 32});
  EXPECT_EQ(elements(small, {.epochs = 2}).size(), 20U);
  EXPECT_EQ(take_made(), 16) << "without a folder the others are made again";
}

TEST_F(CacheOnDisk, ManyThreadsFillIt) {
  const Dataset dataset = range(300) | counting() | cache(dir());
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] { EXPECT_EQ(elements(dataset), elements(range(300) | counting())); });
    }
  }
  take_made();
  EXPECT_EQ(elements(dataset).size(), 300U);
  EXPECT_EQ(take_made(), 0);
}

TEST_F(CacheOnDisk, RefusesWhatCannotBeKept) {
  EXPECT_THROW(range(3) | map([](int64_t x) { return x; }) | cache(dir()), Exception);
  EXPECT_NO_THROW(range(3) | map([](int64_t x) { return x; }) | cache());
  EXPECT_THROW(range(3) | cache({.spill = true}), Exception);
  EXPECT_THROW(snapshot(""), Exception);
  EXPECT_NO_THROW(range(3) | cache(""));
  test::put_file(folder_.file("file"), {});
  const Dataset inside_a_file = range(3) | cache(folder_.file("file") + "/x");
  const auto checked = check(inside_a_file);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message(), testing::AllOf(HasSubstr("cache("), HasSubstr("file/x")));
  EXPECT_THROW(Sequence{inside_a_file}, Exception);
}

TEST_F(CacheOnDisk, RefusesLimitsThatNothingWouldKeepTo) {
  EXPECT_THROW(range(3) | cache({.disk = 10}), Exception);
  EXPECT_THROW(range(3) | cache({.folder = dir(), .memory = 10}), Exception);
  EXPECT_NO_THROW(range(3) | cache({.folder = dir(), .spill = true, .memory = 10, .disk = 10}));
}

TEST_F(CacheOnDisk, TheFolderIsNotPartOfTheFingerprint) {
  EXPECT_EQ(identity_of(range(3) | cache("a")), identity_of(range(3) | cache()));
  EXPECT_THAT((range(3) | cache("a")).plan(), HasSubstr("cache('a')"));
}

}  // namespace
}  // namespace headpond::internal
