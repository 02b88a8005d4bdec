// SPDX-License-Identifier: Apache-2.0
// The option sample_rate of WAV files, and its errors; other formats: sound_file_test.cc.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>

#include "headpond/codec/sound/sample_rate_internal.h"
#include "headpond/codec/sound/sound_kernel.h"
#include "headpond/codec/sound/wav_kernel.h"
#include "headpond/codec/sound/wav_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using testing::HasSubstr;

std::vector<std::byte> file_at(uint32_t rate, int64_t frames = 3000) {
  std::vector<int16_t> values(2 * static_cast<size_t>(frames));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int16_t>(i * i * 7919);
  return test::to_bytes(
      test::riff(test::FormatChunk{.channels = 2, .rate = rate}.text() + test::chunk("data", test::samples(values))));
}
// All of the file, decoded and then resampled.
Tensor resampled_after(const std::vector<std::byte>& file, int64_t from, int64_t to) {
  return *resample(decode_wav(file)->samples, {.from = from, .to = to});
}
bool has_values(const Tensor& found, std::span<const float> values) {
  return std::ranges::equal(found.as<float>(), values);
}

TEST(SampleRate, GivesTheBytesOfResample) {
  for (const uint32_t rate : {8000U, 11025U, 22050U, 44100U, 48000U}) {
    const auto file = file_at(rate);
    const auto wav = decode_wav(file, {.sample_rate = 16000});
    const auto sound = decode_sound(file, {.sample_rate = 16000});
    ASSERT_TRUE(wav) << wav.error();
    ASSERT_TRUE(sound) << sound.error();
    EXPECT_EQ(wav->rate, 16000);
    EXPECT_EQ(sound->rate, 16000);
    const Tensor expected = resampled_after(file, rate, 16000);
    EXPECT_EQ(wav->samples.shape(), expected.shape());
    EXPECT_TRUE(has_values(wav->samples, expected.as<float>())) << rate;
    EXPECT_TRUE(has_values(sound->samples, expected.as<float>())) << rate;
    EXPECT_FALSE(has_values(wav->samples, resampled_after(file, rate + 25, 16000).as<float>())) << "control";
  }
}

TEST(SampleRate, OfTheFileChangesNothing) {
  const auto file = file_at(16000);
  const auto plain = decode_wav(file), same = decode_wav(file, {.sample_rate = 16000});
  ASSERT_TRUE(same) << same.error();
  EXPECT_EQ(same->rate, 16000);
  EXPECT_TRUE(has_values(same->samples, plain->samples.as<float>()));
  EXPECT_TRUE(has_values(decode_sound(file, {.sample_rate = 16000})->samples, plain->samples.as<float>()));
  EXPECT_FALSE(has_values(decode_wav(file, {.sample_rate = 16001})->samples, plain->samples.as<float>())) << "control";
}

TEST(SampleRate, RangesCountFramesOfTheResult) {
  const auto file = file_at(44100);
  const Tensor whole = resampled_after(file, 44100, 16000);
  ASSERT_EQ(whole.dim(0), 1089);
  for (const int64_t first : {0, 1, 500, 1088, 1089}) {
    for (const int64_t desired : {-1, 0, 1, 77, 2000}) {
      const auto part = decode_wav(file, {.desired_samples = desired, .first_sample = first, .sample_rate = 16000});
      ASSERT_TRUE(part) << part.error();
      const auto rest = whole.as<float>().subspan(static_cast<size_t>(2 * first));
      std::vector<float> expected(rest.begin(), rest.end());
      if (desired >= 0) expected.resize(static_cast<size_t>(2 * desired));
      EXPECT_TRUE(has_values(part->samples, expected)) << fmt::format("{} from {}", desired, first);
    }
  }
  const auto late = decode_wav(file, {.first_sample = 1090, .sample_rate = 16000}, "a.wav");
  EXPECT_THAT(late.error().message(), HasSubstr("a.wav: first_sample 1090 of 1089 frames at 16000 Hz"));
  EXPECT_EQ(late.error().kind(), ErrorKind::InvalidArgument);
}

// A value that is refused shows which frames are looked at.
TEST(SampleRate, DecodesOnlyWhatTheRangeNeeds) {
  std::vector<float> values(1000, 0.5F);
  values[600] = std::numeric_limits<float>::infinity();
  std::string data(4000, '\0');
  std::memcpy(data.data(), values.data(), data.size());
  const auto file = test::to_bytes(
      test::riff(test::FormatChunk{.code = 3, .rate = 8000, .bits = 32}.text() + test::chunk("data", data)));
  const auto decoded = [&](int64_t first, int64_t desired) {
    return decode_wav(
        file,
        {.desired_samples = desired, .first_sample = first, .non_finite = NonFinite::reject, .sample_rate = 16000});
  };
  EXPECT_TRUE(decoded(0, 1150));
  EXPECT_TRUE(decoded(1250, -1));
  EXPECT_THAT(decoded(0, 1201).error().message(), HasSubstr("inf in frame 600, channel 0")) << "control";
  EXPECT_FALSE(decoded(1201, 1));
}

