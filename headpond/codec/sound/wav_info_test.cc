// SPDX-License-Identifier: Apache-2.0
// The container and the header; the samples are in wav_test.cc. Rows are those of the table in docs/formats/wav.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/base/log.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/codec/sound/wav_internal.h"
#include "headpond/codec/sound/wav_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::chunk;
using test::FormatChunk;
using test::riff;
using test::samples;
using test::to_bytes;
using test::u32_text;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kFormat = FormatChunk{}.text();
const std::string kData = chunk("data", samples({1, 2, 3}));

Result<WavInfo> read(const std::string& file, const WavOptions& options = {}) {
  return wav_info(to_bytes(file), file.size(), options, "a.wav");
}
Result<WavInfo> read_lenient(const std::string& file) { return read(file, {.lenient = true}); }

void expect_error(const Result<WavInfo>& info, ErrorKind kind, const std::string& text) {
  ASSERT_FALSE(info) << text;
  EXPECT_EQ(info.error().kind(), kind) << info.error();
  EXPECT_THAT(info.error().message(), AllOf(StartsWith("a.wav: "), HasSubstr(text)));
}
void expect_invalid(const std::string& file, const std::string& text) {
  expect_error(read(file), ErrorKind::InvalidArgument, text);
}
// Also when it is read leniently.
void expect_always_invalid(const std::string& file, const std::string& text) {
  expect_invalid(file, text);
  expect_error(read_lenient(file), ErrorKind::InvalidArgument, text);
}

TEST(WavInfo, SaysWhatTheHeaderSays) {
  const WavInfo info =
      read(riff(FormatChunk{.channels = 2, .rate = 44100}.text() + chunk("data", samples({1, 2, 3, 4})))).value();
  EXPECT_EQ(
      info,
      (WavInfo{.rate = 44100, .channels = 2, .frames = 2, .data_offset = 44, .frame_bytes = 4, .code = 1, .bits = 16}));
}

TEST(WavInfo, NeedsTheHeadOfAFileOnly) {
  const std::string file = riff(chunk("JUNK", std::string(100, 'x')) + kFormat + kData + chunk("LIST", "INFO"));
  const WavInfo whole = read(file).value();
  const auto bytes = to_bytes(file);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto info = wav_info(std::span(bytes).first(size), bytes.size(), {}, "a.wav");
    if (size >= whole.data_offset) {
      EXPECT_EQ(info.value(), whole) << size;
    } else {
      expect_error(info, ErrorKind::FailedPrecondition, "at least");
    }
  }
  EXPECT_THAT(wav_info(std::span(bytes).first(14), bytes.size()).error().message(),
              HasSubstr("the first 14 of 170 bytes end before the data: at least 20 are needed"));
}

TEST(WavInfo, NeverMissesThatAPadByteIsMissingBecauseTheHeadEnds) {
  const std::string file = riff(kFormat + "LIST" + u32_text(3) + "odd" + kData);
  const auto bytes = to_bytes(file);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto info = wav_info(std::span(bytes).first(size), bytes.size(), {.lenient = true}, "a.wav");
    if (info) {
      EXPECT_EQ(*info, read_lenient(file).value()) << size;
    } else {
      expect_error(info, ErrorKind::FailedPrecondition, "at least");
    }
  }
}

TEST(WavInfo, RefusesEveryCutOfAFile) {
  const std::string file = riff(kFormat + kData);
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(read(file.substr(0, size))) << size;
  }
  expect_error(read(""), ErrorKind::DataLoss, "12 bytes was expected, 0 bytes were found");
  expect_error(read(file.substr(0, 39)), ErrorKind::DataLoss, "inside a chunk's header at offset 36");
}

