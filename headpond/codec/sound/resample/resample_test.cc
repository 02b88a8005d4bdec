// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/resample/resample.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "headpond/codec/sound/resample/resample_internal.h"

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The clip of tests/oracles/spectra.py.
Tensor clip_to_resample(int64_t n = 1000, int64_t channels = 1) {
  std::vector<float> samples;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < channels; ++c) {
      samples.push_back(static_cast<float>((i * i * 7 + i * 13) % 201 - 100) / 128 * static_cast<float>(1 - 2 * c));
    }
  }
  return Tensor::from(samples, {n, channels});
}

using Values = std::vector<std::pair<size_t, double>>;

// Values of tests/oracles/spectra.py table.
const Values kDown = {{137, 0.117570989}, {309, 0.267730802},   {118, -0.214414628}, {290, -0.11655686},
                      {99, -0.453192765}, {271, 0.00696310791}, {80, -0.0669983076}, {252, 0.106827151}};
const Values kUp = {{500, 0.290887265},   {2202, 0.177768188}, {1147, 0.336747786}, {92, -0.706777736},
                    {1794, -0.207849407}, {739, 0.174865421},  {2441, 0.256890021}, {1386, 0.392312638}};
const Values kKaiser = {{500, 0.438600586}, {473, 0.46093013},   {446, -0.330443993}, {419, 0.330543087},
                        {392, 0.083153418}, {365, -0.645230976}, {338, 0.153465782},  {311, 0.201441716}};

double largest_error(const Tensor& found, const Values& expected) {
  double error = 0;
  for (const auto& [place, value] : expected) {
    error = std::max(error, std::abs(static_cast<double>(found.as<float>()[place]) - value));
  }
  return error;
}

TEST(Resample, GivesTorchaudiosValues) {
  EXPECT_LT(largest_error(*resample(clip_to_resample(), {.from = 44100, .to = 16000}), kDown), 1e-6);
  EXPECT_LT(largest_error(*resample(clip_to_resample(), {.from = 16000, .to = 44100}), kUp), 1e-6);
  const ResampleOptions kaiser = {.from = 8000, .to = 16000, .method = ResampleMethod::sinc_kaiser};
  EXPECT_LT(largest_error(*resample(clip_to_resample(), kaiser), kKaiser), 1e-6);
}

TEST(Resample, ControlAnotherWindowIsSeen) {
  EXPECT_GT(largest_error(*resample(clip_to_resample(), {.from = 8000, .to = 16000}), kKaiser), 1e-3);
}

TEST(Resample, GivesAsManyFramesAsTheRatesSayRoundedUp) {
  for (const auto& [frames, expected] : {std::pair{0, 0}, {1, 1}, {2, 1}, {3, 2}, {441, 160}, {442, 161}}) {
    EXPECT_EQ(resample(clip_to_resample(frames), {.from = 44100, .to = 16000})->dim(0), expected) << frames;
  }
}

TEST(Resample, LongClipsInBlocksAreAsShortOnes) {
  const Tensor whole = *resample(clip_to_resample(30000), {.from = 3, .to = 2});
  const Tensor part = *resample(clip_to_resample(9000), {.from = 3, .to = 2});
  EXPECT_TRUE(std::equal(part.as<float>().begin(), part.as<float>().end() - 20, whole.as<float>().begin()));
}

TEST(Resample, TakesEachChannelAlone) {
  const Tensor two = *resample(clip_to_resample(500, 2), {.from = 8000, .to = 11025});
  const Tensor one = *resample(clip_to_resample(500), {.from = 8000, .to = 11025});
  ASSERT_EQ(two.shape(), (Shape{one.dim(0), 2}));
  for (size_t i = 0; i < one.as<float>().size(); ++i) {
    ASSERT_EQ(two.as<float>()[2 * i], one.as<float>()[i]);
    ASSERT_EQ(two.as<float>()[2 * i + 1], -one.as<float>()[i]);
  }
}

TEST(Resample, ASoundWithoutChannelsStaysOne) {
  EXPECT_EQ(resample(Tensor::empty(f32, {5, 0}), {.from = 2, .to = 1})->shape(), (Shape{3, 0}));
  EXPECT_EQ(resample(Tensor::empty(f32, {5, 0}), {.from = 2, .to = 2})->shape(), (Shape{5, 0}));
  EXPECT_EQ(resample(Tensor::empty(f32, {0, 2}), {.from = 2, .to = 1})->shape(), (Shape{0, 2}));
}

TEST(Resample, EqualRatesChangeNothing) {
  EXPECT_THAT(resample(clip_to_resample(9), {.from = 8000, .to = 8000})->as<float>(),
              testing::ElementsAreArray(clip_to_resample(9).as<float>()));
}

using sound_internal::frames_read;
using sound_internal::Polyphase;
using sound_internal::ResampleFilters;

