// SPDX-License-Identifier: Apache-2.0
// Sound files as libsndfile writes them; damaged ones are in sound_faults_test.cc.
#include "headpond/codec/sound/sound_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <thread>

#include "headpond/codec/sound/level/level_kernels.h"
#include "headpond/codec/sound/resample/resample.h"
#include "headpond/codec/sound/sound_kernel.h"
#include "headpond/codec/sound/sound_test_internal.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/codec/sound/wav_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::sound_of;
using testing::EndsWith;
using testing::HasSubstr;

constexpr int kFlac = SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
constexpr int kMp3 = SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III;
constexpr int kVorbis = SF_FORMAT_OGG | SF_FORMAT_VORBIS;
constexpr int kOpus = SF_FORMAT_OGG | SF_FORMAT_OPUS;
constexpr int kAiff = SF_FORMAT_AIFF | SF_FORMAT_PCM_16;
constexpr size_t kFrames = 9001;

struct SoundCase {
  int number;
  SoundFormat format;
};
const std::vector<SoundCase> kSoundCases = {{SF_FORMAT_WAV | SF_FORMAT_PCM_16, SoundFormat::wav},
                                            {kFlac, SoundFormat::flac},
                                            {kMp3, SoundFormat::mp3},
                                            {kVorbis, SoundFormat::vorbis},
                                            {kOpus, SoundFormat::opus},
                                            {kAiff, SoundFormat::aiff}};

const std::vector<float>& stereo_tones() {
  static const std::vector<float> values = test::tones(kFrames, 2, 16000);
  return values;
}
std::vector<std::byte> stereo_file(int format) { return sound_of(format, stereo_tones(), 2); }

std::vector<float> sound_values(const Result<Sound>& sound) {
  EXPECT_TRUE(sound) << sound.error();
  if (!sound) return {};
  const auto values = sound->samples.as<float>();
  return {values.begin(), values.end()};
}