TEST(WavInfo, FlippedBitsOfAHeaderNeverCrash) {
  const std::string file = riff(kFormat + kData);
  for (const bool lenient : {false, true}) {
    for (size_t bit = 0; bit < 8 * 44; ++bit) {
      if (bit >= 8 * 24 + 20 && bit < 8 * 28) continue;  // A rate that would be reported, once a process.
      std::string damaged = file;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
      const auto info = read(damaged, {.lenient = lenient});
      const bool must_fail = !lenient && (bit < 32 || (bit >= 64 && bit < 160));
      EXPECT_FALSE(info && must_fail) << bit;
      if (info) {
        EXPECT_LE(info->frames * info->frame_bytes, 6) << bit;
      }
    }
  }
}

TEST(WavInfo, Row24WithoutTheMagicIsAnError) {
  expect_always_invalid("OggS" + riff(kFormat + kData).substr(4), "expected RIFF....WAVE, found 'OggS....WAVE'");
  expect_always_invalid(std::string(64, '\0'), "found '\\x00\\x00");
  expect_always_invalid("RIFF" + u32_text(4) + "AVI " + kFormat + kData, "'RIFF....AVI '");
}

// As `chunk`, with the sizes of RIFX.
std::string big_chunk(const std::string& id, const std::string& body) {
  const std::string size = u32_text(static_cast<uint32_t>(body.size()));
  return id + std::string(size.rbegin(), size.rend()) + body;
}

TEST(WavInfo, Row24RifxIsBigEndian) {
  const std::string format("\0\1\0\2\0\0\x1f\x40\0\0\x7d\0\0\4\0\x10", 16);
  const std::string body = "WAVE" + big_chunk("fmt ", format) + big_chunk("data", std::string(8, '\0'));
  EXPECT_EQ(read(big_chunk("RIFX", body)).value(), (WavInfo{.rate = 8000,
                                                            .channels = 2,
                                                            .frames = 2,
                                                            .data_offset = 44,
                                                            .frame_bytes = 4,
                                                            .code = 1,
                                                            .bits = 16,
                                                            .is_big_endian = true}));
  expect_always_invalid(riff(kFormat + kData).replace(0, 4, "RIFX"), "chunk 'fmt ' at offset 12 has 268435456 bytes");
}

std::string u64_text(uint64_t value) {
  return u32_text(static_cast<uint32_t>(value)) + u32_text(static_cast<uint32_t>(value >> 32));
}
std::string sizes_chunk(uint64_t form, uint64_t data, const std::string& others = "") {
  return chunk("ds64", u64_text(form) + u64_text(data) + u64_text(3) +
                           u32_text(static_cast<uint32_t>(others.size() / 12)) + others);
}
std::string wide_file(const std::string& chunks, const std::string& magic = "RF64") {
  return magic + u32_text(0xffffffff) + "WAVE" + chunks;
}
const std::string kWideData = "data" + u32_text(0xffffffff) + samples({1, 2, 3});

TEST(WavInfo, Row24Rf64AndBw64HaveTheirSizesInAChunk) {
  for (const std::string magic : {"RF64", "BW64"}) {
    const std::string file = wide_file(sizes_chunk(78, 6) + kFormat + kWideData, magic);
    EXPECT_EQ(read(file)->frames, 3) << magic;
    EXPECT_EQ(read(file)->data_offset, 80U) << magic;
    EXPECT_EQ(read(file + "TAG")->frames, 3) << "the form ends before it";
    EXPECT_EQ(read(wide_file(sizes_chunk(78, 99) + kFormat + kData, magic))->frames, 3) << "a size of 32 bits";
  }
  const std::string list = "LIST" + u32_text(0xffffffff) + "INFO";
  EXPECT_EQ(read(wide_file(sizes_chunk(1000, 6, "LIST" + u64_text(4)) + kFormat + list + kWideData))->frames, 3);
  expect_invalid(wide_file(sizes_chunk(1000, 6) + kFormat + list + kWideData),
                 "chunk 'LIST' at offset 72 has 4294967295");
}

