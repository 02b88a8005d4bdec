// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/nuclei.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

#include "examples/preprocess_once/drawn_test_internal.h"

namespace preprocess_once {
namespace {

using hp::test::TempFolder;
using testing::HasSubstr;
using testing::SizeIs;

TEST(Pictures, OfTheDataScienceBowlAreAllFound) {
  const std::string data = hp::test::test_data("dsb2018-nuclei");
  if (data.empty()) GTEST_SKIP() << "no real data: HEADPOND_DATA is not set; with CI=true this is a failure";
  const auto pictures = find_pictures(data + "/stage1_train");
  ASSERT_TRUE(pictures) << pictures.error();
  EXPECT_THAT(*pictures, SizeIs(160));
  EXPECT_EQ(std::accumulate(pictures->begin(), pictures->end(), size_t{0},
                            [](size_t sum, const Picture& picture) { return sum + picture.masks.size(); }),
            3252U);
  EXPECT_TRUE(std::is_sorted(pictures->begin(), pictures->end(),
                             [](const Picture& a, const Picture& b) { return a.image < b.image; }));
}

TEST(Pictures, AreNotFoundWhereThereAreNoneOrMasksAreMissing) {
  const TempFolder folder;
  ASSERT_FALSE(find_pictures(folder.path()));
  EXPECT_EQ(find_pictures(folder.path()).error().kind(), hp::ErrorKind::NotFound);
  ASSERT_TRUE(draw_pictures(folder.path(), 2, 1));
  ASSERT_TRUE(find_pictures(folder.path()));
  std::filesystem::remove_all(folder.file("00001/masks"));
  const auto without_masks = find_pictures(folder.path());
  ASSERT_FALSE(without_masks);
  EXPECT_EQ(without_masks.error().kind(), hp::ErrorKind::NotFound);
  EXPECT_THAT(without_masks.error().message(), HasSubstr("00001/masks"));
}

TEST(Pictures, LieInFoldersOfAnyName) {
  const TempFolder folder;
  for (const char* name : {"glob[1]", "a*", "what?", "x@3"}) {
    ASSERT_TRUE(draw_pictures(folder.file(name), 1, 1));
    std::filesystem::rename(folder.file(name) + "/00000", folder.file(name) + "/id[0]");
    const auto pictures = find_pictures(folder.file(name));
    ASSERT_TRUE(pictures) << pictures.error();
    ASSERT_THAT(*pictures, SizeIs(1));
    EXPECT_EQ(pictures->front().image, folder.file(name) + "/id[0]/images/00000.png");
    EXPECT_THAT(pictures->front().masks, SizeIs(20));
  }
}

TEST(Pictures, AreFilesWithoutADotInFront) {
  const TempFolder folder;
  ASSERT_TRUE(draw_pictures(folder.path(), 1, 1));
  for (const char* other :
       {"00000/images/.hidden.png", "00000/masks/.hidden.png", "00000/masks/notes.txt", "readme.png"}) {
    hp::test::put_file(folder.file(other), {});
  }
  std::filesystem::create_directories(folder.file("00000/masks/folder.png"));
  std::filesystem::create_directories(folder.file("empty"));
  const auto pictures = find_pictures(folder.path());
  ASSERT_TRUE(pictures) << pictures.error();
  ASSERT_THAT(*pictures, SizeIs(1));
  EXPECT_THAT(pictures->front().masks, SizeIs(20));
}

TEST(Drawn, AreOfFiveSizesWithAMaskForEachBlob) {
  const auto& pictures = test::drawn();
  ASSERT_THAT(pictures, SizeIs(5));
  std::set<std::string> sizes;
  for (const Picture& picture : pictures) {
    EXPECT_THAT(picture.masks, SizeIs(20));
    const auto image = read_image(picture);
    ASSERT_TRUE(image) << image.error();
    ASSERT_EQ(image->rank(), 3);
    EXPECT_EQ(image->dim(2), 3);
    sizes.insert(image->shape().to_string());
    const auto mask = read_mask(picture.masks.front(), *image);
    ASSERT_TRUE(mask) << mask.error();
    EXPECT_TRUE(mask->has_shape({image->dim(0), image->dim(1), 1}));
  }
  EXPECT_THAT(sizes, SizeIs(5));
}

TEST(Split, HasAFifthForTheTestByTheNamesAlone) {
  std::vector<Picture> pictures;
  for (int i = 0; i < 160; ++i) pictures.push_back({"folder/" + std::to_string(100 + i) + ".png", {}});
  const Split split = split_by_name(pictures);
  EXPECT_THAT(split.test, SizeIs(32));
  EXPECT_THAT(split.train, SizeIs(128));
  std::set<std::string> test, again;
  for (const Picture& picture : split.test) test.insert(picture.image.substr(7));
  EXPECT_GT(*test.rbegin(), "200") << "not only the first ones";
  std::reverse(pictures.begin(), pictures.end());
  for (Picture& picture : pictures) picture.image.replace(0, 6, "elsewhere");
  for (const Picture& picture : split_by_name(pictures).test) again.insert(picture.image.substr(10));
  EXPECT_EQ(again, test);
  pictures.resize(2);
  EXPECT_THAT(split_by_name(pictures).test, SizeIs(1));
}

TEST(Drawn, FollowFromTheSeed) {
  const TempFolder same, other;
  ASSERT_TRUE(draw_pictures(same.path(), 1, 7));
  ASSERT_TRUE(draw_pictures(other.path(), 1, 8));
  const auto first = hp::test::get_file(test::drawn().front().image);
  EXPECT_EQ(hp::test::get_file(same.file("00000/images/00000.png")), first);
  EXPECT_NE(hp::test::get_file(other.file("00000/images/00000.png")), first);
}

TEST(Drawn, SayWhereTheyCannotBeWritten) {
  const TempFolder folder;
  hp::test::put_file(folder.file("file"), {});
  const auto done = draw_pictures(folder.file("file"), 1, 7);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(), HasSubstr(folder.file("file")));
}

TEST(Mask, OfAnotherSizeIsAnErrorThatNamesIt) {
  const auto& pictures = test::drawn();
  const auto image = read_image(pictures[0]);
  ASSERT_TRUE(image);
  const auto mask = read_mask(pictures[1].masks[3], *image);
  ASSERT_FALSE(mask);
  EXPECT_EQ(mask.error().kind(), hp::ErrorKind::InvalidArgument);
  EXPECT_THAT(mask.error().message(), HasSubstr("00001/masks/00003.png"));
}

}  // namespace
}  // namespace preprocess_once
