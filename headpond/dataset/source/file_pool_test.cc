// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <map>

#include "headpond/dataset/source/file_pool_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

std::atomic<int> g_open{0}, g_most_open{0}, g_opened{0};

// `size` numbers from the path, which is a number; counts how many of these live.
class Counted final : public SourceFile {
 public:
  Counted(int64_t first, int64_t size) : first_(first), size_(size) {
    ++g_opened;
    g_most_open = std::max(g_most_open.load(), ++g_open);
  }
  ~Counted() override { --g_open; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  int64_t size() const override { return size_; }
  Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
    out.append(Tensor::scalar(first_ + i));
    return Got::value;
  }

 private:
  const int64_t first_, size_;
};

std::vector<std::string> names(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(std::to_string(100 * i));
  return all;
}

Dataset counted(int files, size_t most_open, int64_t records = 3) {
  g_most_open = g_opened = 0;
  const auto open = [records](const std::string& path) { return std::make_unique<Counted>(std::stoll(path), records); };
  return source_files({.op = "counted", .spec = {{"", DType::i64, {}}}},
                      open_source_files(names(files), open, most_open));
}

TEST(OpenSourceFiles, KeepsFewOfManyOpenAndGivesTheSame) {
  const auto expected = elements(counted(100, 100));
  ASSERT_EQ(expected.size(), 300U);
  EXPECT_EQ(g_most_open, 100) << "control";
  EXPECT_EQ(elements(counted(100, 99)), expected);
  EXPECT_LE(g_most_open, 7);
  EXPECT_EQ(g_opened, 200) << "in order each is opened once more";
  EXPECT_EQ(elements(counted(100, 1)), expected);
  EXPECT_LE(g_most_open, 2);
  check_contract(counted(100, 10) | shuffle());
  EXPECT_EQ(g_open, 0);
}

TEST(OpenSourceFiles, TellsOfAFileThatHasOtherRecordsNow) {
  std::map<std::string, int64_t> sizes = {{"0", 2}, {"100", 2}, {"200", 2}};
  const auto open = [&](const std::string& path) { return std::make_unique<Counted>(std::stoll(path), sizes[path]); };
  const Dataset dataset =
      source_files({.op = "counted", .spec = {{"", DType::i64, {}}}}, open_source_files(names(3), open, 1));
  sizes["100"] = 5;
  EXPECT_THAT(elements(dataset), testing::ElementsAre("0", "1", HasSubstr("100 has 5 records, and had 2"),
                                                      HasSubstr("100 has 5"), "200", "201"));
}

TEST(OpenSourceFiles, PassesOnWhatCannotBeOpened) {
  bool is_there = true;
  const auto open = [&](const std::string& path) -> std::unique_ptr<const SourceFile> {
    if (!is_there && path == "100") throw Exception(Error(ErrorKind::NotFound, path + " is gone"));
    return std::make_unique<Counted>(std::stoll(path), 1);
  };
  const Dataset dataset =
      source_files({.op = "counted", .spec = {{"", DType::i64, {}}}}, open_source_files(names(3), open, 1));
  is_there = false;
  EXPECT_THAT(elements(dataset), testing::ElementsAre("0", HasSubstr("100 is gone"), "200"));
  EXPECT_THROW((void)open_source_files(names(3), open, 1), Exception);
}

}  // namespace
}  // namespace headpond::internal