TEST(WavInfo, Row24SizesOf64BitsAreTrustedNoMoreThanOthers) {
  expect_always_invalid(wide_file(kFormat + kWideData), "RF64 begins with the chunk 'fmt ', not with ds64");
  expect_always_invalid(wide_file(chunk("ds64", std::string(24, '\0')) + kFormat + kWideData), "has 24 bytes, 28 are");
  const std::string many = chunk("ds64", std::string(24, '\0') + u32_text(0xffffffff));
  expect_always_invalid(wide_file(many + kFormat + kWideData), "has 28 bytes, 51539607568 are needed");
  for (const uint64_t size : {uint64_t{8}, uint64_t{0xffffffff}, uint64_t{1} << 63, UINT64_MAX - 80, UINT64_MAX}) {
    const std::string file = wide_file(sizes_chunk(size, size) + kFormat + kWideData);
    expect_invalid(file, "6 are left in the file");
    EXPECT_EQ(read_lenient(file)->frames, 3) << size;
    EXPECT_EQ(read_lenient(file)->is_truncated, size != UINT64_MAX) << size;
  }
  const std::string endless = "ds64" + u32_text(0xffffffff) + std::string(24, '\0') + u32_text(65536);
  expect_always_invalid(wide_file(endless + kFormat + kWideData), "chunk 'ds64' at offset 12 has 4294967295 bytes");
  const std::string file = wide_file(sizes_chunk(78, 6) + kFormat + kWideData);
  for (size_t size = 0; size < file.size(); ++size) EXPECT_FALSE(read(file.substr(0, size))) << size;
  const auto bytes = to_bytes(file);
  for (size_t size = 0; size < 80; ++size) {
    expect_error(wav_info(std::span(bytes).first(size), bytes.size(), {}, "a.wav"), ErrorKind::FailedPrecondition,
                 "at least");
  }
}

TEST(WavInfo, Row25AFormatChunkIsOnceWholeAndBeforeTheData) {
  expect_always_invalid(riff(chunk("fmt ", FormatChunk{}.body().substr(0, 14)) + kData),
                        "chunk 'fmt ' at offset 12 has 14 bytes");
  expect_always_invalid(riff(kData), "chunk 'data' at offset 12 comes before the fmt chunk");
  expect_always_invalid(riff(kData + kFormat), "before the fmt chunk");
  expect_always_invalid(riff(kFormat + kFormat + kData), "a second format chunk 'fmt ' at offset 36");
  expect_always_invalid(riff(kFormat + kData + kFormat), "a second format chunk");
  expect_always_invalid(riff(chunk("LIST", "abcd")), "no fmt chunk and no data chunk");
  EXPECT_TRUE(read(riff(FormatChunk{.rest = std::string(2, '\0')}.text() + kData)));
  const std::string longer = riff(FormatChunk{.rest = std::string(4, '\0')}.text() + kData);
  expect_invalid(longer, "has 20 bytes: expected 16, or 18 that end in 0");
  EXPECT_EQ(read_lenient(longer)->frames, 3);
  expect_invalid(riff(FormatChunk{.rest = "\1\2"}.text() + kData), "expected 16, or 18");
}

TEST(WavInfo, Row26ChannelsAreOneToACap) {
  expect_always_invalid(riff(FormatChunk{.channels = 0}.text() + kData), "0 channels");
  for (const uint16_t channels : {65, 256}) {
    const FormatChunk format = {.channels = channels};
    const std::string file = riff(format.text() + chunk("data", std::string(2U * channels, 'x')));
    expect_error(read(file), ErrorKind::ResourceExhausted, "more than the limit of 64");
    EXPECT_EQ(read(file, {.max_channels = 65535})->frames, 1);
  }
  const std::string most = riff(FormatChunk{.channels = 65535}.text() + kData);
  expect_error(read(most), ErrorKind::ResourceExhausted, "65535 channels");
  expect_error(read(most, {.max_channels = 65535}), ErrorKind::InvalidArgument, "block align");
  EXPECT_EQ(read(riff(FormatChunk{.channels = 64}.text() + chunk("data", std::string(128, 'x'))))->channels, 64);
}