TEST(SampleRate, IntoARow) {
  const auto file = file_at(8000, 10);
  const WavOptions options = {.desired_samples = 24, .sample_rate = 16000};
  std::vector<float> row(48, 7);
  const auto info = decode_wav_into(file, std::as_writable_bytes(std::span(row)), options);
  ASSERT_TRUE(info) << info.error();
  EXPECT_EQ(info->rate, 8000);
  EXPECT_TRUE(has_values(decode_wav(file, options)->samples, row));
  const auto other = decode_wav_into(file, std::as_writable_bytes(std::span(row).first(46)), options);
  EXPECT_THAT(other.error().message(), HasSubstr("24 frames of 2 channels need 192 bytes"));
  EXPECT_EQ(info->frames, 10) << "those of the file";
  const WavOptions rest = {.first_sample = 1, .sample_rate = 16000};
  ASSERT_TRUE(decode_wav_into(file, std::as_writable_bytes(std::span(row).first(38)), rest));
  EXPECT_TRUE(has_values(decode_wav(file, rest)->samples, std::span(row).first(38)));
  EXPECT_THAT(decode_wav_into(file, std::as_writable_bytes(std::span(row)), rest).error().message(),
              HasSubstr("19 frames of 2 channels need 152 bytes"));
}

// A file that cannot be resampled shows what is looked at first.
TEST(SampleRate, TheSizeOfARowIsLookedAtFirst) {
  std::vector<float> row(24);
  const auto error_of = [&](int64_t frames, int64_t channels, SoundMix mix = SoundMix::first) {
    const WavOptions options = {
        .desired_channels = channels, .desired_samples = frames, .mix = mix, .sample_rate = 768000};
    return decode_wav_into(file_at(767999, 10), std::as_writable_bytes(std::span(row)), options).error().message();
  };
  EXPECT_THAT(error_of(13, -1), HasSubstr("13 frames of 2 channels need 104 bytes"));
  EXPECT_THAT(error_of(12, 1), HasSubstr("12 frames of 1 channels need 48 bytes"));
  EXPECT_THAT(error_of(12, -1, SoundMix::mean), HasSubstr("12 frames of 1 channels need 48 bytes"));
  EXPECT_THAT(error_of(INT64_MAX, -1), HasSubstr("9223372036854775807 frames of 2 channels are too many"));
  EXPECT_THAT(error_of(1, int64_t{1} << 62), HasSubstr("1 frames of 4611686018427387904 channels are too many"));
  EXPECT_THAT(error_of(24, 0), HasSubstr("out of range"));
  for (const std::string& fits : {error_of(12, -1), error_of(24, 1)}) EXPECT_THAT(fits, HasSubstr("taps")) << "control";
}

TEST(SampleRate, RatesThatAreNoneAreRefused) {
  const auto file = file_at(8000, 10);
  for (const int32_t rate : {-1, 768001, INT32_MAX}) {
    for (const Error& error : {decode_wav(file, {.sample_rate = rate}, "a.wav").error(),
                               decode_sound(file, {.sample_rate = rate}, "a.wav").error()}) {
      EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
      EXPECT_THAT(error.message(), HasSubstr(fmt::format("a.wav: sample_rate {}: 0, or 1 to 768000", rate)));
    }
  }
  EXPECT_TRUE(decode_wav(file, {.sample_rate = 768000})) << "control";
}

