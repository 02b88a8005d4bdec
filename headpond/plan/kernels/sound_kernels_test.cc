// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <fstream>

#include "headpond/codec/sound/wav.h"
#include "headpond/dataset/sequence.h"
#include "headpond/plan/plan_test_internal.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;

std::string sound_plan(const std::string& kernels) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "sound_kernels";
  std::filesystem::create_directories(folder / "cat");
  const auto wav = encode_wav(Tensor::from(std::vector<float>{0.5F, 0.25F}, {2, 1}), 8000);
  std::ofstream file(folder / "cat" / "a.wav", std::ios::binary);
  file.write(reinterpret_cast<const char*>(wav->data()), static_cast<std::streamsize>(wav->size()));
  file.close();
  const std::string source = step("folder", "path = '" + folder.string() + "', extensions = ['wav']");
  return source + step("map", "field = 'file', kernels = [" + kernels + "]");
}

TEST(SoundPlanKernels, HaveTheirOptions) {
  const PlanFile plan = parse_plan(
      sound_plan("{ name = 'decode_wav', desired_channels = 1, first_sample = 1, non_finite = 'zero', rate = 8000 }, "
                 "{ name = 'mono' }, { name = 'random_sound_crop', samples = 9 }, { name = 'gain_db', db = [-6, 6] }, "
                 "{ name = 'gain_db', db = 3 }, { name = 'peak_normalize', peak = 0.5 }, "
                 "{ name = 'speed', factor = [0.9, 1.1] }, { name = 'pad_or_trim', samples = 4 }"),
      "f.toml");
  EXPECT_THAT(plan.dataset.plan(),
              HasSubstr("decode_wav(desired_channels=1, first_sample=1, non_finite=zero, rate=8000) > mono > "
                        "random_sound_crop(9) > gain_db([-6, 6]) > gain_db(3) > peak_normalize(0.5) > "
                        "speed([0.9, 1.1]) > pad_or_trim(4)"));
  const PlanFile any =
      parse_plan(sound_plan("{ name = 'decode_sound', mix = 'mean', lenient = true, max_values = 1000 }"), "f.toml");
  EXPECT_THAT(any.dataset.plan(), HasSubstr("decode_sound(lenient=true, mix=mean, max_values=1000)"));
}

TEST(SoundPlanKernels, CountFramesWithoutDecoding) {
  const auto frames = [](const std::string& options) {
    Sequence sequence(parse_plan(sound_plan("{ name = 'sound_frames'" + options + " }"), "f.toml").dataset);
    return (*sequence.next())[1].item<int64_t>();
  };
  EXPECT_EQ(frames(""), 2);
  EXPECT_EQ(frames(", sample_rate = 16000"), 4);
  EXPECT_EQ(frames(", first_sample = 1"), 1);
}

TEST(SoundPlanKernels, DecodersGiveOneRateToAFolderOfSeveral) {
  const auto clips = [](const std::string& options) {
    const std::string plan = sound_plan("{ name = 'decode_wav'" + options + " }");
    const auto wav = encode_wav(Tensor::from(std::vector<float>(441, 0.25F), {441, 1}), 44100);
    std::ofstream file(std::filesystem::path(testing::TempDir()) / "sound_kernels" / "cat" / "b.wav", std::ios::binary);
    file.write(reinterpret_cast<const char*>(wav->data()), static_cast<std::streamsize>(wav->size()));
    file.close();
    Sequence sequence(parse_plan(plan, "f.toml").dataset);
    std::vector<int64_t> frames;
    while (const auto clip = sequence.next()) frames.push_back((*clip)[1].dim(0));
    std::filesystem::remove(std::filesystem::path(testing::TempDir()) / "sound_kernels" / "cat" / "b.wav");
    return frames;
  };
  EXPECT_THAT(clips(", sample_rate = 16000"), testing::ElementsAre(4, 160));
  EXPECT_THAT(clips(""), testing::ElementsAre(2, 441)) << "control";
  EXPECT_THAT(parse_plan(sound_plan("{ name = 'decode_sound', sample_rate = 16000 }"), "f.toml").dataset.plan(),
              HasSubstr("decode_sound(sample_rate=16000)"));
}