TEST(WavInfo, Row27TheRateIsPositiveAndAnUnusualOneIsReportedOnce) {
  expect_always_invalid(riff(FormatChunk{.rate = 0}.text() + kData), "sample rate of 0");
  expect_always_invalid(riff(FormatChunk{.rate = 0xffffffff}.text() + kData), "sample rate of 4294967295");
  expect_always_invalid(riff(FormatChunk{.rate = 0x80000000}.text() + kData), "sample rate of 2147483648");
  wav_internal::rate_was_reported = false;
  std::vector<std::string> lines;
  const LogSink before = set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  EXPECT_EQ(read(riff(FormatChunk{.rate = 768000}.text() + kData))->rate, 768000);
  EXPECT_TRUE(lines.empty());
  EXPECT_EQ(read(riff(FormatChunk{.rate = 768001}.text() + kData))->rate, 768001);
  EXPECT_EQ(read(riff(FormatChunk{.rate = 900000}.text() + kData))->rate, 900000);
  set_log_sink(before);
  EXPECT_THAT(lines, testing::ElementsAre(AllOf(StartsWith("a.wav: a sample rate of 768001 Hz"))));
}

TEST(WavInfo, Row28EveryFormButThoseOfTheTableIsUnimplementedWithCodeAndDepth) {
  for (const uint16_t bits : {0, 1, 12, 20, 36, 45, 53, 64}) {
    const auto text = "format code 1 (0x0001) of " + std::to_string(bits) + " bits";
    expect_error(read(riff(FormatChunk{.bits = bits}.text() + kData)), ErrorKind::Unimplemented, text);
    expect_error(read_lenient(riff(FormatChunk{.bits = bits}.text() + kData)), ErrorKind::Unimplemented, text);
  }
  for (const auto& [code, bits] : {std::pair{2, 4}, {3, 16}, {3, 24}, {6, 16}, {7, 16}, {17, 4}, {0x55, 0}, {0, 16}}) {
    const FormatChunk format = {.code = static_cast<uint16_t>(code), .bits = static_cast<uint16_t>(bits), .rest = "\2"};
    expect_error(read(riff(format.text() + kData)), ErrorKind::Unimplemented,
                 "format code " + std::to_string(code) + " (0x");
  }
  const std::string adpcm = FormatChunk{.code = 17, .bits = 4, .rest = "\2"}.text();
  expect_error(read(riff(adpcm + kData)), ErrorKind::Unimplemented, "17 (0x0011, IMA ADPCM) of 4 bits");
}

TEST(WavInfo, TheRateCanBeRequired) {
  EXPECT_TRUE(read(riff(kFormat + kData), {.rate = 8000}));
  expect_error(read(riff(kFormat + kData), {.rate = 16000}), ErrorKind::InvalidArgument,
               "a sample rate of 8000 Hz, 16000 are required: resample the sound");
}

TEST(WavInfo, Row29AnInconsistentBlockAlignOrByteRateIsForTheLenientOnly) {
  const std::string byte_rate = riff(FormatChunk{.byte_rate = 1}.text() + kData);
  expect_invalid(byte_rate, "byte rate of 1: 8000 frames a second of 2 bytes need 16000");
  EXPECT_EQ(read_lenient(byte_rate)->frames, 3);
  const std::string wide = riff(FormatChunk{.block_align = 3}.text() + kData);
  expect_invalid(wide, "block align of 3: 1 channels of 16 bits need 2");
  EXPECT_EQ(read_lenient(wide)->frames, 2);
  EXPECT_EQ(read_lenient(wide)->frame_bytes, 3);
  for (const int narrow : {0, 1}) {
    expect_always_invalid(riff(FormatChunk{.block_align = narrow}.text() + kData), "block align of");
  }
}

