// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "examples/preprocess_once/drawn_test_internal.h"

namespace preprocess_once {
namespace {

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
  const auto measured = measure(
      {.images = 3, .rounds = 2, .record_epochs = 2, .say = [&](std::string_view line) { said.emplace_back(line); }});
  ASSERT_TRUE(measured) << measured.error();
  EXPECT_TRUE(measured->bytes_equal);
  EXPECT_TRUE(measured->is_drawn);
  EXPECT_EQ(measured->images, 3);
  EXPECT_EQ(measured->masks, 60);
  EXPECT_GT(measured->record_bytes, 6U * (256 * 256 + 256 * 320 + 360 * 360));
  EXPECT_THAT(measured->rss_mib, SizeIs(2));
  for (const double rate : {measured->straightforward, measured->operators, measured->one_thread, measured->records,
                            measured->in_memory, measured->brute_force_ms, measured->linear_ms}) {
    EXPECT_GT(rate, 0);
  }
  EXPECT_THAT(said, SizeIs(4));
  EXPECT_EQ(folder_.count(), 0U);
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
  const auto exchange_masks = [&](std::string_view line) {  // After the samples were written.
    if (line != "round 1 of 1") return;
    hp::test::put_file(data + "/00001/masks/00003.png", hp::test::get_file(data + "/00001/masks/00004.png"));
  };
  const auto measured = measure({.data = data, .rounds = 1, .record_epochs = 1, .say = exchange_masks});
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
  EXPECT_FALSE(measure({.images = 0}));
  const auto nowhere = measure({.data = "nowhere"});
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message(), HasSubstr("nowhere"));
}

TEST_F(Measure, EndsWhenItIsStopped) {
  setenv("HEADPOND_DATA", folder_.path().c_str(), 1);
  std::stop_source stop;
  stop.request_stop();
  const auto measured = measure({.images = 1, .stop = stop.get_token()});
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().kind(), hp::ErrorKind::Cancelled);
  EXPECT_EQ(folder_.count(), 0U);
}

}  // namespace
}  // namespace preprocess_once
