// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/tensor/rows_kernel.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The numbers from `first` on; `bad` fails.
class Numbers final : public SourceFile {
 public:
  Numbers(int64_t first, int64_t size, int64_t bad = -1) : first_(first), size_(size), bad_(bad) {}
  int64_t size() const override { return size_; }
  std::optional<FileMark> mark() const override { return FileMark(); }
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    if (i == bad_) return context.fail(Error(ErrorKind::DataLoss, "smudged"));
    out.append(Tensor::scalar(first_ + i));
    return Got::value;
  }
  bool fill(int64_t i, Context&, std::span<std::byte* const> targets) const override {
    const int64_t value = first_ + i;
    std::memcpy(targets[0], &value, sizeof(value));
    return i != bad_;
  }
  bool fills() const override { return true; }

 private:
  const int64_t first_, size_, bad_;
};

Dataset numbers(std::vector<std::pair<int64_t, int64_t>> files, int64_t bad = -1,
                std::optional<int64_t> num_parallel_reads = std::nullopt) {
  std::vector<std::string> names;
  for (size_t i = 0; i < files.size(); ++i) names.push_back("file " + std::to_string(i));
  const auto open = [files, bad](const std::string& name) {
    const auto& [first, size] = files[std::stoul(name.substr(5))];
    return std::make_unique<Numbers>(first, size, bad);
  };
  return source_files({.op = "numbers", .spec = {{"", DType::i64, {}}}},
                      {.patterns = names, .open = open, .keep_counts = false}, num_parallel_reads);
}

TEST(SourceFiles, AnErrorHasItsFileAndRecord) {
  Sequence sequence(numbers({{10, 2}, {20, 4}}, 3));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(sequence.next());
  const auto failed = sequence.next();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().place().source, "file 1");
  EXPECT_EQ(failed.error().place().record, 3U);
}

TEST(SourceFiles, AreOneRow) {
  EXPECT_THAT(elements(numbers({{10, 2}, {0, 0}, {20, 1}, {0, 0}}), {}, true), ElementsAre("10 #0", "11 #1", "20 #2"));
  EXPECT_EQ(numbers({}).cardinality(), 0);
  EXPECT_EQ(elements(numbers({})).size(), 0U);
  for (const Dataset& dataset : {numbers({{5, static_cast<int64_t>(test::quick_or(120, 400))}, {1000, 3}, {2000, 90}}),
                                 numbers({{7, 1}}), numbers({{3, 0}})}) {
    check_contract(dataset | shuffle());
    EXPECT_TRUE(fills(*dataset.node()));
  }
}

TEST(SourceFiles, TakeTurnsIfAsked) {
  const std::vector<std::pair<int64_t, int64_t>> files = {{10, 3}, {0, 0}, {20, 1}, {30, 2}};
  EXPECT_THAT(elements(numbers(files, -1, 2), {}, true),
              ElementsAre("10 #0", "11 #1", "20 #3", "12 #2", "30 #4", "31 #5"))
      << "the empty file has a turn";
  EXPECT_THAT(elements(numbers(files, -1, 4)), ElementsAre("10", "20", "30", "11", "31", "12"));
  EXPECT_EQ(elements(numbers(files, -1, -1)), elements(numbers(files, -1, 16)));
  EXPECT_EQ(numbers(files, -1, 1).plan(), numbers(files).plan());
  EXPECT_THAT(numbers(files, -1, -1).plan(), HasSubstr("num_parallel_reads=16"));
  EXPECT_EQ(numbers(files, -1, 2).kind(), Kind::indexed);
  EXPECT_EQ(elements(numbers({}, -1, 2)).size(), 0U);
  for (const int64_t reads : {0, -2}) EXPECT_THROW(numbers(files, -1, reads), Exception);
  for (const Dataset& dataset : {numbers({{5, 20}, {1000, 3}, {2000, 10}}, -1, 2), numbers(files, -1, 3)}) {
    check_contract(dataset);
    check_contract(dataset | shuffle());
    EXPECT_TRUE(fills(*dataset.node()));
  }
}