std::string extensible(std::string_view guid, uint16_t valid_bits = 16) {
  const std::string rest = test::u16_text(22) + test::u16_text(valid_bits) + u32_text(4) + std::string(guid);
  return riff(FormatChunk{.code = 0xfffe, .rest = rest}.text() + kData);
}
constexpr std::string_view kPcmGuid("\x01\0\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 16);

TEST(WavInfo, Row30AnExtensibleHeaderIsReadAndAnUnknownGuidNamed) {
  EXPECT_EQ(read(extensible(kPcmGuid))->code, 1);
  EXPECT_EQ(read(extensible(kPcmGuid))->frames, 3);
  expect_error(read(extensible("0123456789abcdef")), ErrorKind::Unimplemented, "GUID 30313233343536373839616263646566");
  std::string floats(kPcmGuid);
  floats[0] = 3;
  expect_error(read(extensible(floats)), ErrorKind::Unimplemented, "format code 3 (0x0003) of 16 bits");
  EXPECT_EQ(read(extensible(kPcmGuid, 12))->bits, 16);
  expect_always_invalid(extensible(kPcmGuid, 17), "17 valid of 16 bits");
  expect_always_invalid(riff(FormatChunk{.code = 0xfffe}.text() + kData), "at least 40 are needed");
}

TEST(WavInfo, Row31DataLongerThanTheFileIsForTheLenientWithAFlag) {
  const std::string file = riff(kFormat + "data" + u32_text(100) + samples({1, 2, 3}));
  expect_invalid(file, "chunk 'data' at offset 36 has 100 bytes, 6 are left in the file");
  EXPECT_EQ(read_lenient(file)->frames, 3);
  EXPECT_TRUE(read_lenient(file)->is_truncated);
  EXPECT_FALSE(read_lenient(riff(kFormat + kData))->is_truncated);
}

TEST(WavInfo, Row32DataWithoutASizeGoesToTheEndOfTheFileForTheLenientOnly) {
  const std::string body = samples({1, 2, 3});
  const std::string endless = riff(kFormat + "data" + u32_text(0xffffffff) + body);
  expect_invalid(endless, "has 4294967295 bytes");
  EXPECT_EQ(read_lenient(endless)->frames, 3);
  EXPECT_FALSE(read_lenient(endless)->is_truncated);
  const std::string zero = riff(kFormat + "data" + u32_text(0) + body);
  expect_invalid(zero, "chunk 'data' at offset 36 has no size, 6 bytes follow it: a stream");
  EXPECT_EQ(read_lenient(zero)->frames, 3);
  EXPECT_EQ(read(riff(kFormat + chunk("data", "")))->frames, 0);
}

std::string with_riff_size(std::string file, uint32_t size) { return file.replace(4, 4, u32_text(size)); }

TEST(WavInfo, Row32AStreamIsNeverTakenForAFileWithoutFrames) {
  const std::string head = kFormat + "data" + u32_text(0);
  const std::string samples_behind = riff(head + samples(std::vector<int16_t>(1000, 77)));
  for (const uint32_t size : {0U, 0xffffffffU, 2036U}) {
    const std::string file = with_riff_size(samples_behind, size);
    expect_invalid(file, "has no size, 2000 bytes follow it");
    EXPECT_EQ(read_lenient(file)->frames, 1000);
  }
  expect_invalid(riff(head + std::string(800, '\0')), "has no size, 800 bytes follow it");
  EXPECT_EQ(read_lenient(riff(head + std::string(800, '\0')))->frames, 400);
  expect_invalid(riff(head + "ab"), "has no size, 2 bytes");
}

TEST(WavInfo, Row32AnEmptyDataChunkBeforeAChunkOrAtTheEndOfTheFormHasNoFrames) {
  const std::string empty = kFormat + chunk("data", "");
  for (const bool lenient : {false, true}) {
    for (const std::string& file : {riff(empty), riff(empty + chunk("LIST", "INFO")), riff(empty) + "TAG and more",
                                    riff(empty) + std::string(300, '\0'), with_riff_size(riff(empty), 0)}) {
      const auto info = read(file, {.lenient = lenient});
      ASSERT_TRUE(info) << info.error();
      EXPECT_EQ(info->frames, 0);
    }
  }
  const auto file = to_bytes(riff(empty + chunk("LIST", "INFO")));
  EXPECT_THAT(wav_info(std::span(file).first(44), file.size()).error().message(), HasSubstr("at least 48 are needed"));
  EXPECT_EQ(wav_info(std::span(file).first(48), file.size())->frames, 0);
}

TEST(WavInfo, Row33DataIsThereOnceAndInWholeFrames) {
  expect_always_invalid(riff(kFormat), "no data chunk");
  expect_always_invalid(riff(kFormat + kData + kData), "a second data chunk 'data' at offset 50");
  const std::string partial = riff(kFormat + chunk("data", "abcde"));
  expect_invalid(partial, "has 5 bytes: no whole number of frames of 2 bytes");
  EXPECT_EQ(read_lenient(partial)->frames, 2);
  EXPECT_TRUE(read_lenient(partial)->is_truncated);
}

TEST(WavInfo, Row34ChunkSizesNearTheLimitsAreBeyondTheFile) {
  for (const uint32_t size : {0x7ffffff0U, 0x7fffffffU, 0x80000000U, 0xfffffff0U, 0xffffffffU}) {
    for (const std::string id : {"JUNK", "fmt "}) {
      expect_always_invalid(riff(id + u32_text(size) + kFormat + kData), "has " + std::to_string(size) + " bytes, ");
    }
    expect_invalid(riff(kFormat + "data" + u32_text(size) + "abcd"),
                   "has " + std::to_string(size) + " bytes, 4 are left");
    EXPECT_EQ(read_lenient(riff(kFormat + "data" + u32_text(size) + "abcd"))->frames, 2);
  }
}

TEST(WavInfo, Row35UnknownChunksAreSkippedWithTheirPadByte) {
  std::string before;
  for (const std::string id : {"JUNK", "bext", "iXML", "LIST", "????", "\1\2\3\4"}) before += chunk(id, "odd");
  EXPECT_EQ(read(riff(before + kFormat + before + kData + before))->frames, 3);
  const std::string unpadded = "LIST" + u32_text(3) + "odd";
  expect_invalid(riff(unpadded + kFormat + kData), "chunk 'LIST' at offset 12 of odd size 3 has no pad byte");
  EXPECT_EQ(read_lenient(riff(unpadded + kFormat + unpadded + kData))->frames, 3);
  EXPECT_EQ(read(riff(kFormat + kData + unpadded))->frames, 3);
  for (const std::string id : {"JUNK", "bext", "iXML", "cue "}) {
    expect_invalid(riff(unpadded + chunk(id, "") + kFormat + kData), "'LIST' at offset 12 of odd size 3 has no pad");
    EXPECT_EQ(read_lenient(riff(unpadded + chunk(id, "") + kFormat + kData))->frames, 3);
  }
  std::string many;
  for (int i = 0; i < 126; ++i) many += chunk("JUNK", "");
  EXPECT_TRUE(read(riff(many + kFormat + kData)));
  expect_error(read(riff(many + chunk("JUNK", "") + kFormat + kData)), ErrorKind::ResourceExhausted,
               "more than 128 chunks");
}

TEST(WavInfo, BytesAfterTheDataArePartOfTheFileOnlyIfTheRiffSizeSaysSo) {
  const std::string file = riff(kFormat + kData);
  EXPECT_EQ(read(file + "TAG and something else")->frames, 3);
  EXPECT_EQ(read(file + "abc")->frames, 3);
  expect_error(read(riff(kFormat + kData + "abc")), ErrorKind::DataLoss, "inside a chunk's header at offset 50");
  EXPECT_EQ(read_lenient(riff(kFormat + kData + "abc"))->frames, 3);
  const std::string padded = with_riff_size(riff(kFormat + kData) + std::string(2048, '\0'), 0xffffffff);
  expect_error(read(padded), ErrorKind::ResourceExhausted, "more than 128 chunks");
  EXPECT_EQ(read_lenient(padded)->frames, 3);
  EXPECT_EQ(read_lenient(riff(kFormat + kData + "garbage!\xff\xff\xff\x7f"))->frames, 3);
}

}  // namespace
}  // namespace headpond
