// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "cli/plan/plan_test_internal.h"
#include "headpond/codec/sound/wav.h"

namespace headpond::cli {
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
  std::string field;
  const Spec spec = parse_plan(source, "f.toml").dataset.spec();
  for (const FieldSpec& one : spec) {
    if (one.dtype == DType::bytes && field.empty()) field = one.name;
  }
  return source + step("map", "field = '" + field + "', kernels = [" + kernels + "]");
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

TEST(SoundPlanKernels, RefuseOtherValues) {
  EXPECT_THAT(refused(sound_plan("{ name = 'decode_wav', mix = 'sum' }")), HasSubstr("mix"));
  EXPECT_THAT(refused(sound_plan("{ name = 'decode_sound', mix = 'mean', desired_channels = 2 }")),
              HasSubstr("the mean is one channel"));
  EXPECT_THAT(refused(sound_plan("{ name = 'decode_wav', max_values = 2 }")), HasSubstr("no argument 'max_values'"));
  EXPECT_THAT(refused(sound_plan("{ name = 'gain_db', db = [1, 2, 3] }")), HasSubstr("the lowest and the highest"));
  EXPECT_THAT(refused(sound_plan("{ name = 'gain_db' }")), HasSubstr("db"));
  EXPECT_THAT(refused(sound_plan("{ name = 'speed', factor = 9 }")), HasSubstr("0.25 to 4"));
  EXPECT_THAT(refused(sound_plan("{ name = 'pad_or_trim' }")), HasSubstr("samples"));
}

}  // namespace
}  // namespace headpond::cli
