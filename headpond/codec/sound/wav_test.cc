// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/wav.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <sstream>

#include "headpond/codec/sound/wav_test_internal.h"
#include "headpond/tensor/buffer.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::chunk;
using test::FormatChunk;
using test::riff;
using test::samples;
using test::to_bytes;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::byte> file_of(const std::vector<int16_t>& values, uint16_t channels = 1) {
  return to_bytes(riff(FormatChunk{.channels = channels}.text() + chunk("data", samples(values))));
}
std::vector<float> values_of(const Result<Wav>& wav) {
  EXPECT_TRUE(wav) << wav.error();
  const auto values = wav->samples.as<float>();
  return {values.begin(), values.end()};
}

TEST(DecodeWav, GivesFramesOfChannelsAndTheRate) {
  const Wav wav = decode_wav(file_of({0, 16384, -32768, 32767, 1, -1}, 2)).value();
  EXPECT_EQ(wav.rate, 8000);
  EXPECT_EQ(wav.samples.shape(), (Shape{3, 2}));
  EXPECT_THAT(wav.samples.as<float>(), ElementsAre(0, 0.5F, -1, 32767 / 32768.0F, 1 / 32768.0F, -1 / 32768.0F));
}

TEST(DecodeWav, ConvertsEveryValue) {
  std::vector<int16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int16_t>(static_cast<int>(i) - 32768);
  const auto values = values_of(decode_wav(file_of(all)));
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(values[i], static_cast<float>(all[i]) / 32768.0F);
}

TEST(DecodeWav, CutsOrFillsSamplesWithZeros) {
  const auto file = file_of({8192, 16384, 24576});
  EXPECT_THAT(values_of(decode_wav(file, {.desired_samples = 2})), ElementsAre(0.25F, 0.5F));
  EXPECT_THAT(values_of(decode_wav(file, {.desired_samples = 5})), ElementsAre(0.25F, 0.5F, 0.75F, 0, 0));
  EXPECT_THAT(values_of(decode_wav(file, {.desired_samples = 0})), ElementsAre());
  EXPECT_EQ(decode_wav(file, {.desired_samples = 0})->samples.shape(), (Shape{0, 1}));
}

TEST(DecodeWav, DropsChannelsOrRepeatsTheLast) {
  const auto file = file_of({8192, 16384, 24576, -8192}, 2);
  EXPECT_THAT(values_of(decode_wav(file, {.desired_channels = 1})), ElementsAre(0.25F, 0.75F));
  EXPECT_THAT(values_of(decode_wav(file, {.desired_channels = 4, .desired_samples = 3})),
              ElementsAre(0.25F, 0.5F, 0.5F, 0.5F, 0.75F, -0.25F, -0.25F, -0.25F, 0, 0, 0, 0));
}

TEST(DecodeWav, GivesARangeOfFrames) {
  const auto file = file_of({8192, 16384, 24576, -8192}, 1);
  EXPECT_THAT(values_of(decode_wav(file, {.desired_samples = 2, .first_sample = 1})), ElementsAre(0.5F, 0.75F));
  EXPECT_THAT(values_of(decode_wav(file, {.desired_samples = 2, .first_sample = 3})), ElementsAre(-0.25F, 0));
  EXPECT_THAT(values_of(decode_wav(file, {.first_sample = 2})), ElementsAre(0.75F, -0.25F));
  EXPECT_THAT(values_of(decode_wav(file, {.first_sample = 4})), ElementsAre());
  for (const int64_t first : {int64_t{-1}, int64_t{5}, INT64_MAX}) {
    EXPECT_THAT(decode_wav(file, {.first_sample = first}).error().message(), HasSubstr("of 4 frames")) << first;
  }
}

