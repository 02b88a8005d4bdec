// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "examples/preprocess_once/drawn_test_internal.h"
#include "examples/preprocess_once/straightforward.h"

namespace preprocess_once {
namespace {

using testing::HasSubstr;

TEST(Operators, GiveTheBytesOfStraightforwardCodeWithAnyThreads) {
  const auto expected = test::all_straightforwardly(test::drawn(), 7);
  ASSERT_EQ(expected.size(), 5U);
  for (const int threads : {0, 1, 4}) {
    EXPECT_TRUE(test::all_of(prepared(test::drawn(), 7), threads) == expected) << threads << " threads";
  }
  EXPECT_FALSE(test::all_of(prepared(test::drawn(), 8), 0) == expected) << "the seed counts for nothing";
}

TEST(Operators, GiveTheBytesOfStraightforwardCodeForRealPictures) {
  const std::string data = hp::test::test_data("dsb2018-nuclei");
  if (data.empty()) GTEST_SKIP() << "no real data: HEADPOND_DATA is not set; with CI=true this is a failure";
  auto pictures = find_pictures(data + "/stage1_train").value_or(std::vector<Picture>());
  ASSERT_GT(pictures.size(), 6U);
  pictures.resize(6);
  EXPECT_TRUE(test::all_of(prepared(pictures, 7), 4) == test::all_straightforwardly(pictures, 7));
}

TEST(Operators, GiveSeveralSamplesOfOneNucleusEach) {
  const std::vector<Picture> pictures(test::drawn().begin(), test::drawn().begin() + 2);
  const auto samples = [&](const Task& task) {
    std::vector<hp::Element> all;
    hp::Loader loader(prepared(pictures, 7, task), {.threads = 2});
    for (hp::Batch& sample : loader) all.push_back(std::move(sample).element());
    return all;
  };
  const auto nuclei = samples({}), one = samples({.one = true, .samples = 3}),
             others = samples({.one = true, .samples = 3, .others = true});
  ASSERT_EQ(nuclei.size(), 2U);
  ASSERT_EQ(one.size(), 6U);
  ASSERT_EQ(others.size(), 6U);
  for (size_t i = 0; i < 6; ++i) {
    const auto target = one[i]["nuclei"].as<uint8_t>(), all = nuclei[i / 3]["nuclei"].as<uint8_t>();
    const auto input = one[i]["input"].as<uint8_t>();
    int64_t is_part = 0, inside = 0;
    for (size_t at = 0; at < target.size(); ++at) {
      EXPECT_LE(target[at], all[at]);
      is_part += target[at] != 0 ? 1 : 0;
      if (input[kChannels * at + 3] > 0) continue;
      ++inside;
      EXPECT_EQ(target[at], kNucleus) << "a click beside its nucleus";
    }
    EXPECT_GE(inside, 1);
    EXPECT_LT(is_part, std::count(all.begin(), all.end(), kNucleus));
    EXPECT_EQ(test::bytes_of(others[i]["nuclei"]), test::bytes_of(one[i]["nuclei"]));
    EXPECT_NE(test::bytes_of(others[i]["input"]), test::bytes_of(one[i]["input"])) << "control: other clicks";
  }
}

TEST(Operators, GiveAnErrorInPlaceOfAPictureThatCannotBeRead) {
  std::vector<Picture> pictures = test::drawn();
  pictures[1].masks.emplace_back("nowhere.png");
  hp::Loader loader(prepared(pictures, 7));
  ASSERT_TRUE(loader.next());
  const auto failed = loader.next();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind(), hp::ErrorKind::NotFound);
  EXPECT_THAT(failed.error().to_string(), HasSubstr("nowhere.png"));
  const auto next = loader.next();
  ASSERT_TRUE(next);
  EXPECT_EQ((*next)["nuclei"].dim(0), 360);
}

TEST(Operators, MeasureTheSameDistances) {
  const std::vector<uint8_t> some = [] {
    std::vector<uint8_t> nuclei(60 * 300, 0);
    std::fill(nuclei.begin() + 4000, nuclei.begin() + 4040, kNucleus);
    return nuclei;
  }();
  for (int64_t number = 0; number < 20; ++number) {
    Clicks clicks = draw_clicks(some, 300, 7, number);
    if (number == 0) clicks.inside.clear();
    hp::Tensor one = hp::Tensor::empty(hp::u8, {60, 300, kChannels});
    hp::Tensor other = hp::Tensor::empty(hp::u8, {60, 300, kChannels});
    for (hp::Tensor* input : {&one, &other}) std::fill_n(input->mutable_data(), input->byte_size(), std::byte{9});
    measure_distances(clicks, one);
    ASSERT_TRUE(write_distances(clicks, other));
    EXPECT_TRUE(test::bytes_of(one) == test::bytes_of(other)) << number;
  }
}

}  // namespace
}  // namespace preprocess_once
