// SPDX-License-Identifier: Apache-2.0
// Damaged sound files: an error, or samples; no crash and no hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "headpond/codec/sound/sound_file.h"
#include "headpond/codec/sound/sound_test_internal.h"
#include "headpond/tensor/buffer.h"

// libsndfile 1.2 does not free this where the head of a Vorbis file is damaged.
extern "C" const char* __lsan_default_suppressions() { return "leak:vorbis_info_init"; }

namespace headpond {
namespace {

using testing::HasSubstr;

struct FaultCase {
  int number;
  SoundFormat format;
};
const std::vector<FaultCase> kFaultCases = {{SF_FORMAT_WAV | SF_FORMAT_PCM_16, SoundFormat::wav},
                                            {SF_FORMAT_FLAC | SF_FORMAT_PCM_16, SoundFormat::flac},
                                            {SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, SoundFormat::mp3},
                                            {SF_FORMAT_OGG | SF_FORMAT_VORBIS, SoundFormat::vorbis},
                                            {SF_FORMAT_OGG | SF_FORMAT_OPUS, SoundFormat::opus},
                                            {SF_FORMAT_AIFF | SF_FORMAT_PCM_16, SoundFormat::aiff}};
constexpr int64_t kWhole = 20000;

std::vector<std::byte> file_to_damage(int format, int64_t frames = kWhole) {
  return test::sound_of(format, test::tones(static_cast<size_t>(frames), 1, 16000), 1);
}

// Milliseconds of this thread's processor time, which other programs don't lengthen.
int64_t used_ms() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000 + time.tv_nsec / 1'000'000;
}

TEST(SoundFaults, AFileThatIsCutIsAnErrorAndItsStartIsReadLeniently) {
  for (const auto& [number, format] : kFaultCases) {
    const auto file = file_to_damage(number);
    int64_t most = 0;
    for (size_t i = 0; i < 64; ++i) {
      const auto part = std::span(file).first(file.size() * i / 64);
      const auto strict = decode_sound(part, {}, "a");
      EXPECT_FALSE(strict) << name(format) << " cut at " << part.size();
      const auto lenient = decode_sound(part, {.lenient = true}, "a");
      if (!lenient) continue;
      EXPECT_TRUE(lenient->is_truncated) << name(format) << " cut at " << part.size();
      EXPECT_LT(lenient->samples.dim(0), kWhole);
      most = std::max(most, lenient->samples.dim(0));
    }
    EXPECT_GT(most, kWhole * 3 / 4) << name(format);
  }
}

// A thousand bits of each file, one at a time, evenly over the file. Decoding takes less than a millisecond, so the
// limit is met by what goes on for ever only.
TEST(SoundFaults, FlippedBitsAreAnErrorOrSamples) {
  constexpr size_t kFlips = 1'000;
  constexpr int64_t kFrames = 600, kMostMs = 2'000;
  for (const auto& [number, format] : kFaultCases) {
    const auto file = file_to_damage(number, kFrames);
    int64_t errors = 0;
    for (size_t i = 0; i < kFlips; ++i) {
      auto damaged = file;
      const size_t at = file.size() * i / kFlips;
      damaged[at] ^= static_cast<std::byte>(1 << i % 8);
      for (const bool lenient : {false, true}) {
        const int64_t begin = used_ms();
        const auto sound = decode_sound(damaged, {.desired_samples = 2 * kFrames, .lenient = lenient}, "a");
        ASSERT_LT(used_ms() - begin, kMostMs) << name(format) << " at " << at;
        EXPECT_TRUE(!sound || sound->samples.dim(0) == 2 * kFrames) << name(format) << " at " << at;
        EXPECT_TRUE(sound || sound.error().message().starts_with("a: ")) << name(format) << " at " << at;
        errors += sound ? 0 : 1;
      }
    }
    EXPECT_GT(errors, 0) << name(format);
  }
}

TEST(SoundFaults, EachFrameOfFlacHasAChecksum) {
  const auto file = file_to_damage(SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
  for (size_t i = 2; i < 16; ++i) {
    auto damaged = file;
    damaged[file.size() * i / 16] ^= std::byte{4};
    const auto sound = decode_sound(damaged, {}, "a");
    ASSERT_FALSE(sound) << i;
    EXPECT_EQ(sound.error().kind(), ErrorKind::DataLoss);
    EXPECT_TRUE(decode_sound(damaged, {.lenient = true})->is_truncated) << i;
  }
}

TEST(SoundFaults, ACutFlacFileDoesNotSeekForEver) {
  const auto file = file_to_damage(SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
  for (const size_t size : {file.size() / 2, file.size() - 1, file.size() / 3}) {
    for (const int64_t first : {int64_t{1}, kWhole / 2, kWhole - 1}) {
      const auto sound = decode_sound(std::span(file).first(size), {.desired_samples = 1, .first_sample = first}, "a");
      EXPECT_TRUE(sound || sound.error().kind() == ErrorKind::DataLoss) << sound.error();
    }
  }
}

TEST(SoundFaults, MemoryFollowsWhatIsDecodedNotWhatIsStated) {
  auto file = file_to_damage(SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
  file[21] |= std::byte{0x0f};
  EXPECT_EQ(decode_sound(file).error().kind(), ErrorKind::ResourceExhausted);
  BufferPool pool;
  const CurrentPool current(pool);
  const auto sound = decode_sound(file, {.max_values = INT64_MAX}, "a");
  ASSERT_FALSE(sound);
  EXPECT_EQ(sound.error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(sound.error().message(), HasSubstr("after 20000 of 64424529440 frames"));
  EXPECT_EQ(pool.stats().allocations, 0);
}

TEST(SoundFaults, DamageInsideMp3IsNamedByItsPlace) {
  const auto file = file_to_damage(SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III);
  auto damaged = file;
  std::fill_n(&damaged[file.size() / 2], 400, std::byte{0});
  EXPECT_THAT(decode_sound(damaged).error().message(), HasSubstr("no frame at byte"));
  EXPECT_TRUE(decode_sound(damaged, {.lenient = true})->is_truncated);
  EXPECT_THAT(decode_sound(std::span(file).first(file.size() / 2)).error().message(),
              HasSubstr("it states 37 MP3 frames and has 16"));
}

}  // namespace
}  // namespace headpond
