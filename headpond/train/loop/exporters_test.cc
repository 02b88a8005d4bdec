// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/loop/exporters.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/test_files.h"

namespace headpond {
namespace {

using test::TempFolder;
using testing::ElementsAre;

// The steps at which `exporter` writes for evaluations with these losses, at steps 1, 2, ...; the last one ends.
std::vector<int64_t> written(Exporter& exporter, const std::string& folder, const std::vector<double>& losses) {
  std::vector<int64_t> steps;
  for (size_t i = 0; i < losses.size(); ++i) {
    const Evaluation evaluation{static_cast<int64_t>(i) + 1, {{"loss", {losses[i], 1}}}};
    const std::string model = fmt::format("model {}", evaluation.step);
    const auto path =
        exporter.take({folder, [&] { return std::string_view(model); }, evaluation, i + 1 == losses.size()});
    EXPECT_TRUE(path);
    if (!path || !*path) continue;
    EXPECT_EQ(test::get_file(**path), test::to_bytes(model));
    steps.push_back(evaluation.step);
  }
  return steps;
}

size_t kept(const TempFolder& temp, const std::string& name) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(temp.file("export/") + name), {}));
}

TEST(Exporters, LatestBestAndFinal) {
  const TempFolder temp;
  const std::vector<double> losses = {3, 4, 2, 2, 1};
  EXPECT_THAT(written(*latest_exporter({.keep = 2}), temp.path(), losses), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(kept(temp, "latest"), 2U);
  EXPECT_THAT(written(*best_exporter(), temp.path(), losses), ElementsAre(1, 3, 5));
  EXPECT_EQ(kept(temp, "best"), 3U);
  EXPECT_THAT(written(*best_exporter({.name = "worst", .larger_is_better = true}), temp.path(), losses),
              ElementsAre(1, 2));
  EXPECT_THAT(written(*final_exporter(), temp.path(), losses), ElementsAre(5));
}

TEST(Exporters, TheBestValueGoesThroughACheckpoint) {
  const TempFolder temp;
  const auto first = best_exporter();
  EXPECT_THAT(written(*first, temp.path(), {2}), ElementsAre(1));
  HookState saved;
  saved.begin(first->name(), 0);
  first->visit_state(saved);
  HookState read = value_or_throw(HookState::from_text(saved.to_text()));
  const auto second = best_exporter(), other = best_exporter();
  read.begin(second->name(), 0);
  second->visit_state(read);
  EXPECT_THAT(written(*second, temp.path(), {3, 1}), ElementsAre(2));
  EXPECT_THAT(written(*other, temp.path(), {3, 1}), ElementsAre(1, 2)) << "control: one that was not restored";
}

TEST(Exporters, ARunFromScratchKeepsItsOwnBesideLaterStepsOfAnother) {
  const TempFolder temp;
  for (const auto& exporter : {latest_exporter({.keep = 2}), best_exporter({.keep = 2})}) {
    const std::string name(exporter->name());
    written(*exporter, temp.path(), {6, 5, 4, 3, 2, 1});
    EXPECT_EQ(kept(temp, name), 2U) << "5 and 6";
    const auto fresh = name == "latest" ? latest_exporter({.keep = 2}) : best_exporter({.keep = 2});
    EXPECT_THAT(written(*fresh, temp.path(), {6, 5, 4}), ElementsAre(1, 2, 3));
    for (const int step : {2, 3, 5, 6})
      EXPECT_TRUE(std::filesystem::exists(temp.file(fmt::format("export/{}/{}/model.pt", name, step)))) << step;
    EXPECT_EQ(kept(temp, name), 4U) << "control: its own first one is gone";
  }
}

TEST(Exporters, AModelThatIsNotAskedForIsNotMade) {
  const TempFolder temp;
  int made = 0;
  const auto model = [&] {
    ++made;
    return std::string_view("model");
  };
  const Evaluation evaluation{1, {{"loss", {1, 1}}}};
  EXPECT_FALSE(*final_exporter()->take({temp.path(), model, evaluation, false}));
  EXPECT_EQ(made, 0);
  EXPECT_TRUE(*final_exporter()->take({temp.path(), model, evaluation, true}));
  EXPECT_EQ(made, 1) << "control";
}

TEST(Exporters, RefuseWrongNamesAndMetrics) {
  for (const char* const name : {"", ".", "a/b"}) EXPECT_THROW((void)final_exporter(name), Exception) << name;
  const TempFolder temp;
  const Evaluation evaluation{1, {}};
  EXPECT_EQ(best_exporter({.metric = "iou"})->take({temp.path(), {}, evaluation}).error().kind(),
            ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace headpond
