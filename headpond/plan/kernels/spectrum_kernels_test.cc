// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/codec/sound/resample/resample.h"
#include "headpond/plan/kernels/plan_kernel.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;

// The title of the spectrum kernel `name` with options in TOML, or the error.
std::string title_of_plan_kernel(const std::string& name, const std::string& toml) {
  const PlanValue value = parse_toml(toml, "f.toml");
  try {
    for (const PlanKernel& kernel : spectrum_plan_kernels()) {
      if (kernel.name == name) return kernel.build({"f.toml", 1, name, &value, kernel.options})->facts().title;
    }
  } catch (const Exception& exception) {
    return exception.error().message();
  }
  return "no kernel";
}

TEST(SpectrumPlanKernels, ReadTheOptionsOfSpectra) {
  EXPECT_EQ(title_of_plan_kernel("log_mel", "preset = 'whisper'\nmels = 128\n"), "log_mel(whisper, mels=128)");
  EXPECT_EQ(title_of_plan_kernel("mfcc", "window = 'hamming'\nlow_hz = 20\ncoefficients = 13\n"),
            "mfcc(window=hamming, low_hz=20, coefficients=13)");
  EXPECT_EQ(title_of_plan_kernel("stft", "edges = 'snip'\nfft = 64\nmels_first = true\n"),
            "stft(fft=64, edges=snip, mels_first=true)");
  EXPECT_EQ(title_of_plan_kernel("delta", "append = true\n"), "delta(append=true)");
}

TEST(SpectrumPlanKernels, ReadTheOptionsOfResamplingAndMasks) {
  EXPECT_EQ(title_of_plan_kernel("resample", "from = 44100\nto = 16000\nmethod = 'sinc_kaiser'\n"),
            "resample(from=44100, to=16000, method=sinc_kaiser)");
  if (has_soxr()) {
    EXPECT_EQ(title_of_plan_kernel("resample", "from = 44100\nto = 16000\nmethod = 'soxr_hq'\n"),
              "resample(from=44100, to=16000, method=soxr_hq)");
  }
  EXPECT_EQ(title_of_plan_kernel("time_mask", "width = 40\np = 0.5\n"), "time_mask(width=40, p=0.5)");
  EXPECT_EQ(title_of_plan_kernel("spec_augment", "time_masks = 1\nfill = 'mean'\n"),
            "spec_augment(time_masks=1, fill=mean)");
}

TEST(SpectrumPlanKernels, RefuseWhatTheLibraryRefuses) {
  EXPECT_THAT(title_of_plan_kernel("log_mel", "hop = 0\n"), HasSubstr("hop must be"));
  EXPECT_THAT(title_of_plan_kernel("log_mel", "preset = 'whsper'\n"), HasSubstr("preset"));
  EXPECT_THAT(title_of_plan_kernel("resample", "from = 8000\n"), HasSubstr("to is missing"));
}

}  // namespace
}  // namespace headpond::plan
