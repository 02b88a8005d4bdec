// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "headpond/codec/sound/sound_file_internal.h"
#include "tests/test_files.h"

namespace headpond::sound_internal {
namespace {

using test::to_bytes;

// A frame of MPEG 1, 128 kbit/s, 44,100 Hz, stereo: 417 bytes, 418 with padding.
std::string mp3_frame(bool padded = false, const std::string& content = "") {
  std::string frame = std::string("\xff\xfb\x90") + static_cast<char>(0);
  if (padded) frame[2] = static_cast<char>(0x92);
  frame += content;
  frame.resize(padded ? 418 : 417, '\x11');
  return frame;
}
std::string mp3_tag(const std::string& id, uint32_t frames) {
  std::string tag = std::string(32, '\0') + id + std::string("\0\0\0\1", 4);
  for (int i = 24; i >= 0; i -= 8) tag += static_cast<char>(frames >> i);
  return tag;
}
Result<Mp3Frames> frames_of(const std::string& file) { return mp3_frames(to_bytes(file), "a.mp3"); }

TEST(Mp3Frames, AreCountedByTheirHeaders) {
  const auto found = frames_of(mp3_frame() + mp3_frame(true) + mp3_frame()).value();
  EXPECT_EQ(found.frames, 3);
  EXPECT_EQ(found.samples, 1152);
  EXPECT_EQ(found.first, 0U);
  EXPECT_EQ(found.stated, -1);
  EXPECT_EQ(found.damage, 0U);
  EXPECT_FALSE(found.ends_inside);
  const auto own = mp3_frames(found.count, "a").value();
  EXPECT_EQ(own.stated, 4) << "what is put before the file states its frames, and one more";
  EXPECT_EQ(own.frames, 1);
}

TEST(Mp3Frames, TheFirstOneMayStateTheirNumber) {
  for (const std::string id : {"Xing", "Info"}) {
    const auto found = frames_of(mp3_frame(false, mp3_tag(id, 7)) + mp3_frame() + mp3_frame()).value();
    EXPECT_EQ(found.stated, 7);
    EXPECT_EQ(found.frames, 2) << "without the one that states it";
    EXPECT_TRUE(found.count.empty());
  }
}

TEST(Mp3Frames, TagsAroundThemAreNoDamage) {
  const std::string id3 = std::string("ID3\4\0\0\0\0\0\5", 10) + "\xff\xfb\x90\x11\x11";
  const auto found = frames_of(id3 + mp3_frame() + mp3_frame() + "TAG" + std::string(125, ' ')).value();
  EXPECT_EQ(found.first, 15U);
  EXPECT_EQ(found.frames, 2);
  EXPECT_EQ(found.damage, 0U);
  EXPECT_FALSE(found.ends_inside);
}

TEST(Mp3Frames, WhatLiesBetweenThemIsDamage) {
  const auto found = frames_of(mp3_frame() + mp3_frame() + "junk" + mp3_frame() + mp3_frame()).value();
  EXPECT_EQ(found.frames, 4);
  EXPECT_EQ(found.damage, 834U);
}

TEST(Mp3Frames, AFileThatIsCutInsideOneHasTheOthers) {
  const auto found = frames_of(mp3_frame() + mp3_frame() + mp3_frame().substr(0, 416)).value();
  EXPECT_EQ(found.frames, 2);
  EXPECT_TRUE(found.ends_inside);
}

TEST(Mp3Frames, OtherMpegAudioAndOtherBytesAreRefused) {
  EXPECT_EQ(frames_of(std::string(1000, 'x')).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(frames_of("").error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(frames_of(mp3_frame().substr(0, 100)).error().kind(), ErrorKind::InvalidArgument);
  for (const std::string header : {"\xff\xfd\x90\x11", "\xff\xfb\x01\x11"}) {
    EXPECT_EQ(frames_of(header + std::string(2000, 'x')).error().kind(), ErrorKind::Unimplemented) << header;
  }
}

TEST(Mp3Frames, Id3TagsHaveSizesOfSevenBitsAByte) {
  EXPECT_EQ(id3_bytes(to_bytes(std::string("ID3\4\0\0\0\0\1\2", 10))), 140U);
  EXPECT_EQ(id3_bytes(to_bytes(std::string("ID3\4\0\x10\0\0\1\2", 10))), 150U);
  EXPECT_EQ(id3_bytes(to_bytes(std::string("ID3\4\0\0\0\0\1", 9))), 0U);
}

}  // namespace
}  // namespace headpond::sound_internal
