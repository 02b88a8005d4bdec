// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "headpond/base/thread.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::atomic<int> g_open{0}, g_most_open{0}, g_opened{0};

// `size` numbers from the path on, which is a number; counts how many of these live.
class Counted final : public SourceFile {
 public:
  Counted(int64_t first, int64_t size, bool is_file = false) : first_(first), size_(size), is_file_(is_file) {
    ++g_opened;
    g_most_open = std::max(g_most_open.load(), ++g_open);
  }
  ~Counted() override { --g_open; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  int64_t size() const override { return size_; }
  std::optional<FileMark> mark() const override { return is_file_ ? std::nullopt : std::optional(FileMark()); }
  Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
    out.append(Tensor::scalar(first_ + i));
    return Got::value;
  }

 private:
  const int64_t first_, size_;
  const bool is_file_;
};

std::vector<std::string> names(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(std::to_string(100 * i));
  return all;
}

Dataset counted(int files, OpenSourceFile open, size_t most_open) {
  return source_files(
      {.op = "counted", .spec = {{"", DType::i64, {}}}},
      {.patterns = names(files), .open = std::move(open), .keep_counts = false, .most_open = most_open});
}

Dataset counted(int files, size_t most_open) {
  g_most_open = g_opened = 0;
  return counted(
      files, [](const std::string& path) { return std::make_unique<Counted>(std::stoll(path), 3); }, most_open);
}

TEST(FileSet, KeepsFewOfManyOpenAndGivesTheSame) {
  const auto expected = elements(counted(100, 100));
  ASSERT_EQ(expected.size(), 300U);
  EXPECT_EQ(g_most_open, 100) << "control";
  EXPECT_EQ(g_opened, 100) << "each once";
  EXPECT_EQ(elements(counted(100, 1)), expected);
  EXPECT_LE(g_most_open, 3);
  check_contract(counted(40, 4) | shuffle());
  EXPECT_EQ(g_open, 0);
}

// Gives offsets, and counts how often it is opened without those it gave before.
class WithOffsets final : public SourceFile {
 public:
  WithOffsets(int64_t first, std::shared_ptr<const RecordIndex> known) : first_(first), offsets_(std::move(known)) {
    if (offsets_ != nullptr) return;
    ++g_opened;
    RecordIndex made({.size = 3, .modified_ns = first});
    for (const uint64_t offset : {0, 1, 2, 3}) made.add(offset);
    offsets_ = std::make_shared<const RecordIndex>(std::move(made));
  }
  int64_t size() const override { return 3; }
  std::optional<FileMark> mark() const override { return FileMark(); }
  std::shared_ptr<const RecordIndex> offsets() const override { return offsets_; }
  Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
    EXPECT_EQ(offsets_->mark().modified_ns, first_) << "those of this file";
    out.append(Tensor::scalar(first_ + i));
    return Got::value;
  }

 private:
  const int64_t first_;
  std::shared_ptr<const RecordIndex> offsets_;
};

TEST(FileSet, KeepsTheOffsetsOfFilesThatItCloses) {
  g_opened = 0;
  const auto open = [](const std::string& path, std::shared_ptr<const RecordIndex> known) {
    return std::make_unique<WithOffsets>(std::stoll(path), std::move(known));
  };
  EXPECT_EQ(elements(counted(100, open, 7) | shuffle()).size(), 300U);
  EXPECT_EQ(g_opened, 100) << "each once";
}

TEST(FileSet, ThreadsShareAPoolOfFewerFiles) {
  const Dataset dataset = counted(200, 70);
  const auto view = dataset.node()->bind({});
  {
    std::vector<Thread> threads;
    for (int t = 0; t < 6; ++t) {
      threads.emplace_back("asks", [&, t] {
        for (int64_t i = 0; i < 600; ++i) {
          const int64_t record = (i * 7 + 11 * t) % 600;
          Context context;
          Element out;
          ASSERT_EQ(view->at(record, context, {}, out), Got::value);
          EXPECT_EQ(out[0].item<int64_t>(), 100 * (record / 3) + record % 3);
        }
      });
    }
  }
  // A thread may have two outside of the pool: one that it closes, and the one that it reads, for which others have put
  // another file into the pool meanwhile.
  EXPECT_LE(g_most_open, 70 + 2 * 6);
}

