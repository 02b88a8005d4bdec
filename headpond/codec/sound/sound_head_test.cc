// SPDX-License-Identifier: Apache-2.0
// What files are by their first bytes, and the heads of FLAC and AIFF.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "headpond/codec/sound/sound_file.h"
#include "headpond/codec/sound/sound_file_internal.h"
#include "headpond/codec/sound/wav_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::to_bytes;
using testing::HasSubstr;

Error refusal_of(const std::string& file) {
  const auto sound = decode_sound(to_bytes(file), {}, "a.flac");
  EXPECT_FALSE(sound) << file;
  return sound ? Error(ErrorKind::Unknown, "") : sound.error();
}

TEST(SoundSignature, WhatIsNoSoundIsNamed) {
  const std::string rest(100, ' ');
  for (const auto& [file, found] : std::vector<std::pair<std::string, std::string>>{
           {"<!DOCTYPE html><title>404</title>" + rest, "found HTML"},
           {"\n <HTML>" + rest, "found HTML"},
           {"<?xml version='1.0'?><Error/>" + rest, "found XML"},
           {"{\"error\": 403}" + rest, "found JSON"},
           {"\x89PNG\r\n\x1a\n" + rest, "found a PNG image"},
           {std::string(100, '\0'), "found zeros only"},
           {"\1\2\3\4" + std::string(96, '\0'), "found '\\x01\\x02\\x03\\x04\\x00\\x00\\x00\\x00'"},
           {"....1234WAVE" + rest, "it begins as WAV sound, but its head is damaged"},
           {"\xff\xfeh" + rest, "found '\\xff\\xfeh     '"},
           {"fLa", "found 'fLa'"},
           {"", "it is empty"}}) {
    const Error error = refusal_of(file);
    EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
    EXPECT_THAT(error.message(), testing::AllOf(testing::StartsWith("a.flac: not a sound file: "), HasSubstr(found)));
  }
}

TEST(SoundSignature, SoundOfOtherFormatsIsUnimplementedByItsName) {
  const std::string rest(100, ' ');
  for (const auto& [file, found] : std::vector<std::pair<std::string, std::string>>{
           {std::string("\0\0\0\x20", 4) + "ftypM4A " + rest, "MP4"},
           {"caff" + rest, "CAF"},
           {".snd" + rest, "AU"},
           {"\x30\x26\xb2\x75" + rest, "WMA"},
           {"OggS" + std::string(22, '\0') + "\1\x1eSpeex   " + rest, "Ogg with another codec"},
           {"OggS" + std::string(22, '\0') +
                "\1\x1e\x7f"
                "FLAC" +
                rest,
            "Ogg with FLAC"},
           {"\xff\xfd\x90\x64" + rest, has_sndfile() ? "layer 3 (MP3)" : "the component sndfile"}}) {
    const Error error = refusal_of(file);
    EXPECT_EQ(error.kind(), ErrorKind::Unimplemented) << error;
    EXPECT_THAT(error.message(), HasSubstr(found));
  }
}

TEST(SoundSignature, WavIsDecodedWithoutTheLibrary) {
  const std::string wav = test::riff(test::FormatChunk{}.text() + test::chunk("data", test::samples({8192, 16384})));
  const auto sound = decode_sound(to_bytes(wav), {.desired_samples = 3, .first_sample = 1});
  ASSERT_TRUE(sound) << sound.error();
  EXPECT_EQ(sound->rate, 8000);
  EXPECT_THAT(sound->samples.as<float>(), testing::ElementsAre(0.5F, 0, 0));
  const auto bytes = to_bytes(wav);
  EXPECT_EQ(sound_info(std::span(bytes).first(44), wav.size()).value(), (SoundInfo{SoundFormat::wav, 8000, 1, 2}));
}

// fLaC, a block of 34 bytes, 10 bytes of sizes, then 44,100 Hz, 2 channels, 16 bits, 100,000 frames.
std::string flac_head() {
  return std::string("fLaC\0\0\0\x22\x10\0\x10\0\0\0\0\0\0\0\x0a\xc4\x42\xf0\0\1\x86\xa0", 26) + std::string(16, '\0');
}
// FORM of AIFF with COMM: 2 channels, 3 frames, 16 bits, 44,100 Hz as an 80-bit float.
std::string aiff_head(const std::string& rate = std::string("\x40\x0e\xac\x44\0\0\0\0\0\0", 10)) {
  return std::string(
             "FORM\0\0\0\x80"
             "AIFF"
             "NAME\0\0\0\3abc\0"
             "COMM\0\0\0\x12\0\2\0\0\0\3\0\x10",
             40) +
         rate;
}

TEST(SoundHead, OfFlacIsItsFirstBlock) {
  const std::string head = flac_head();
  const auto info = sound_internal::flac_info(to_bytes(head), 1000, "a");
  EXPECT_EQ(info.value(), (SoundInfo{SoundFormat::flac, 44100, 2, 100000}));
  EXPECT_EQ(sound_internal::flac_info(to_bytes(head.substr(0, 41)), 1000, "a").error().kind(),
            ErrorKind::FailedPrecondition);
  EXPECT_EQ(sound_internal::flac_info(to_bytes(head.substr(0, 41)), 41, "a").error().kind(), ErrorKind::DataLoss);
  std::string other = head;
  other[4] = 1;
  EXPECT_EQ(sound_internal::flac_info(to_bytes(other), 1000, "a").error().kind(), ErrorKind::InvalidArgument);
}

TEST(SoundHead, OfAiffIsTheChunkComm) {
  const std::string head = aiff_head();
  EXPECT_EQ(sound_internal::aiff_info(to_bytes(head), 1000, "a").value(), (SoundInfo{SoundFormat::aiff, 44100, 2, 3}));
  for (const size_t size : {12U, 20U, 31U, 49U}) {
    EXPECT_EQ(sound_internal::aiff_info(to_bytes(head.substr(0, size)), 1000, "a").error().kind(),
              ErrorKind::FailedPrecondition)
        << size;
    EXPECT_NE(sound_internal::aiff_info(to_bytes(head.substr(0, size)), size, "a").error().kind(),
              ErrorKind::FailedPrecondition)
        << size;
  }
  for (const std::string& rate :
       {std::string(10, '\0'), std::string(10, '\xff'), "\x40\x1e" + std::string(8, '\xff')}) {
    EXPECT_EQ(sound_internal::aiff_info(to_bytes(aiff_head(rate)), 1000, "a")->rate, 0);
  }
}

}  // namespace
}  // namespace headpond