TEST(SampleRate, RatesOfFilesThatCannotBeResampledAreRefused) {
  const auto error_of = [](uint32_t rate, int32_t sample_rate) {
    const auto sound = decode_sound(file_at(rate, 10), {.sample_rate = sample_rate}, "a.wav");
    return sound ? Error(ErrorKind::OutOfRange, "none") : sound.error();
  };
  EXPECT_THAT(error_of(768001, 16000).message(), HasSubstr("a.wav: a sample rate of 768001 Hz is not resampled"));
  EXPECT_THAT(error_of(767999, 768000).message(),
              AllOf(HasSubstr("a.wav: resample: 767999 to 768000"), HasSubstr("taps")));
  EXPECT_EQ(error_of(768001, 16000).kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(error_of(767999, 768000).kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(error_of(768000, 16000).message(), "none") << "control";
  const auto required = decode_sound(file_at(8000, 10), {.rate = 16000, .sample_rate = 16000});
  EXPECT_THAT(required.error().message(), HasSubstr("8000 Hz, 16000 are required: leave out rate"));
}

TEST(SampleRate, TheLimitOfValuesHoldsForTheResult) {
  const auto file = file_at(8000, 10);
  const auto decoded = [&](int64_t max_values, int64_t desired) {
    return decode_sound(file, {.desired_samples = desired, .sample_rate = 48000, .max_values = max_values});
  };
  EXPECT_TRUE(decoded(120, -1));
  EXPECT_EQ(decoded(119, -1).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_TRUE(decoded(120, 1000)) << "silence is not of the file";
  EXPECT_TRUE(decoded(60, 6)) << "of those that are wanted";
  const auto long_file = file_at(1, 200'000);
  EXPECT_EQ(decode_wav(long_file, {.sample_rate = 1000}).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_TRUE(decode_wav(long_file, {.desired_samples = 1000, .sample_rate = 1000})) << "control";
}

// A value that is refused shows what is decoded first.
TEST(SampleRate, AResultThatIsTooLargeIsRefusedBeforeDecoding) {
  std::string data(40, '\0');
  const float infinity = std::numeric_limits<float>::infinity();
  std::memcpy(&data[8], &infinity, sizeof infinity);
  const auto file = test::to_bytes(
      test::riff(test::FormatChunk{.code = 3, .rate = 8000, .bits = 32}.text() + test::chunk("data", data)));
  const auto error_of = [&](int64_t max_values, int64_t desired_channels) {
    return decode_sound(file,
                        {.desired_channels = desired_channels,
                         .non_finite = NonFinite::reject,
                         .sample_rate = 48000,
                         .max_values = max_values},
                        "a.wav")
        .error()
        .message();
  };
  EXPECT_EQ(error_of(59, -1), "a.wav: 60 frames of 1 channels at 48000 Hz are more than the limit of 59 values");
  EXPECT_EQ(error_of(179, 3), "a.wav: 60 frames of 3 channels at 48000 Hz are more than the limit of 179 values");
  EXPECT_THAT(error_of(60, -1), HasSubstr("inf in frame 2")) << "control";
  EXPECT_THAT(error_of(180, 3), HasSubstr("inf in frame 2")) << "control";
}

struct TooLarge {};  // what would be made

TEST(SampleRate, OnlyDecodeWavHasALimitOfItsOwn) {
  const auto file = file_at(1, 200'000);
  sound_internal::Resampler resampler;
  const sound_internal::MakeSamples make = [](int64_t, int64_t) -> float* { throw TooLarge(); };
  const auto decode = [&](auto max_values) {
    return sound_internal::decode_wav_to(file, {.sample_rate = 1000}, max_values, "a.wav", resampler, make);
  };
  EXPECT_EQ(decode(std::nullopt).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(decode(int64_t{400'000'000 - 1}).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_THROW((void)decode(int64_t{400'000'000}), TooLarge);
  EXPECT_THROW((void)decode(INT64_MAX), TooLarge) << "a limit that was given";
}

TEST(SampleRate, NoFileHasSoManyFramesThatNumbersOverflow) {
  const auto frames = sound_internal::frames_at_rate(INT64_MAX / 2, 8000, 16000, "a.ogg");
  EXPECT_EQ(frames.error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(sound_internal::frames_at_rate(INT64_MAX, 8000, 8000, "a.ogg").value(), INT64_MAX);
  EXPECT_EQ(sound_internal::frames_at_rate(441, 44100, 16000, "a.ogg").value(), 160);
}

// Threads meet files of different rates in different order, each with its own filters.
TEST(SampleRate, IsTheSameOnEveryThread) {
  std::vector<Tensor> files, expected;
  const std::vector<KernelRef> chain = {decode_wav({.sample_rate = 16000})};
  for (const uint32_t rate : {8000U, 16000U, 44100U}) {
    const auto file = file_at(rate);
    files.push_back(Tensor::scalar(std::string_view(reinterpret_cast<const char*>(file.data()), file.size())));
    expected.push_back(rate == 16000 ? decode_wav(file)->samples : resampled_after(file, rate, 16000));
  }
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      KernelScratch scratch;
      for (size_t i = 0; i < 12; ++i) {
        const size_t one = (i * (t + 1) + t) % 3;
        std::vector<Tensor> fields = {files[one]};
        KernelCall call(fields, {}, 0, {}, scratch);
        if (!chain[0]->run(call)) continue;
        call.finish();
        right[t] += has_values(fields[0], expected[one].as<float>()) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(right, testing::Each(12));
  EXPECT_FALSE(has_values(expected[0], expected[2].as<float>())) << "control";
}

}  // namespace
}  // namespace headpond