TEST(DecodeWav, GivesTheBitsOfLibsndfileForEachForm) {
  const std::vector<float> values = test::tones(301, 3, 8000);
  int compared = 0;
  for (const int container : {SF_FORMAT_WAV, SF_FORMAT_WAVEX, SF_FORMAT_RF64}) {
    for (const int form : {SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_PCM_32, SF_FORMAT_FLOAT,
                           SF_FORMAT_DOUBLE, SF_FORMAT_ALAW, SF_FORMAT_ULAW}) {
      for (const int order : {SF_ENDIAN_LITTLE, SF_ENDIAN_BIG}) {
        SF_INFO info = {};
        info.samplerate = 8000;
        info.channels = 3;
        info.format = container | form | order;
        if (sf_format_check(&info) == 0) continue;
        const auto file = sound_of(info.format, values, 3, 8000);
        const auto wav = decode_wav(file, {.lenient = true}, fmt::format("format {:x}", info.format));
        ASSERT_TRUE(wav) << wav.error();
        EXPECT_THAT(wav->samples.as<float>(), testing::ElementsAreArray(test::read_by_sndfile(file))) << info.format;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 32);
}

TEST(DecodeSound, ReadsEachFormatAsLibsndfileDoes) {
  for (const auto& [number, format] : kSoundCases) {
    const auto file = stereo_file(number);
    const auto sound = decode_sound(file, {}, name(format));
    ASSERT_TRUE(sound) << sound.error();
    EXPECT_EQ(sound->rate, 16000);
    EXPECT_EQ(sound->samples.shape(), (Shape{kFrames, 2})) << name(format);
    EXPECT_THAT(sound->samples.as<float>(), testing::ElementsAreArray(test::read_by_sndfile(file))) << name(format);
  }
}

TEST(DecodeSound, FlacAndAiffLoseNothing) {
  std::vector<int16_t> values(65536);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int16_t>(i * 40503);
  const auto wav = sound_values(decode_sound(sound_of(SF_FORMAT_WAV | SF_FORMAT_PCM_16, values, 1)));
  for (const int format : {SF_FORMAT_FLAC | SF_FORMAT_PCM_16, SF_FORMAT_FLAC | SF_FORMAT_PCM_24,
                           SF_FORMAT_AIFF | SF_FORMAT_PCM_16, SF_FORMAT_AIFF | SF_FORMAT_PCM_32}) {
    EXPECT_EQ(sound_values(decode_sound(sound_of(format, values, 1))), wav) << format;
  }
}

TEST(DecodeSound, ARangeIsThatPartOfTheWhole) {
  for (const auto& [number, format] : kSoundCases) {
    const auto file = stereo_file(number);
    const auto whole = sound_values(decode_sound(file));
    for (const int64_t first : {1, 4095, 4096, 8000, 8999, 9000}) {
      const auto part = decode_sound(file, {.desired_samples = 700, .first_sample = first});
      std::vector<float> expected(whole.begin() + 2 * first,
                                  whole.begin() + 2 * std::min<int64_t>(first + 700, kFrames));
      expected.resize(1400);
      EXPECT_EQ(sound_values(part), expected) << name(format) << " from " << first;
    }
    EXPECT_EQ(decode_sound(file, {.first_sample = kFrames})->samples.shape(), (Shape{0, 2})) << name(format);
    const auto late = decode_sound(file, {.first_sample = kFrames + 1});
    ASSERT_FALSE(late) << name(format);
    EXPECT_EQ(late.error().kind(), ErrorKind::InvalidArgument);
    EXPECT_THAT(late.error().message(), HasSubstr("first_sample 9002 of 9001 frames"));
  }
}

// A FLAC file whose head does not say how many frames there are.
std::vector<std::byte> without_length(std::vector<std::byte> file) {
  file[21] &= std::byte{0xf0};
  std::fill_n(file.begin() + 22, 4, std::byte{0});
  EXPECT_EQ(sound_info(file, file.size())->frames, -1);
  return file;
}
std::vector<std::byte> flac_from_a_stream() { return without_length(stereo_file(kFlac)); }

// Decodes `file` with `options`, and compares with all of it, decoded and resampled from `rate`, then cut.
void expect_resampled(const std::vector<std::byte>& file, SoundOptions options, int32_t rate, const std::string& what) {
  const auto found = decode_sound(file, options);
  ASSERT_TRUE(found) << what << ": " << found.error();
  EXPECT_EQ(found->rate, options.sample_rate);
  const auto whole = decode_sound(file, {.lenient = options.lenient, .mix = options.mix});
  EXPECT_EQ(found->is_truncated, whole->is_truncated) << what;
  const Tensor resampled = *resample(whole->samples, {.from = rate, .to = options.sample_rate});
  const auto channels = static_cast<size_t>(resampled.dim(1)), first = static_cast<size_t>(options.first_sample);
  const auto values = resampled.as<float>().subspan(std::min(channels * first, resampled.as<float>().size()));
  std::vector<float> expected(values.begin(), values.end());
  if (options.desired_samples >= 0) expected.resize(channels * static_cast<size_t>(options.desired_samples));
  EXPECT_EQ(found->samples.dim(1), resampled.dim(1));
  EXPECT_TRUE(std::ranges::equal(found->samples.as<float>(), expected)) << what;
}

TEST(DecodeSound, AtAnotherRateIsTheWholeResampledAndCut) {
  for (const auto& [number, format] : kSoundCases) {
    const auto file = stereo_file(number);
    const int32_t rate = sound_info(file, file.size())->rate;
    for (const int32_t sample_rate : {8000, 16000, 22050, 48000}) {
      for (const int64_t first : {0, 1, 1000, 4000}) {
        for (const int64_t desired : {-1, 0, 700, 30000}) {
          expect_resampled(file, {.desired_samples = desired, .first_sample = first, .sample_rate = sample_rate}, rate,
                           fmt::format("{} at {}, {} from {}", name(format), sample_rate, desired, first));
        }
      }
    }
    expect_resampled(file, {.mix = SoundMix::mean, .sample_rate = 11025}, rate, "mean");
    const auto late = decode_sound(file, {.first_sample = 4502, .sample_rate = 8000});
    ASSERT_FALSE(late) << name(format);
    EXPECT_EQ(late.error().kind(), ErrorKind::InvalidArgument);
    EXPECT_THAT(late.error().message(), HasSubstr("first_sample 4502 of 4501 frames at 8000 Hz"));
  }
}

TEST(DecodeSound, AtAnotherRateOfAFileThatDoesNotSayItsLength) {
  const auto file = flac_from_a_stream();
  for (const int64_t desired : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{5000}}) {
    for (const int64_t first : {0, 1, 4000, 4501}) {
      expect_resampled(file, {.desired_samples = desired, .first_sample = first, .sample_rate = 8000}, 16000,
                       fmt::format("{} from {}", desired, first));
    }
  }
  for (const int64_t desired : {int64_t{-1}, int64_t{0}, int64_t{9}, INT64_MAX}) {
    const auto error_of = [&](int64_t first) {
      const auto late = decode_sound(file, {.desired_samples = desired, .first_sample = first, .sample_rate = 8000});
      return late ? "none" : late.error().message();
    };
    EXPECT_THAT(error_of(4502), HasSubstr("first_sample 4502 of 4501 frames at 8000 Hz"));
    for (const int64_t first : {int64_t{5000}, int64_t{1} << 40, INT64_MAX}) {
      EXPECT_THAT(error_of(first), HasSubstr(fmt::format("first_sample {} is after the last frame", first)));
    }
  }
}

// The limit of values shows what is decoded and kept.
TEST(DecodeSound, AtAnotherRateARangeNeedsNothingBeforeItAlsoWhereNoLengthIsStated) {
  for (const auto& file : {flac_from_a_stream(), stereo_file(kFlac)}) {
    const SoundOptions options = {
        .desired_samples = 100, .first_sample = 4000, .sample_rate = 8000, .max_values = 2 * (200 + 40)};
    expect_resampled(file, options, 16000, "100 from 4000");
    const auto many = decode_sound(file, {.desired_samples = 100, .sample_rate = 8000, .max_values = 400});
    EXPECT_EQ(many.error().kind(), ErrorKind::ResourceExhausted) << "control: the filters need more than 200 frames";
  }
}

TEST(DecodeSound, AtAnotherRateOfAFileWithFewerFramesThanItStates) {
  for (const int format : {SF_FORMAT_WAV | SF_FORMAT_PCM_16, kFlac, kAiff}) {
    auto file = stereo_file(format);
    file.resize(file.size() / 2);
    EXPECT_EQ(decode_sound(file, {.sample_rate = 8000}).error().kind(), decode_sound(file).error().kind());
    expect_resampled(file, {.lenient = true, .sample_rate = 8000}, 16000, "all");
    expect_resampled(file, {.desired_samples = 3000, .lenient = true, .sample_rate = 8000}, 16000, "to after its end");
  }
}

TEST(DecodeSound, ChannelsAreDroppedRepeatedOrMixed) {
  for (const auto& [number, format] : kSoundCases) {
    const auto file = stereo_file(number);
    const auto whole = sound_values(decode_sound(file));
    const auto one = sound_values(decode_sound(file, {.desired_channels = 1}));
    const auto three = sound_values(decode_sound(file, {.desired_channels = 3}));
    const auto mean = sound_values(decode_sound(file, {.mix = SoundMix::mean}));
    ASSERT_EQ(three.size(), 3 * kFrames);
    for (size_t i = 0; i < kFrames; ++i) {
      const float left = whole[2 * i], right = whole[2 * i + 1];
      ASSERT_EQ(one[i], left);
      ASSERT_EQ((std::vector<float>{three[3 * i], three[3 * i + 1], three[3 * i + 2]}),
                (std::vector{left, right, right}));
      ASSERT_EQ(mean[i], static_cast<float>((static_cast<double>(left) + static_cast<double>(right)) / 2));
    }
  }
}

TEST(DecodeSound, LimitsAndRequirementsHoldForEachFormat) {
  for (const auto& [number, format] : kSoundCases) {
    const auto file = stereo_file(number);
    const auto kind = [&](const SoundOptions& options) { return decode_sound(file, options).error().kind(); };
    EXPECT_THAT(decode_sound(file, {.rate = 8000}, "a").error().message(),
                EndsWith("a: a sample rate of 16000 Hz, 8000 are required: resample the sound by sample_rate"));
    EXPECT_THAT(decode_sound(file, {.rate = 8000, .sample_rate = 8000}, "a").error().message(),
                EndsWith("a: a sample rate of 16000 Hz, 8000 are required: leave out rate to have it resampled"));
    EXPECT_EQ(kind({.max_channels = 1}), ErrorKind::ResourceExhausted);
    for (const SoundOptions& options :
         {SoundOptions{.desired_channels = 0}, SoundOptions{.desired_samples = -2}, SoundOptions{.first_sample = -1},
          SoundOptions{.desired_channels = 2, .mix = SoundMix::mean}}) {
      EXPECT_EQ(kind(options), ErrorKind::InvalidArgument) << name(format);
    }
    if (format == SoundFormat::wav) continue;
    EXPECT_EQ(kind({.max_values = 2 * kFrames - 1}), ErrorKind::ResourceExhausted);
    EXPECT_TRUE(decode_sound(file, {.max_values = 2 * kFrames}));
    EXPECT_TRUE(decode_sound(file, {.desired_samples = 10, .max_values = 20})) << "of what is decoded";
  }
}

TEST(DecodeSound, ValuesThatAreNoNumbersAreRejectedOrZero) {
  std::vector<float> values = test::tones(100, 2, 16000);
  values[51] = std::numeric_limits<float>::infinity();
  const auto file = sound_of(SF_FORMAT_AIFF | SF_FORMAT_FLOAT, values, 2);
  EXPECT_EQ(sound_values(decode_sound(file)), values);
  EXPECT_THAT(decode_sound(file, {.first_sample = 20, .non_finite = NonFinite::reject}).error().message(),
              HasSubstr("inf in frame 25, channel 1"));
  values[51] = 0;
  EXPECT_EQ(sound_values(decode_sound(file, {.non_finite = NonFinite::zero})), values);
}

TEST(DecodeSound, ThreadsDoNotDisturbEachOther) {
  std::vector<std::jthread> threads;
  for (const SoundCase& one : kSoundCases) {
    threads.emplace_back([&one, file = stereo_file(one.number)] {
      const auto first = sound_values(decode_sound(file));
      for (int i = 0; i < 3; ++i) EXPECT_EQ(sound_values(decode_sound(file)), first) << name(one.format);
    });
  }
}

TEST(SoundInfo, AgreesWithDecodingAndSaysHowMuchItNeeds) {
  for (const auto& [number, format] : kSoundCases) {
    const auto file = stereo_file(number);
    const SoundInfo whole = sound_info(file, file.size()).value();
    EXPECT_EQ(whole, (SoundInfo{format, 16000, 2, kFrames})) << name(format);
    const bool needs_all = format == SoundFormat::mp3 || format == SoundFormat::vorbis || format == SoundFormat::opus;
    for (size_t size = 0; size < 200; ++size) {
      const auto info = sound_info(std::span(file).first(size), file.size());
      if (info) {
        EXPECT_EQ(*info, whole);
      } else {
        EXPECT_EQ(info.error().kind(), ErrorKind::FailedPrecondition) << info.error();
      }
      EXPECT_TRUE(info || needs_all || size < 110) << name(format) << ' ' << size;
    }
    EXPECT_EQ(sound_info(std::span(file).first(200), file.size()).has_value(), !needs_all);
  }
}

// What comes first in libsndfile's MP3 files is a frame without sound that states how many follow.
size_t first_mp3_frame_bytes(const std::vector<std::byte>& file) {
  size_t next = 4;
  while (next < file.size() && std::memcmp(&file[next], file.data(), 2) != 0) ++next;
  return next;
}

TEST(DecodeSound, AllFramesOfAnMp3FileThatDoesNotStateTheirNumberAreThere) {
  const auto file = sound_of(kMp3, test::tones(40000, 2, 16000), 2);
  const std::vector<std::byte> without(file.begin() + static_cast<ptrdiff_t>(first_mp3_frame_bytes(file)), file.end());
  const auto sound = decode_sound(without);
  ASSERT_TRUE(sound) << sound.error();
  const int64_t frames = sound->samples.dim(0);
  EXPECT_GE(frames, 40000 + 576);
  EXPECT_LE(frames, 40000 + 4 * 576);
  EXPECT_EQ(frames % 576, 0) << "of whole MP3 frames";
  EXPECT_EQ(sound_info(without, without.size())->frames, frames);
  const auto guessed = test::read_by_sndfile(without);
  ASSERT_LT(guessed.size(), static_cast<size_t>(2 * frames)) << "libsndfile alone guesses their number";
  const auto is_near = [](float a, float b) { return std::abs(a - b) < 1e-6F; };
  EXPECT_TRUE(std::equal(guessed.begin(), guessed.end(), sound->samples.as<float>().begin(), is_near));
  const auto part = sound_values(decode_sound(without, {.desired_samples = 100, .first_sample = 50}));
  EXPECT_TRUE(std::equal(part.begin(), part.end(), sound->samples.as<float>().begin() + 100));
  std::vector<std::byte> tagged = test::to_bytes(std::string("ID3\4\0\0\0\0\0\5", 10) + "hello");
  tagged.insert(tagged.end(), without.begin(), without.end());
  EXPECT_EQ(sound_values(decode_sound(tagged)), sound_values(sound));
  const auto tag = test::to_bytes("TAG" + std::string(125, ' '));
  tagged.insert(tagged.end(), tag.begin(), tag.end());
  EXPECT_EQ(sound_values(decode_sound(tagged)), sound_values(sound));
}

TEST(DecodeSound, AFlacFileOfAStreamDoesNotStateItsFrames) {
  auto file = stereo_file(kFlac);
  const auto whole = sound_values(decode_sound(file));
  file[21] &= std::byte{0xf0};
  std::fill_n(&file[22], 4, std::byte{0});
  EXPECT_EQ(sound_info(file, file.size())->frames, -1);
  EXPECT_EQ(sound_values(decode_sound(file)), whole);
  EXPECT_EQ(sound_values(decode_sound(file, {.first_sample = 9000})), std::vector(whole.end() - 2, whole.end()));
  EXPECT_THAT(decode_sound(file, {.first_sample = 9002}).error().message(), HasSubstr("after the last frame"));
  EXPECT_EQ(decode_sound(file, {.max_values = 18001}).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_TRUE(decode_sound(file, {.max_values = 18002}));
}

// Frames that are read count in all channels of the file, also where fewer are made of them.
TEST(DecodeSound, TheLimitOfAFileThatDoesNotSayItsLengthIsAnError) {
  const auto file = flac_from_a_stream();
  constexpr int64_t kValues = 2 * static_cast<int64_t>(kFrames), kTooMany = -1;
  const auto frames = [&](SoundOptions options, int64_t max_values) {
    options.max_values = max_values;
    const auto sound = decode_sound(file, options);
    EXPECT_TRUE(sound || sound.error().kind() == ErrorKind::ResourceExhausted) << sound.error();
    return sound ? sound->samples.dim(0) : kTooMany;
  };
  for (const SoundOptions& options :
       {SoundOptions{.mix = SoundMix::mean}, SoundOptions{.desired_channels = 1}, SoundOptions{}}) {
    for (const int64_t limit : {int64_t{1}, int64_t{2000}, kValues - 1}) EXPECT_EQ(frames(options, limit), kTooMany);
    for (const int64_t limit : {kValues, INT64_MAX}) EXPECT_EQ(frames(options, limit), 9001);
  }
  EXPECT_EQ(frames({.desired_channels = 3}, kValues), kTooMany) << "of the result";
  EXPECT_EQ(frames({.desired_samples = 1000, .mix = SoundMix::mean}, 2000), 1000) << "of what is decoded";
  EXPECT_EQ(frames({.sample_rate = 8000}, 2000), kTooMany);
  EXPECT_EQ(frames({.mix = SoundMix::mean, .sample_rate = 8000}, kValues - 1), kTooMany);
  const auto one = test::sound_of(kFlac, test::tones(10, 1, 16000), 1);
  EXPECT_TRUE(decode_sound(without_length(one), {.max_values = INT64_MAX}));
}

TEST(DecodeSound, ACropOfEachFormatIsTheSameJoinedAndApart) {
  const std::vector<KernelRef> chain = {decode_sound(), random_sound_crop(600)};
  for (const auto& [number, format] : kSoundCases) {
    const auto bytes = stereo_file(number);
    const Tensor file = Tensor::scalar(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    for (uint64_t key = 0; key < 4; ++key) {
      const auto joined = run_kernels(chain, file, {.key = key, .joined = true});
      const auto apart = run_kernels(chain, file, {.key = key, .joined = false});
      ASSERT_TRUE(joined && apart) << name(format);
      ASSERT_THAT(joined->as<float>(), testing::ElementsAreArray(apart->as<float>())) << name(format);
    }
  }
}

TEST(DecodeSound, ATagMayComeBeforeFlac) {
  auto file = test::to_bytes(std::string("ID3\4\0\0\0\0\1\0", 10) + std::string(128, 'x'));
  const auto flac = stereo_file(kFlac);
  file.insert(file.end(), flac.begin(), flac.end());
  EXPECT_EQ(sound_values(decode_sound(file)), sound_values(decode_sound(flac)));
  EXPECT_EQ(sound_info(std::span(file).first(200), file.size())->frames, kFrames);
}

}  // namespace
}  // namespace headpond