TEST(FileSet, AllSetsTogetherHaveALimit) {
  const auto many = [] { return counted(static_cast<int>(kMostOpenFiles), kMostOpenFiles); };
  const Dataset first = many();
  ASSERT_TRUE(check(first));
  EXPECT_EQ(g_open, static_cast<int>(kMostOpenFiles));
  const Dataset second = many();
  EXPECT_EQ(elements(second | take(30'000)).size(), 30'000U);
  EXPECT_LE(g_open, static_cast<int>(kMostOpenOfAllSets));
}

TEST(FileSet, OpensNothingUntilItIsBound) {
  g_opened = 0;
  const Dataset dataset = counted(3, 100) | shuffle() | batch(2);
  EXPECT_EQ(g_opened, 0);
  EXPECT_TRUE(check(dataset));
  EXPECT_EQ(g_opened, 3);
  EXPECT_EQ(dataset.cardinality(), 5);
  EXPECT_EQ(elements(dataset).size(), 5U);
  EXPECT_EQ(g_opened, 3);
}

TEST(FileSet, TellsOfAFileThatHasOtherRecordsNow) {
  std::map<std::string, int64_t> sizes = {{"0", 2}, {"100", 2}, {"200", 2}};
  const Dataset dataset = counted(
      3, [&](const std::string& path) { return std::make_unique<Counted>(std::stoll(path), sizes[path]); }, 1);
  ASSERT_TRUE(check(dataset));
  sizes["100"] = 5;
  EXPECT_THAT(elements(dataset),
              ElementsAre("0", "1", HasSubstr("100 has 5 records, and had 2"), HasSubstr("100 has 5"), "200", "201"));
}

TEST(FileSet, PassesOnWhatCannotBeOpened) {
  bool is_there = true;
  const auto open = [&](const std::string& path) -> std::unique_ptr<const SourceFile> {
    if (!is_there && path == "100") throw Exception(Error(ErrorKind::NotFound, path + " is gone"));
    return std::make_unique<Counted>(std::stoll(path), 1);
  };
  const Dataset dataset = counted(3, open, 1);
  ASSERT_TRUE(check(dataset));
  is_there = false;
  EXPECT_THAT(elements(dataset), ElementsAre("0", HasSubstr("100 is gone"), "200"));
  const Dataset lost = counted(3, open, 1);
  EXPECT_THAT(check(lost).error().message(), HasSubstr("100 is gone"));
  is_there = true;
  EXPECT_EQ(elements(lost).size(), 3U) << "it is looked for again";
}

TEST(FileSet, TriesAgainWhatMayPassAndGivesUpAfterAWhile) {
  const int64_t before = first_retry_ns.exchange(1000);
  int failures = 2, tries = 0;
  const auto open = [&](const std::string& path) -> std::unique_ptr<const SourceFile> {
    ++tries;
    if (failures-- > 0)
      throw Exception(Error::of_system(ErrorKind::FailedPrecondition, path + " does not answer", ETIMEDOUT));
    return std::make_unique<Counted>(std::stoll(path), 1);
  };
  EXPECT_EQ(elements(counted(1, open, 1)).size(), 1U);
  EXPECT_EQ(tries, 3);
  failures = 100;
  tries = 0;
  EXPECT_THAT(check(counted(1, open, 1)).error().message(), HasSubstr("does not answer"));
  EXPECT_EQ(tries, 4);
  first_retry_ns = before;
}

TEST(FileSet, ThreadsThatAskForTheSameFileOpenItOnce) {
  const test::TempFolder cache, data;
  setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  const int64_t before = youngest_cached_ns.exchange(-1'000'000'000);
  for (const char* name : {"a", "b"}) test::put_file(data.file(name), test::to_bytes("x"));
  const auto open = [](const std::string&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return std::make_unique<Counted>(1, 1, true);
  };
  const auto make = [&] {
    return source_files({.op = "slow", .spec = {{"", DType::i64, {}}}}, {.patterns = {data.file("*")}, .open = open});
  };
  EXPECT_TRUE(check(make()));
  g_opened = 0;
  const Dataset again = make();
  const auto view = again.node()->bind({});
  EXPECT_EQ(g_opened, 0);
  {
    std::vector<Thread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back("asks", [&] {
        Context context;
        Element out;
        EXPECT_EQ(view->at(0, context, {}, out), Got::value);
      });
    }
  }
  EXPECT_EQ(g_opened, 1);
  youngest_cached_ns = before;
  unsetenv("XDG_CACHE_HOME");
}

TEST(FileSet, AnErrorThatAllEndWithIsFoundOnce) {
  int tries = 0;
  const auto open = [&](const std::string& path) -> std::unique_ptr<const SourceFile> {
    ++tries;
    throw Exception(Error(ErrorKind::DataLoss, path + " is damaged"));
  };
  EXPECT_THAT(check(counted(50, open, 100)).error().message(), HasSubstr("0 is damaged"));
  EXPECT_EQ(tries, 1);
}

TEST(FileSet, AFileThatFailsIsNotOpenedForEachRecord) {
  int opened = 0;
  bool is_there = true;
  const auto open = [&](const std::string& path) -> std::unique_ptr<const SourceFile> {
    ++opened;
    if (!is_there && path == "0") throw Exception(Error(ErrorKind::NotFound, path + " is gone"));
    return std::make_unique<Counted>(std::stoll(path), 50);
  };
  first_retry_ns = 10'000'000;
  const Dataset dataset = counted(3, open, 1);
  ASSERT_TRUE(check(dataset));
  is_there = false;
  opened = 0;
  EXPECT_THAT(elements(dataset | take(50)), testing::Each(HasSubstr("0 is gone")));
  EXPECT_EQ(opened, 1);
}

// Two numbers, of which the second cannot be read until `failures` is 0.
class Failing final : public SourceFile {
 public:
  explicit Failing(int& failures) : failures_(failures) { ++g_opened; }
  int64_t size() const override { return 2; }
  std::optional<FileMark> mark() const override { return FileMark(); }
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    out.append(Tensor::scalar(i));
    is_lost_ = i == 1 && failures_ > 0;
    if (!is_lost_) return Got::value;
    --failures_;
    return context.fail(Error::of_system(ErrorKind::DataLoss, "the disk failed", EIO));
  }
  bool is_lost() const override { return is_lost_; }

 private:
  int& failures_;
  mutable bool is_lost_ = false;
};

TEST(FileSet, ReadsAgainWhatMayPassFromAFileThatIsOpenedAgain) {
  const int64_t before = first_retry_ns.exchange(1000);
  int failures = 0;
  const auto open = [&](const std::string&) { return std::make_unique<Failing>(failures); };
  for (const size_t most_open : {1U, 10U}) {
    const Dataset dataset = counted(2, open, most_open);
    ASSERT_TRUE(check(dataset));
    failures = 2;
    g_opened = 0;
    EXPECT_THAT(elements(dataset), ElementsAre("0", "1", "0", "1"));
    EXPECT_EQ(g_opened, most_open == 1 ? 4 : 2);
    failures = 4;
    EXPECT_THAT(elements(dataset), ElementsAre("0", HasSubstr("the disk failed"), "0", "1"));
  }
  first_retry_ns = before;
}

class CachedCounts : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1);
    youngest_cached_ns = -1'000'000'000;
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    youngest_cached_ns = 2'000'000'000;
  }

  void put(const std::string& name, const std::string& text) { test::put_file(data_.file(name), test::to_bytes(text)); }
  static int64_t opened(const Dataset& dataset) {
    g_opened = 0;
    EXPECT_TRUE(check(dataset));
    return g_opened;
  }
  // Each file has as many numbers as bytes.
  Dataset dataset() const {
    const auto open = [](const std::string& path) {
      return std::make_unique<Counted>(1, static_cast<int64_t>(std::filesystem::file_size(path)), true);
    };
    return source_files({.op = "sizes", .spec = {{"", DType::i64, {}}}}, {.patterns = {data_.file("*")}, .open = open});
  }

  const test::TempFolder cache_, data_;
};