TEST(SoundPlanKernels, RefuseOtherValues) {
  EXPECT_THAT(refused(sound_plan("{ name = 'decode_wav', mix = 'sum' }")), HasSubstr("mix"));
  EXPECT_THAT(refused(sound_plan("{ name = 'decode_sound', mix = 'mean', desired_channels = 2 }")),
              HasSubstr("the mean is one channel"));
  EXPECT_THAT(refused(sound_plan("{ name = 'decode_wav', sample_rate = -1 }")), HasSubstr("sample_rate must be 0, or"));
  EXPECT_THAT(refused(sound_plan("{ name = 'decode_sound', sample_rate = 768001 }")),
              HasSubstr("sample_rate must be 0, or 1 to 768000"));
  EXPECT_THAT(refused(sound_plan("{ name = 'decode_wav', max_values = 2 }")), HasSubstr("no argument 'max_values'"));
  EXPECT_THAT(refused(sound_plan("{ name = 'gain_db', db = [1, 2, 3] }")), HasSubstr("the lowest and the highest"));
  EXPECT_THAT(refused(sound_plan("{ name = 'gain_db' }")), HasSubstr("db"));
  EXPECT_THAT(refused(sound_plan("{ name = 'speed', factor = 9 }")), HasSubstr("0.25 to 4"));
  EXPECT_THAT(refused(sound_plan("{ name = 'pad_or_trim' }")), HasSubstr("samples"));
}

std::string noise_chain(const std::string& steps) {
  std::string chain = steps;
  for (size_t at = chain.find("[[step]]"); at != std::string::npos; at = chain.find("[[step]]", at + 1)) {
    chain.replace(at, 8, "[[chain.hum]]");
  }
  return chain;
}

TEST(SoundPlanKernels, MixNoiseOfAChain) {
  const std::string clips = noise_chain(sound_plan("{ name = 'decode_wav', desired_channels = 1 }"));
  const auto noisy = [&](const std::string& options) {
    return sound_plan("{ name = 'decode_wav' }, { name = 'mix_noise', noise = 'hum'" + options + " }") + clips;
  };
  const PlanFile plan = parse_plan(noisy(", low_snr_db = 6, high_snr_db = 6"), "f.toml");
  EXPECT_THAT(plan.dataset.plan(), HasSubstr("mix_noise(1 clips of map "));
  EXPECT_THAT(plan.dataset.plan(), HasSubstr("snr_db=[6, 6]"));
  Sequence sequence(plan.dataset);
  const auto clip = sequence.next();
  ASSERT_TRUE(clip) << clip.error();
  const auto found = (*clip)[1].as<float>();
  // The noise is the sound itself, from one of its two frames on.
  const float ratio = std::pow(10.0F, -6 / 20.0F);
  EXPECT_NEAR(std::hypot(found[0] - 0.5F, found[1] - 0.25F), std::hypot(0.5F, 0.25F) * ratio, 1e-4);
  EXPECT_NE(parse_plan(noisy(", p = 0.5"), "f.toml").dataset.plan(), plan.dataset.plan());
}

TEST(SoundPlanKernels, MixNoiseRefusesOtherChains) {
  const auto noisy = [](const std::string& options, const std::string& chain) {
    return refused(sound_plan("{ name = 'decode_wav' }, { name = 'mix_noise'" + options + " }") + noise_chain(chain));
  };
  EXPECT_THAT(noisy("", ""), HasSubstr("noise is missing"));
  EXPECT_THAT(noisy(", noise = 'hum'", ""), HasSubstr("no chain 'hum'"));
  EXPECT_THAT(noisy(", noise = 'hum'", step("range", "stop = 3")), HasSubstr("noise_field must name the field"));
  EXPECT_THAT(noisy(", noise = 'hum', noise_field = 'y'", step("range", "stop = 3")), HasSubstr("y"));
  EXPECT_THAT(noisy(", noise = 'hum', p = 2", sound_plan("{ name = 'decode_wav' }")), HasSubstr("p must be 0 to 1"));
}

}  // namespace
}  // namespace headpond::plan
