// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/views/prefetching.h"

#include <memory>
#include <numeric>
#include <vector>

#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Positions = std::vector<int64_t>;

// The numbers from `first` on, which are noted when they are prefetched.
class Noted final : public SourceFile {
 public:
  Noted(int64_t first, Positions& noted) : first_(first), noted_(noted) {}
  int64_t size() const override { return 20; }
  std::optional<FileMark> mark() const override { return FileMark(); }
  Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
    out.append(Tensor::scalar(first_ + i));
    return Got::value;
  }
  void prefetch(int64_t i) const noexcept override { noted_.push_back(first_ + i); }

 private:
  const int64_t first_;
  Positions& noted_;
};

// Two files of 20 numbers.
Dataset numbers(Positions& noted, size_t most_open = 10) {
  const auto open = [&noted](const std::string& name) { return std::make_unique<Noted>(name == "a" ? 0 : 20, noted); };
  return source_files({.op = "numbers", .spec = {{"", DType::i64, {}}}},
                      {.patterns = {"a", "b"}, .open = open, .keep_counts = false, .most_open = most_open});
}

int64_t number_at(const View& view, int64_t i) {
  Context context;
  Element out;
  EXPECT_EQ(view.at(i, context, {}, out), Got::value) << context.error;
  return out[0].item<int64_t>();
}

class Told final : public View, public PrefetchingView {
 public:
  Got at(int64_t, Context&, OutputSlots, Element&) const override { return Got::hole; }
  void prefetch(std::span<const int64_t> positions) const noexcept override {
    told.emplace_back(positions.begin(), positions.end());
  }
  mutable std::vector<Positions> told;
};

TEST(MayPrefetch, TellsOfEachElementOnceBeforeItIsAskedFor) {
  const Told view;
  const MayPrefetch may_prefetch(view);
  EXPECT_TRUE(may_prefetch);
  Positions all;
  for (int64_t i = 5; i < 40; ++i) {
    may_prefetch.before(i, 5, 40);
    ASSERT_EQ(view.told.back().back(), std::min<int64_t>(5 + (i - 5) / 16 * 16 + 15, 39)) << i;
  }
  for (const Positions& some : view.told) all.insert(all.end(), some.begin(), some.end());
  Positions each(35);
  std::iota(each.begin(), each.end(), 5);
  EXPECT_EQ(all, each);
  EXPECT_FALSE(MayPrefetch(*view_of(*range(3).node(), {})));
}

TEST(SourceFiles, PrefetchWhatIsThenAskedFor) {
  Positions noted;
  const Dataset dataset = numbers(noted) | shuffle() | take(30) | map([](int64_t x) { return -x; });
  const auto view = view_of(*dataset.node(), {.seed = 7});
  Positions asked;
  for (int64_t i = 0; i < 30; ++i) asked.push_back(-number_at(*view, i));
  EXPECT_THAT(noted, IsEmpty()) << "nobody asked for it";
  const MayPrefetch may_prefetch(*view);
  for (int64_t i = 0; i < 30; ++i) may_prefetch.before(i, 0, 30);
  EXPECT_EQ(noted, asked);
}

TEST(SourceFiles, PrefetchNothingOfAFileThatIsNotOpen) {
  Positions noted;
  const Dataset all_open = numbers(noted);
  const auto view = view_of(*all_open.node(), {});
  const MayPrefetch may_prefetch(*view);
  EXPECT_EQ(number_at(*view, 25), 25);
  noted.clear();
  const Positions positions = {3, 22, 39};
  may_prefetch.prefetch(positions);
  const Positions all = noted;
  Positions of_pool;
  const Dataset in_pool = numbers(of_pool, 1);
  const auto pooled = view_of(*in_pool.node(), {});
  EXPECT_EQ(number_at(*pooled, 3), 3);
  MayPrefetch(*pooled).prefetch(positions);
  EXPECT_THAT(of_pool, IsEmpty()) << "a pool may close it meanwhile";
  EXPECT_THAT(all, ElementsAre(3, 22, 39)) << "sources that are counted by opening them stay open";
}

}  // namespace
}  // namespace headpond::internal
