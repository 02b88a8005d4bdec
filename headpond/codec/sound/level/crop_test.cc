// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "headpond/codec/sound/level/level_kernels.h"
#include "headpond/codec/sound/sound_kernel.h"
#include "headpond/codec/sound/wav_kernel.h"
#include "headpond/codec/sound/wav_test_internal.h"

namespace headpond {
namespace {

using testing::ElementsAre;

Tensor sound_to_crop(const std::vector<float>& values, int64_t channels = 1) {
  return Tensor::from(values, {static_cast<int64_t>(values.size()) / channels, channels});
}
Tensor run_one(const KernelRef& kernel, const Tensor& sound, const KernelRun& options = {}) {
  return run_kernels(std::vector<KernelRef>{kernel}, sound, options).value();
}

TEST(PadOrTrim, KeepsTheStartAndFillsWithZeros) {
  const Tensor sound = sound_to_crop({1, 2, 3, 4, 5, 6}, 2);
  EXPECT_THAT(run_one(pad_or_trim(2), sound).as<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(run_one(pad_or_trim(4), sound).as<float>(), ElementsAre(1, 2, 3, 4, 5, 6, 0, 0));
  EXPECT_EQ(run_one(pad_or_trim(0), sound).shape(), (Shape{0, 2}));
  EXPECT_EQ(run_one(pad_or_trim(2), sound_to_crop({}, 1)).shape(), (Shape{2, 1}));
  EXPECT_THAT(run_one(pad_or_trim(2), Tensor::from(std::vector<float>{1, 2, 3}, {3})).as<float>(), ElementsAre(1, 2));
}

TEST(PadOrTrim, SaysWhatItGives) {
  EXPECT_EQ(pad_or_trim(7)->facts().title, "pad_or_trim(7)");
  EXPECT_EQ(pad_or_trim(7)->facts().result({{"a", f32, {kUnknown, 2}}})[0].shape, (Shape{7, 2}));
  EXPECT_EQ(pad_or_trim(7)->facts().result({{"a", f32, {kUnknown}}})[0].shape, (Shape{7}));
  for (const Spec& spec : {Spec{{"a", i16, {3, 1}}}, Spec{{"a", f32, {}}}, Spec{{"a", f32, {1, 2, 3}}}}) {
    EXPECT_THROW(pad_or_trim(7)->facts().result(spec), Exception);
  }
  EXPECT_THROW(pad_or_trim(-1), Exception);
  EXPECT_THROW(random_sound_crop(-1), Exception);
}

TEST(RandomSoundCrop, TakesEachPlaceEquallyOften) {
  const Tensor sound = sound_to_crop({0, 1, 2, 3, 4, 5});
  std::vector<int> counts(4);
  for (uint64_t key = 0; key < 4000; ++key) {
    const Tensor crop = run_one(random_sound_crop(3), sound, {.seed = 7, .key = key});
    const auto first = static_cast<size_t>(crop.as<float>()[0]);
    ASSERT_THAT(crop.as<float>(), ElementsAre(first, first + 1, first + 2));
    ++counts.at(first);
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 120);
}

TEST(RandomSoundCrop, PadsAShortSound) {
  EXPECT_THAT(run_one(random_sound_crop(4), sound_to_crop({1, 2})).as<float>(), ElementsAre(1, 2, 0, 0));
  EXPECT_THAT(run_one(random_sound_crop(2), sound_to_crop({1, 2})).as<float>(), ElementsAre(1, 2));
}

TEST(RandomSoundCrop, LeavesAShortSoundIfToldSo) {
  const KernelRef crop = random_sound_crop(4, {.pad = false});
  EXPECT_THAT(run_one(crop, sound_to_crop({1, 2})).as<float>(), ElementsAre(1, 2));
  EXPECT_EQ(run_one(crop, sound_to_crop({}, 1)).shape(), (Shape{0, 1}));
  EXPECT_EQ(run_one(crop, sound_to_crop({1, 2, 3, 4, 5})).shape(), (Shape{4, 1}));
  EXPECT_EQ(crop->facts().title, "random_sound_crop(4, pad=false)");
  EXPECT_EQ(crop->facts().result({{"a", f32, {7, 2}}})[0].shape, (Shape{kUnknown, 2}));
}

Tensor wav_of_numbers(int16_t frames) {
  std::vector<int16_t> values(2 * static_cast<size_t>(frames));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int16_t>(i * 3);
  return Tensor::scalar(std::string_view(
      test::riff(test::FormatChunk{.channels = 2}.text() + test::chunk("data", test::samples(values)))));
}

TEST(RandomSoundCrop, JoinedWithADecoderGivesTheSameBytes) {
  const KernelRef crop = random_sound_crop(10), cut = random_sound_crop(10, {.pad = false});
  const KernelRef part = decode_wav({.first_sample = 5, .mix = SoundMix::mean});
  for (const std::vector<KernelRef>& chain :
       std::vector<std::vector<KernelRef>>{{decode_wav(), crop},
                                           {part, crop},
                                           {part, cut},
                                           {decode_sound({.desired_channels = 3}), crop},
                                           {decode_sound({.lenient = true}), crop},
                                           {decode_wav({.sample_rate = 11025}), crop},
                                           {decode_wav({.first_sample = 3, .sample_rate = 8000}), crop},
                                           {decode_sound({.first_sample = 3, .sample_rate = 5000}), cut},
                                           {decode_sound({.lenient = true}), cut}}) {
    EXPECT_EQ(join_kernels(chain).joints[0].joined, "region of the sound");
    std::set<float> firsts;
    for (uint64_t key = 0; key < 50; ++key) {
      for (const int16_t frames : {int16_t{6}, int16_t{15}, int16_t{400}}) {
        const Tensor file = wav_of_numbers(frames);
        const auto joined = run_kernels(chain, file, {.seed = 3, .key = key, .joined = true});
        const auto apart = run_kernels(chain, file, {.seed = 3, .key = key, .joined = false});
        ASSERT_TRUE(joined && apart);
        ASSERT_EQ(joined->shape(), apart->shape());
        ASSERT_THAT(joined->as<float>(), testing::ElementsAreArray(apart->as<float>()));
        firsts.insert(joined->as<float>()[0]);
      }
    }
    EXPECT_GT(firsts.size(), 20U);
  }
}

TEST(RandomSoundCrop, IsNotJoinedWhereAllSamplesMatter) {
  for (const auto& [decoder, why] : std::vector<std::pair<KernelRef, std::string>>{
           {decode_wav({.non_finite = NonFinite::reject}), "all values are looked at"},
           {decode_sound({.desired_samples = 100}), "desired_samples is set"}}) {
    const auto joint = join_kernels(std::vector<KernelRef>{decoder, random_sound_crop(10)}).joints[0];
    EXPECT_EQ(joint.joined, "");
    EXPECT_EQ(joint.why_not, why);
  }
  EXPECT_EQ(join_kernels(std::vector<KernelRef>{decode_wav(), pad_or_trim(3)}).joints[0].joined, "");
}

TEST(RandomSoundCrop, JoinedTellsOfBadFilesAsApart) {
  const std::vector<KernelRef> chain = {decode_wav({.first_sample = 300, .rate = 8000}), random_sound_crop(10)};
  const std::vector<KernelRef> resampled = {decode_wav({.first_sample = 300, .sample_rate = 767999}),
                                            random_sound_crop(10)};
  for (const std::vector<KernelRef>& kernels : {chain, resampled}) {
    for (const Tensor& file : {wav_of_numbers(299), Tensor::scalar(std::string_view("RIFF"))}) {
      const auto joined = run_kernels(kernels, file, {.joined = true});
      const auto apart = run_kernels(kernels, file, {.joined = false});
      ASSERT_FALSE(joined || apart);
      EXPECT_EQ(joined.error().message(), apart.error().message());
      EXPECT_EQ(joined.error().kind(), apart.error().kind());
    }
  }
}

}  // namespace
}  // namespace headpond