TEST_F(CachedCounts, SpareOpeningUntilARecordIsAskedFor) {
  put("a", "xx");
  put("b", "yyy");
  EXPECT_EQ(opened(dataset()), 2);
  EXPECT_EQ(opened(dataset()), 0);
  EXPECT_EQ(dataset().cardinality(), 5);
  g_opened = 0;
  EXPECT_EQ(elements(dataset() | take(2)).size(), 2U);
  EXPECT_EQ(g_opened, 1);
  EXPECT_EQ(elements(dataset()).size(), 5U);
}

TEST_F(CachedCounts, AFileThatChangedIsCountedAnew) {
  put("a", "xx");
  put("b", "yyy");
  EXPECT_EQ(opened(dataset()), 2);
  put("b", "yyyy");
  EXPECT_EQ(opened(dataset()), 1);
  EXPECT_EQ(dataset().cardinality(), 6);
  put("c", "z");
  EXPECT_EQ(opened(dataset()), 3) << "another set";
  EXPECT_EQ(opened(dataset()), 0);
}

TEST_F(CachedCounts, AFileThatChangesBeforeItIsOpenedIsNotMixedWithTheOthers) {
  const int64_t before = first_retry_ns.exchange(1);
  put("a", "xx");
  put("b", "yyy");
  EXPECT_EQ(opened(dataset()), 2);
  const Dataset bound = dataset();
  ASSERT_TRUE(check(bound));
  put("b", "zzz");
  const auto changed = HasSubstr("b: it has changed");
  EXPECT_THAT(elements(bound), ElementsAre("1", "2", changed, changed, changed));
  put("b", "yyy");
  EXPECT_EQ(elements(bound).size(), 5U) << "only its time is another one";
  first_retry_ns = before;
}