TEST(SourceFiles, InTurnHaveTheNamesAndKeysThatTheyHaveInARow) {
  const std::vector<std::pair<int64_t, int64_t>> files = {{10, 2}, {20, 2}};
  auto in_a_row = elements(numbers(files), {}, true), in_turn = elements(numbers(files, -1, 2), {}, true);
  EXPECT_NE(in_turn, in_a_row) << "control: another order";
  std::sort(in_turn.begin(), in_turn.end());
  EXPECT_EQ(in_turn, in_a_row);
  Sequence sequence(numbers(files, -1, 2) | skip(1));
  EXPECT_EQ(to_string(sequence.next()->provenance), "file 1, record 0");
  EXPECT_THAT(elements(numbers(files, 1, 2)), ElementsAre("10", "20", HasSubstr("smudged"), HasSubstr("smudged")));
  EXPECT_FALSE(Sequence::restored(numbers(files) | skip(1), {}, sequence.state())) << "another order, another plan";
}

TEST(SourceFiles, NameTheFileAndTheRecordInIt) {
  Sequence sequence(numbers({{10, 2}, {20, 2}}) | skip(3));
  EXPECT_EQ(to_string(sequence.next()->provenance), "file 1, record 1");
  EXPECT_THAT(elements(numbers({{10, 2}, {20, 2}}, 1)),
              ElementsAre("10", HasSubstr("smudged"), "20", HasSubstr("smudged")));
}

TEST(SourceFiles, OfTooManyRecordsAreRefused) {
  EXPECT_FALSE(check(numbers({{0, kEndless - 1}, {0, 2}})));
  EXPECT_TRUE(check(numbers({{0, kEndless - 1}, {0, 0}})));
}

// What a program sees of a source: errors of its elements, or the one that it throws when it is made.
std::vector<std::string> errors_of(const std::function<Dataset()>& make) {
  try {
    std::vector<std::string> errors = elements(make());
    std::erase_if(errors, [](const std::string& element) { return !element.starts_with('!'); });
    return errors;
  } catch (const Exception& e) {
    return {e.what()};
  }
}

TEST(SourceFiles, NameAFileOnceWhateverIsWrongWithIt) {
  const std::function<Dataset(const std::string&)> sources[] = {
      [](const std::string& path) { return tfrecord(path, {.keep_index = false}); },
      [](const std::string& path) { return tar(path); },
      [](const std::string& path) { return npy(path); },
      [](const std::string& path) { return text_lines(path, {.max_line_bytes = 1}); },
      [](const std::string& path) { return csv(path, {.max_row_bytes = 1}); },
      [](const std::string& path) { return fixed_length(path, {.record_bytes = 7}); },
      [](const std::string& path) { return idx(path); },
      [](const std::string& path) { return idx(path, "/dev/null"); },
      [](const std::string& path) { return folder(path); },
  };
  const test::TempFolder temp;
  const std::string path = temp.file("x");
  const std::function<void()> wrongs[] = {
      [] {},  // Missing.
      [&] { std::filesystem::create_directory(path); },
      [&] { test::put_file(path, test::to_bytes("three")); },
      [&] { test::put_file(path, test::to_bytes("\x1f\x8b three")); },
      [&] { test::put_file(path, test::to_bytes("\x93NUMPY three")); },
  };
  for (const auto& make_wrong : wrongs) {
    make_wrong();
    for (const auto& source : sources) {
      const std::vector<std::string> errors = errors_of([&] { return source(path); });
      for (const std::string& error : errors) EXPECT_EQ(test::times_in(error, path), 1U) << error;
      EXPECT_FALSE(errors.empty()) << &make_wrong - wrongs << ", " << &source - sources;
    }
    std::filesystem::remove_all(path);
  }
}

