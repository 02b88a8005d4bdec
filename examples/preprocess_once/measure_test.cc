// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "examples/preprocess_once/drawn_test_internal.h"

namespace preprocess_once {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// $HEADPOND_DATA and $TMPDIR as a test wants them.
class Measure : public testing::Test {
 public:
  Measure() {
    for (const char* name : {"HEADPOND_DATA", "TMPDIR"}) {
      const char* value = std::getenv(name);
      before_.emplace_back(name, value == nullptr ? std::nullopt : std::optional<std::string>(value));
    }
    setenv("TMPDIR", folder_.path().c_str(), 1);
  }
  ~Measure() override {
    for (const auto& [name, value] : before_) {
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    }
  }

 protected:
  hp::test::TempFolder folder_;

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

TEST_F(Measure, TheThreeWaysGiveEqualBytesAndNothingIsLeftBehind) {
  setenv("HEADPOND_DATA", folder_.path().c_str(), 1);
  EXPECT_FALSE(find_data());
  std::vector<std::string> said;
  const auto measured = measure({.images = 3, .rounds = 2, .record_epochs = 2, .progress = [&](const Progress& at) {
                                   if (!at.line.empty()) said.emplace_back(at.line);
                                 }});
  ASSERT_TRUE(measured) << measured.error();
  EXPECT_TRUE(measured->bytes_equal);
  EXPECT_TRUE(measured->is_drawn);
  EXPECT_EQ(measured->images, 3);
  EXPECT_EQ(measured->masks, 60);
  EXPECT_EQ(measured->rounds, 2);
  EXPECT_EQ(measured->record_epochs, 2);
  EXPECT_GT(measured->record_bytes, 6U * (256 * 256 + 256 * 320 + 360 * 360));
  for (const double figure : {measured->straightforward, measured->operators, measured->one_thread, measured->records,
                              measured->in_memory, measured->brute_force_ms, measured->linear_ms,
                              measured->operators_gain, measured->records_gain, measured->distances_gain}) {
    EXPECT_GT(figure, 0);
  }
  EXPECT_THAT(said, ElementsAre("draws 3 pictures, because there are no real ones", "prepares 3 images once",
                                "round 1 of 2", "round 2 of 2"));
  EXPECT_EQ(folder_.count(), 0U);
}

TEST_F(Measure, SeesTheMemoryInUseDuringEachWay) {
  setenv("HEADPOND_DATA", folder_.path().c_str(), 1);
  constexpr size_t kMiB = 1 << 20;
  std::unique_ptr<std::vector<char>> held;  // In the first round, until the first record is read.
  int runs = 0;
  const auto measured = measure({.images = 2, .rounds = 2, .record_epochs = 2, .progress = [&](const Progress& at) {
                                   if (at.doing == "tfrecord" && at.done == 0 && runs++ == 0) {
                                     held = std::make_unique<std::vector<char>>(300 * kMiB, 'x');
                                   } else if (at.doing == "tfrecord" && at.done == 1) {
                                     held = nullptr;
                                   }
                                 }});
  ASSERT_TRUE(measured) << measured.error();
  const PeakMemory& peaks = measured->peak_mib;
  EXPECT_THAT(peaks.operators, SizeIs(2));
  ASSERT_THAT(peaks.straightforward, SizeIs(2));
  ASSERT_THAT(peaks.records, SizeIs(2));
  EXPECT_GT(peaks.records[0], 300);
  EXPECT_GT(peaks.records[0], peaks.straightforward[0] + 200);
  EXPECT_LT(peaks.records[1], peaks.records[0] - 100);
}

TEST_F(Measure, TakesThePicturesThatItIsGiven) {
  const auto given = std::filesystem::path(test::drawn()[0].image).parent_path().parent_path().parent_path();
  const auto measured = measure({.data = given.string(), .rounds = 1, .record_epochs = 1});
  ASSERT_TRUE(measured) << measured.error();
  EXPECT_FALSE(measured->is_drawn);
  EXPECT_EQ(measured->images, 5);
}

TEST_F(Measure, NoticesThatTheWaysDiffer) {
  const std::string data = folder_.file("data");
  ASSERT_TRUE(draw_pictures(data, 2, 1));
  const auto exchange_masks = [&](const Progress& at) {  // After the samples were written.
    if (at.line != "round 1 of 1") return;
    hp::test::put_file(data + "/00001/masks/00003.png", hp::test::get_file(data + "/00001/masks/00004.png"));
  };
  const auto measured = measure({.data = data, .rounds = 1, .record_epochs = 1, .progress = exchange_masks});
  ASSERT_TRUE(measured) << measured.error();
  EXPECT_FALSE(measured->bytes_equal);
}

TEST_F(Measure, FindsTheDataScienceBowl) {
  std::filesystem::create_directories(folder_.file("dsb2018-nuclei/stage1_train"));
  setenv("HEADPOND_DATA", folder_.path().c_str(), 1);
  EXPECT_EQ(find_data(), folder_.file("dsb2018-nuclei/stage1_train"));
}

TEST_F(Measure, RefusesNoImagesAndAFolderWithoutAny) {
  setenv("HEADPOND_DATA", folder_.path().c_str(), 1);
  for (const MeasureOptions& none : {MeasureOptions{.images = 0}, {.rounds = 0}, {.record_epochs = 0}}) {
    const auto refused = measure(none);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), hp::ErrorKind::InvalidArgument);
  }
  const auto nowhere = measure({.data = "nowhere"});
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message(), HasSubstr("nowhere"));
}

TEST_F(Measure, NamesAFolderThatCannotBeMade) {
  setenv("TMPDIR", folder_.file("nowhere").c_str(), 1);
  const auto failed = measure({.images = 1});
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message(), HasSubstr(folder_.file("nowhere") + "/headpond_preprocess_once_"));
}

TEST_F(Measure, WorksInAFolderOfAnyName) {
  setenv("HEADPOND_DATA", folder_.path().c_str(), 1);
  setenv("TMPDIR", folder_.file("temp[1]*").c_str(), 1);
  std::filesystem::create_directories(folder_.file("temp[1]*"));
  const auto measured = measure({.images = 1, .rounds = 1, .record_epochs = 1});
  ASSERT_TRUE(measured) << measured.error();
  EXPECT_TRUE(measured->bytes_equal);
}

TEST_F(Measure, EndsInTheMiddleOfWhateverIsDoneWhenItIsStopped) {
  setenv("HEADPOND_DATA", folder_.path().c_str(), 1);
  for (const char* doing :
       {"draw", "write", "straightforward", "operators", "one thread", "tfrecord", "in memory", "distance maps"}) {
    std::stop_source stop;
    std::string last;
    const auto stop_in_the_middle = [&](const Progress& at) {
      last = std::string(at.doing) + " " + std::to_string(at.done);
      if (at.doing == doing && at.done == 2) stop.request_stop();
    };
    const auto measured = measure({.images = 3, .stop = stop.get_token(), .progress = stop_in_the_middle});
    ASSERT_FALSE(measured) << doing;
    EXPECT_EQ(measured.error().kind(), hp::ErrorKind::Cancelled) << measured.error();
    EXPECT_EQ(last, std::string(doing) + " 2") << "it went on";
    EXPECT_EQ(folder_.count(), 0U) << doing;
  }
}

}  // namespace
}  // namespace preprocess_once