TEST(DecodeWav, ReadsAPartOfAFileWithoutTheRest) {
  const auto file = file_of({1, 2, 3, 4, 5, 6, 7, 8}, 2);
  const WavInfo info = wav_info(std::span(file).first(44), file.size()).value();
  const auto part = std::span(file).subspan(info.data_offset + static_cast<size_t>(info.frame_bytes), 8);
  std::array<float, 6> target;
  target.fill(9);
  ASSERT_TRUE(decode_wav_frames(info, part, 2, std::as_writable_bytes(std::span(target))));
  EXPECT_THAT(target, ElementsAre(3 / 32768.0F, 4 / 32768.0F, 5 / 32768.0F, 6 / 32768.0F, 0, 0));
  const auto bytes = std::as_writable_bytes(std::span(target));
  EXPECT_TRUE(decode_wav_frames(info, {}, 1, {}));
  EXPECT_FALSE(decode_wav_frames(info, part.first(3), 2, bytes));
  EXPECT_FALSE(decode_wav_frames(info, part, 4, bytes.first(8)));
  EXPECT_FALSE(decode_wav_frames(info, part, 0, bytes));
  EXPECT_FALSE(decode_wav_frames(info, part, int64_t{1} << 62, bytes));
  EXPECT_FALSE(decode_wav_frames(info, part, 1, bytes.subspan(1, 8)));
  EXPECT_FALSE(decode_wav_frames(WavInfo{}, part, 1, bytes));
}

TEST(DecodeWav, WritesIntoARowOfABatch) {
  const auto file = file_of({8192, 16384, 24576});
  Tensor batch = Tensor::empty(f32, {2, 4});
  std::fill_n(batch.mutable_as<float>().data(), 8, 9.0F);
  const std::span<std::byte> row(batch.mutable_data() + 16, 16);
  const WavInfo info = decode_wav_into(file, row, {.desired_channels = 1, .desired_samples = 4}).value();
  EXPECT_EQ(info.frames, 3);
  EXPECT_THAT(batch.as<float>(), ElementsAre(9, 9, 9, 9, 0.25F, 0.5F, 0.75F, 0));
  const Error error = decode_wav_into(file, row, {}, "a.wav").error();
  EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(error.message(), "a.wav: 3 frames of 1 channels need 12 bytes, aligned for float; the target has 16");
  EXPECT_FALSE(decode_wav_into(file, std::span(batch.mutable_data() + 1, 12)));
}

TEST(DecodeWav, RefusesOptionsOutsideTheirRange) {
  for (const WavOptions& options :
       {WavOptions{.desired_channels = 0}, WavOptions{.desired_channels = -2}, WavOptions{.desired_samples = -2},
        WavOptions{.desired_channels = int64_t{1} << 40, .desired_samples = int64_t{1} << 40},
        WavOptions{.desired_samples = INT64_MAX}}) {
    EXPECT_EQ(decode_wav(file_of({1}), options).error().kind(), ErrorKind::InvalidArgument);
  }
}

TEST(DecodeWav, NamesTheFileAlsoWhereATensorCannotBeMade) {
  const auto wav = decode_wav(file_of({1}), {.desired_samples = (int64_t{1} << 61) + 1}, "a.wav");
  ASSERT_FALSE(wav);
  EXPECT_THAT(wav.error().message(), testing::StartsWith("a.wav: "));
}

TEST(DecodeWav, TakesWideFramesInLenientMode) {
  const auto file = to_bytes(riff(FormatChunk{.block_align = 4}.text() + chunk("data", samples({8192, 1, 16384, 1}))));
  EXPECT_FALSE(decode_wav(file));
  EXPECT_THAT(values_of(decode_wav(file, {.lenient = true})), ElementsAre(0.25F, 0.5F));
}

TEST(DecodeWav, SaysThatALenientlyReadFileIsCut) {
  const std::string text = riff(FormatChunk{}.text() + "data" + test::u32_text(64) + samples({8192}) + "x");
  const Wav wav = decode_wav(to_bytes(text), {.lenient = true}).value();
  EXPECT_TRUE(wav.is_truncated);
  EXPECT_THAT(wav.samples.as<float>(), ElementsAre(0.25F));
}