// Three rows that it lends, and how often it did; it must be open when they are used.
class Lending final : public SourceFile {
 public:
  explicit Lending(int& lent) : lent_(lent) {}
  int64_t size() const override { return 3; }
  std::optional<FileMark> mark() const override { return FileMark(); }
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    std::memcpy(context.allocate_output(out, outputs, DType::i64, {4}), &rows_[4 * static_cast<size_t>(i)], 32);
    return Got::value;
  }
  bool lend(int64_t i, Element& out, Loan& loan) const override {
    const auto bytes = std::as_bytes(std::span(rows_)).subspan(32 * static_cast<size_t>(i), 32);
    out.append(Tensor::view(bytes.data(), DType::i64, {4}));
    loan.add({bytes, this, i});
    ++lent_;
    return true;
  }

 private:
  const std::vector<int64_t> rows_ = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  int& lent_;
};

class Twice final : public RowsKernel {
 public:
  Twice() : RowsKernel({.title = "twice"}) {}
  Result<void> run(KernelCall& call) const override {
    const auto from = call.in().as<int64_t>();
    std::ranges::transform(from, call.make<int64_t>(0, {4}).begin(), [](int64_t x) { return 2 * x; });
    return {};
  }
  bool takes_rows(const FieldSpec&) const override { return false; }
  void run_rows(const FieldSpec&, const std::byte*, size_t, std::byte*) const override {}
  bool takes_lent() const override { return true; }
};

TEST(SourceFiles, LendNothingFromFilesThatMayBeClosedMeanwhile) {
  for (const size_t most_open : {1U, 10U}) {
    int lent = 0;
    const auto open = [&](const std::string&) { return std::make_unique<Lending>(lent); };
    const Dataset rows =
        source_files({.op = "rows", .spec = {{"", DType::i64, {4}}}},
                     {.patterns = {"a", "b"}, .open = open, .keep_counts = false, .most_open = most_open});
    const Dataset dataset = rows | map_kernels_step("", {std::make_shared<Twice>()});
    const auto view = view_of(*dataset.node(), {});
    Context context;
    for (int64_t i = 0; i < 6; ++i) {
      Element out;
      ASSERT_EQ(view->at(i, context, {}, out), Got::value) << context.error;
      EXPECT_EQ(out[0].as<int64_t>()[3], 8 * (i % 3 + 1));
    }
    EXPECT_EQ(lent, most_open == 1 ? 0 : 6);
  }
}

TEST(SourceFiles, ThePlanSaysWhichFilesAndTellsTheirContentsApart) {
  const test::TempFolder folder;
  const std::string path = folder.file("x");
  test::put_file(path, test::to_bytes("hello"));
  const std::string plan = text_lines(path).plan();
  EXPECT_THAT(plan, HasSubstr("text_lines('" + path + "', "));
  EXPECT_THAT(plan, HasSubstr(", files=1, digest="));
  EXPECT_EQ(text_lines(path).plan(), plan);
  for (const char* other : {"hellp", "hell", "Hello", ""}) {
    test::put_file(path, test::to_bytes(other));
    EXPECT_NE(text_lines(path).plan(), plan) << other;
  }
  const std::string title = text_lines(std::vector<std::string>(50, std::string(30, 'p'))).node()->title();
  EXPECT_THAT(title, HasSubstr("..., 50 patterns, "));
  EXPECT_LT(title.size(), 350U);
  std::string cyrillic;
  while (cyrillic.size() < 300) cyrillic += "\u0436";
  EXPECT_THAT(text_lines(std::vector{cyrillic, path}).node()->title(), HasSubstr("\u0436..., 2 patterns, "))
      << "no character is cut";
  std::filesystem::remove(path);
  EXPECT_THROW((void)text_lines(path).plan(), Exception);
}

}  // namespace
}  // namespace headpond::internal