// Frames `first` to `end` of the result, of what the filters read for them; `missing` frames of it are left out.
std::vector<float> resampled_part(const Tensor& clip, const Polyphase& filters, int64_t first, int64_t end,
                                  int64_t missing = 0) {
  const auto read = frames_read(filters, {first, end});
  const int64_t from = std::max<int64_t>(0, read.begin), to = std::min(clip.dim(0), read.end) - missing;
  const auto values = clip.as<float>().subspan(static_cast<size_t>(2 * from), static_cast<size_t>(2 * (to - from)));
  std::vector<float> made(static_cast<size_t>(2 * (end - first))), scratch = {7};
  sound_internal::resample_part(filters, {.values = values, .channels = 2, .begin = from}, first, made, scratch);
  return made;
}

TEST(ResamplePart, IsThatPartOfTheWhole) {
  const Tensor clip = clip_to_resample(20000, 2);
  for (const auto& [from, to] : {std::pair{44100, 16000}, {8000, 16000}, {16000, 44100}, {7, 3}}) {
    const Polyphase filters({.from = from, .to = to});
    const Tensor whole = *resample(clip, {.from = from, .to = to});
    for (const int64_t first : {0, 1, 159, 160, 4111, 7000}) {
      for (const int64_t end : {first + 1, first + 17, whole.dim(0)}) {
        const auto part =
            whole.as<float>().subspan(static_cast<size_t>(2 * first), static_cast<size_t>(2 * (end - first)));
        const auto what = fmt::format("{} to {}, {} to {}", first, end, from, to);
        ASSERT_TRUE(std::ranges::equal(resampled_part(clip, filters, first, end), part)) << what;
      }
    }
    const auto part = whole.as<float>().subspan(8222, 34);
    EXPECT_FALSE(std::ranges::equal(resampled_part(clip, filters, 4111, 4128, 12), part)) << "control: too few frames";
  }
}

TEST(ResampleFilters, AreMadeOnceForAPairOfRates) {
  ResampleFilters filters;
  const auto first = filters.get(44100, 16000);
  EXPECT_EQ(first->taps, Polyphase({.from = 44100, .to = 16000}).taps);
  EXPECT_NE(filters.get(16000, 44100), first);
  EXPECT_EQ(filters.get(44100, 16000), first);
  EXPECT_EQ(filters.size(), 2U);
}

TEST(ResampleFilters, AtMostOneMebibyteIsKept) {
  constexpr size_t kHalf = size_t{1} << 17;  // taps of half a MiB
  ResampleFilters filters;
  filters.get(8000, 16000);
  EXPECT_GT(filters.get(16000, 4001)->taps.size(), kHalf);
  EXPECT_EQ(filters.size(), 2U) << "that fits beside the first one";
  const auto last = filters.get(16000, 4003);
  EXPECT_GT(last->taps.size(), kHalf);
  EXPECT_EQ(filters.size(), 1U) << "only the last one";
  EXPECT_GT(filters.get(16000, 44099)->taps.size(), 2 * kHalf);
  EXPECT_EQ(filters.size(), 1U) << "one that is too large is not kept";
  EXPECT_EQ(filters.get(16000, 4003), last) << "and takes nobody's place";
  EXPECT_THROW(filters.get(768001, 16000), Exception);
  EXPECT_THROW(filters.get(767999, 768000), Exception);
  EXPECT_EQ(filters.size(), 1U) << "what failed leaves nothing";
}

TEST(ResampleKernel, KnowsTheShapeAndNamesItsOptions) {
  const KernelRef kernel = resample({.from = 44100, .to = 16000, .width = 64});
  EXPECT_EQ(kernel->facts().title, "resample(from=44100, to=16000, width=64)");
  EXPECT_EQ(kernel->facts().result({{"x", DType::f32, {44101, 2}}})[0].shape, (Shape{16001, 2}));
  EXPECT_EQ(kernel->facts().result({{"x", DType::f32, {kUnknown}}})[0].shape, (Shape{kUnknown}));
  EXPECT_THROW(kernel->facts().result({{"x", DType::i16, {1}}}), Exception);
}

TEST(Resample, RefusesOptionsOutOfRange) {
  for (const ResampleOptions& bad : std::vector<ResampleOptions>{{},
                                                                 {.from = 0, .to = 1},
                                                                 {.from = 1, .to = 768001},
                                                                 {.from = 2, .to = 1, .width = 0},
                                                                 {.from = 2, .to = 1, .rolloff = 1.5},
                                                                 {.from = 2, .to = 1, .beta = std::nan("")}}) {
    EXPECT_THROW(resample(bad), Exception);
    EXPECT_EQ(resample(clip_to_resample(), bad).error().kind(), ErrorKind::InvalidArgument);
  }
  EXPECT_THAT(resample(clip_to_resample(), {.from = 767999, .to = 768000}).error().message(), HasSubstr("taps"));
  EXPECT_FALSE(resample(Tensor::scalar(1.0F), {.from = 2, .to = 1}));
}

}  // namespace
}  // namespace headpond