TEST(DecodeWav, Row36AHeaderOfABillionFramesMakesNoRoomForThem) {
  const auto file =
      to_bytes(riff(FormatChunk{}.text() + "data" + test::u32_text(2'000'000'000) + std::string(16, 'x')));
  EXPECT_EQ(file.size(), 60U);
  BufferPool pool;
  const CurrentPool current(pool);
  EXPECT_EQ(decode_wav(file).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(pool.stats().allocations, 0);
  EXPECT_EQ(decode_wav(file, {.lenient = true})->samples.shape(), (Shape{8, 1}));
  EXPECT_LE(pool.stats().bytes_in_use + pool.stats().bytes_cached, 4096);
}

const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInfinity = std::numeric_limits<float>::infinity();

std::vector<std::byte> floats_file(const std::vector<float>& values, uint16_t channels = 1) {
  const std::string body(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return to_bytes(riff(FormatChunk{.code = 3, .channels = channels, .bits = 32}.text() + chunk("data", body)));
}

TEST(DecodeWav, Row37ValuesThatAreNoNumbersAreKeptRejectedOrZero) {
  const auto file = floats_file({1, 2, 3, kNan, -kInfinity, 5}, 2);
  EXPECT_THAT(values_of(decode_wav(file)), ElementsAre(1, 2, 3, testing::IsNan(), -kInfinity, 5));
  EXPECT_THAT(values_of(decode_wav(file, {.non_finite = NonFinite::zero})), ElementsAre(1, 2, 3, 0, 0, 5));
  EXPECT_THAT(values_of(decode_wav(file, {.mix = SoundMix::mean, .non_finite = NonFinite::zero})),
              ElementsAre(1.5F, 1.5F, 2.5F));
  for (const SoundMix mix : {SoundMix::first, SoundMix::mean}) {
    const Error error = decode_wav(file, {.mix = mix, .non_finite = NonFinite::reject}, "a.wav").error();
    EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
    EXPECT_EQ(error.message(), "a.wav: nan in frame 1, channel 1");
  }
  EXPECT_THAT(decode_wav(file, {.first_sample = 2, .non_finite = NonFinite::reject}).error().message(),
              HasSubstr("-inf in frame 2, channel 0"));
  EXPECT_TRUE(decode_wav(file, {.desired_samples = 1, .non_finite = NonFinite::reject})) << "those that are decoded";
}

TEST(DecodeWav, MixesAllChannelsToTheirMean) {
  const auto file = file_of({8192, 16384, -8192, 8192}, 2);
  const WavOptions mean = {.mix = SoundMix::mean};
  EXPECT_THAT(values_of(decode_wav(file, mean)), ElementsAre(0.375F, 0));
  EXPECT_EQ(decode_wav(file, mean)->samples.shape(), (Shape{2, 1}));
  EXPECT_THAT(values_of(decode_wav(file, {.desired_channels = 1, .desired_samples = 3, .mix = SoundMix::mean})),
              ElementsAre(0.375F, 0, 0));
  EXPECT_THAT(decode_wav(file, {.desired_channels = 2, .mix = SoundMix::mean}).error().message(),
              HasSubstr("the mean is one channel"));
  std::vector<int16_t> many(3 * 5000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int16_t>(i % 3 * 300);
  EXPECT_THAT(values_of(decode_wav(file_of(many, 3), mean)), testing::Each(300 / 32768.0F));
}

TEST(EncodeWav, WritesWhatIsDecodedToTheSame) {
  std::vector<int16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int16_t>(static_cast<int>(i) - 32768);
  const auto file = file_of(all, 2);
  const Wav wav = decode_wav(file).value();
  EXPECT_EQ(encode_wav(wav.samples, wav.rate).value(), file);
}

TEST(EncodeWav, RoundsHalvesAwayFromZeroAndLimits) {
  const std::vector<float> values = {
      0.5F / 32768, -0.5F / 32768, 1.4F / 32768, 1, -2, 5, 1e30F, -std::numeric_limits<float>::infinity()};
  const auto file = encode_wav(Tensor::from<float>(values, {8, 1}), 1).value();
  std::array<int16_t, 8> written;
  std::memcpy(written.data(), &file[44], 16);
  EXPECT_THAT(written, ElementsAre(1, -1, 1, 32767, -32768, 32767, 32767, -32768));
}

TEST(EncodeWav, WritesNoFramesAndRefusesWhatAFileCannotHold) {
  const auto audio = [](int64_t frames, int64_t channels) { return Tensor::empty(f32, {frames, channels}); };
  const auto empty = encode_wav(audio(0, 2), 8000).value();
  EXPECT_EQ(empty.size(), 44U);
  EXPECT_EQ(decode_wav(empty)->samples.shape(), (Shape{0, 2}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {0, 0, 0, nan};
  EXPECT_THAT(encode_wav(Tensor::from<float>(values, {2, 2}), 1).error().message(),
              HasSubstr("NaN in frame 1, channel 1"));
  EXPECT_THAT(encode_wav(Tensor::empty(i16, {2, 2}), 1).error().message(), HasSubstr("int16 [2,2] was given"));
  for (const auto& wrong :
       {encode_wav(Tensor::empty(f32, {2}), 8000), encode_wav(audio(1, 0), 8000), encode_wav(audio(0, 32768), 8000),
        encode_wav(audio(1, 1), 0), encode_wav(audio(1, 1), -1), encode_wav(audio(1, 2), INT32_MAX)}) {
    EXPECT_EQ(wrong.error().kind(), ErrorKind::InvalidArgument);
  }
}

std::vector<std::string> recordings() {
  const std::string folder = test::test_data("fsdd");
  std::vector<std::string> paths;
  if (folder.empty()) return paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/recordings")) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// What a program prints.
std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  std::string all;
  std::array<char, 4096> part;
  for (size_t got; (got = fread(part.data(), 1, part.size(), pipe)) > 0;) all.append(part.data(), got);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return all;
}

TEST(DecodeWav, ReadsAllThreeThousandSpokenDigits) {
  const auto paths = recordings();
  if (paths.empty()) GTEST_SKIP() << "no real data: HEADPOND_DATA is not set; with CI=true this is a failure";
  ASSERT_EQ(paths.size(), 3000U);
  for (size_t i = 0; i < paths.size(); i += test::quick_or(5, 1)) {
    const std::string& path = paths[i];
    const auto file = test::get_file(path);
    const auto wav = decode_wav(file, {}, path);
    ASSERT_TRUE(wav) << wav.error();
    EXPECT_EQ(wav->rate, 8000) << path;
    EXPECT_EQ(wav->samples.dim(1), 1) << path;
    EXPECT_GT(wav->samples.dim(0), 0) << path;
    const auto written = encode_wav(wav->samples, wav->rate).value();
    ASSERT_TRUE(
        std::equal(written.begin() + 44, written.end(), file.begin() + wav_info(file, file.size())->data_offset))
        << path;
  }
}

TEST(DecodeWav, AgreesWithPythonsWaveModule) {
  const auto paths = recordings();
  if (paths.empty()) GTEST_SKIP() << "no real data: HEADPOND_DATA is not set; with CI=true this is a failure";
  std::string list;
  for (size_t i = 0; i < paths.size(); i += 60) list += " '" + paths[i] + "'";
  std::istringstream oracle(output_of(
      "python3 -c 'import sys, wave, zlib\n"
      "for path in sys.argv[1:]:\n"
      "  w = wave.open(path)\n"
      "  print(path, w.getframerate(), w.getnchannels(), w.getnframes(), zlib.crc32(w.readframes(w.getnframes())))'" +
      list));
  size_t compared = 0;
  std::string path;
  int64_t rate = 0, channels = 0, frames = 0;
  for (uint64_t crc = 0; oracle >> path >> rate >> channels >> frames >> crc; ++compared) {
    const Wav wav = decode_wav(test::get_file(path)).value();
    EXPECT_EQ(wav.rate, rate);
    EXPECT_EQ(wav.samples.shape(), (Shape{frames, channels}));
    std::vector<int16_t> values;
    for (const float value : wav.samples.as<float>()) values.push_back(static_cast<int16_t>(value * 32768));
    EXPECT_EQ(crc32(0, reinterpret_cast<const Bytef*>(values.data()), static_cast<uInt>(2 * values.size())), crc)
        << path;
  }
  EXPECT_EQ(compared, 50U);
}

}  // namespace
}  // namespace headpond