TEST_F(CachedCounts, AFileThatChangedJustNowIsCountedAgain) {
  youngest_cached_ns = 3'600'000'000'000;
  put("a", "xx");
  put("b", "yyy");
  EXPECT_EQ(opened(dataset()), 2);
  EXPECT_EQ(opened(dataset()), 2);
}

TEST_F(CachedCounts, OfAFileThatIsReplacedWhileItIsReadAreOfOneContent) {
  put("a", "xx");
  put("b", "yyy");
  bool is_replaced = false;
  const auto open = [&](const std::string& path) {
    const auto size = static_cast<int64_t>(std::filesystem::file_size(path));
    if (path == data_.file("b") && !is_replaced) {
      is_replaced = true;
      put("new", "yyyyy");
      std::filesystem::rename(data_.file("new"), path);
    }
    return std::make_unique<Counted>(1, size, true);
  };
  const Dataset dataset = source_files({.op = "sizes", .spec = {{"", DType::i64, {}}}},
                                       {.patterns = {data_.file("a"), data_.file("b")}, .open = open});
  EXPECT_EQ(dataset.cardinality(), 2 + 5);
}

TEST_F(CachedCounts, AStateBelongsToDataWhereverItLies) {
  const auto lines = [](const test::TempFolder& folder) { return text_lines(folder.file("*")); };
  put("a", "x");
  put("b", "yyy");
  Sequence before(lines(data_));
  ASSERT_TRUE(before.next());
  const test::TempFolder other;
  std::filesystem::copy(data_.path(), other.path(), std::filesystem::copy_options::recursive);
  auto moved = Sequence::restored(lines(other), {}, before.state());
  ASSERT_TRUE(moved) << moved.error();
  EXPECT_EQ(text_of(*moved->next()), "'yyy'");
  EXPECT_NE(lines(other).plan(), lines(data_).plan()) << "which a reader of plans sees";
  test::put_file(other.file("b"), test::to_bytes("yyz"));
  EXPECT_FALSE(Sequence::restored(lines(other), {}, before.state())) << "other data";
  test::put_file(other.file("b"), test::to_bytes("yyy"));
  std::filesystem::rename(other.file("b"), other.file("c"));
  EXPECT_FALSE(Sequence::restored(lines(other), {}, before.state())) << "another name";
}

TEST_F(CachedCounts, LeavesOutWhatIsLostAndKeepsNothingThen) {
  put("a", "xx");
  std::filesystem::create_symlink("/no/such/file", data_.file("b"));
  const auto open = [](const std::string& path) {
    if (!std::filesystem::exists(path)) throw Exception(Error(ErrorKind::NotFound, path + " is missing"));
    return std::make_unique<Counted>(1, 2, true);
  };
  const auto make = [&](bool leave_out) {
    return source_files({.op = "sizes", .spec = {{"", DType::i64, {}}}},
                        {.patterns = {data_.file("*")}, .open = open, .leave_out_lost = leave_out});
  };
  EXPECT_THAT(check(make(false)).error().message(), HasSubstr("is missing"));
  EXPECT_EQ(elements(make(true)).size(), 2U);
  EXPECT_EQ(opened(make(true)), 1) << "the lost one is looked for again";
  std::filesystem::remove(data_.file("a"));
  EXPECT_THAT(check(make(true)).error().message(), HasSubstr("is missing")) << "that is all files";
}

}  // namespace
}  // namespace headpond::internal
