// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "headpond/io/array/zip_internal.h"
#include "headpond/io/array/zip_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using test::Bytes;
using test::to_bytes;
using test::zip_of;
using test::ZipFile;
using testing::HasSubstr;

// Names and contents joined by '|', or the error.
std::string shown(const Bytes& archive) {
  const auto members = index_zip(archive, "a.zip");
  if (!members) return std::string(to_string(members.error().kind())) + ": " + members.error().message();
  std::string text;
  for (const ZipMember& member : *members) {
    const auto content = unzip(archive, member, "a.zip");
    if (!content) return std::string(to_string(content.error().kind())) + ": " + content.error().message();
    text += member.name + "=" + std::string(reinterpret_cast<const char*>(content->data()), content->size()) + "|";
  }
  return text;
}

const std::vector<ZipFile> kTwo = {{.name = "a", .content = to_bytes("first")},
                                   {.name = "b", .content = to_bytes("second second second"), .deflate = true}};
const char* const kTwoShown = "a=first|b=second second second|";

std::vector<ZipFile> two_with(auto change) {
  std::vector<ZipFile> files = kTwo;
  change(files[1]);
  return files;
}

TEST(Zip, ReadsStoredAndDeflatedMembers) {
  EXPECT_EQ(shown(zip_of(kTwo)), kTwoShown);
  EXPECT_EQ(shown(zip_of(kTwo, false, "a comment with PK\x05\x06 in it, and more than an end after that")), kTwoShown);
  EXPECT_EQ(shown(zip_of({})), "");
  EXPECT_EQ(shown(zip_of({{.name = "empty"}, {.name = "too", .deflate = true}})), "empty=|too=|");
  EXPECT_EQ(shown(zip_of({{.name = "folder/"}, {.name = "folder/x"}})), "folder/x=|");
}

TEST(Zip, ReadsZip64) {
  std::vector<ZipFile> files = kTwo;
  for (ZipFile& file : files) file.zip64 = true;
  EXPECT_EQ(shown(zip_of(files)), kTwoShown);
  EXPECT_EQ(shown(zip_of(files, true)), kTwoShown);
  EXPECT_EQ(shown(zip_of(kTwo, true)), kTwoShown);
}

TEST(Zip, EveryCutIsDataLoss) {
  for (const bool end64 : {false, true}) {
    const Bytes whole = zip_of(kTwo, end64);
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THAT(shown(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size))),
                  HasSubstr("DataLoss: a.zip"))
          << size;
    }
  }
}

TEST(Zip, BytesInFrontMakeTheDirectoryWrong) {
  EXPECT_THAT(shown(test::joined({to_bytes("x"), zip_of(kTwo)})), HasSubstr("DataLoss: a.zip: zip: a directory of"));
}

TEST(Zip, EveryFlippedBitOfContentIsNoticedAndNoOtherGivesWrongContent) {
  const Bytes whole = zip_of(kTwo);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes damaged = whole;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const std::string got = shown(damaged);
    if (got.find("=first|") != std::string::npos && got.find("=second second second|") != std::string::npos) continue;
    EXPECT_TRUE(got.starts_with("DataLoss") || got.starts_with("Unimplemented") || got == "a=first|") << bit << got;
  }
}

TEST(Zip, RefusesADirectoryThatDisagreesWithTheMembers) {
  const auto refused = [](auto change, const char* why) {
    EXPECT_THAT(shown(zip_of(two_with(change))), testing::AllOf(HasSubstr("DataLoss: a.zip: zip: "), HasSubstr(why)));
  };
  refused([](ZipFile& file) { file.local_name = "c"; }, "its own header contradicts the directory");
  refused([](ZipFile& file) { file.more_size = 1; }, "its own header contradicts the directory");
  refused([](ZipFile& file) { file.more_packed = 1; }, "its own header contradicts the directory");
  refused([](ZipFile& file) { file.more_crc = 1; }, "its own header contradicts the directory");
  refused([](ZipFile& file) { file.more_offset = 1; }, "the header of a member expected");
  refused([](ZipFile& file) { file.more_offset = 1000; }, "inside the directory or another one");
}

TEST(Zip, RefusesSizesThatAreWrongWhereOnlyTheDirectoryHasThem) {
  const auto refused = [](auto change, const char* why) {
    const auto files = two_with([&](ZipFile& file) {
      file.flags = 8;
      change(file);
    });
    EXPECT_THAT(shown(zip_of(files)), testing::AllOf(HasSubstr("DataLoss: a.zip: zip: "), HasSubstr(why)));
  };
  EXPECT_EQ(shown(zip_of(two_with([](ZipFile& file) { file.flags = 8; }))), kTwoShown);
  refused([](ZipFile& file) { file.more_packed = 1; }, "overlaps another one or the directory");
  refused([](ZipFile& file) { file.more_packed = -1; }, "");
  refused([](ZipFile& file) { file.more_size = 100'000'000; }, "bytes cannot be in");
  refused([](ZipFile& file) { file.more_size = 1; }, "");
  refused([](ZipFile& file) { file.more_size = -1; }, "");
  refused([](ZipFile& file) { file.more_crc = 1; }, "");
}

TEST(Zip, MembersThatShareBytesAreRefused) {
  std::vector<ZipFile> files = kTwo;
  files[1] = files[0];
  files[1].more_offset = -36;  // Both entries are of the first member.
  EXPECT_THAT(shown(zip_of(files)), HasSubstr("inside the directory or another one"));
  // A member inside the content of another one.
  const Bytes inner = zip_of({{.name = "i", .content = to_bytes("x")}});
  std::vector<ZipFile> nested = {{.name = "o", .content = Bytes(inner.begin(), inner.begin() + 32)},
                                 {.name = "i", .content = to_bytes("x"), .more_offset = -32}};
  EXPECT_THAT(shown(zip_of(nested)), HasSubstr("overlaps another one"));
}

TEST(Zip, RefusesWhatItCannotRead) {
  EXPECT_THAT(shown(zip_of(two_with([](ZipFile& file) { file.flags = 1; }))), HasSubstr("Unimplemented"));
  EXPECT_THAT(shown(zip_of(two_with([](ZipFile& file) { file.method = 12; }))), HasSubstr("packed by method 12"));
}

TEST(Zip, GivesStoredContentInPlace) {
  Bytes archive = zip_of(kTwo);
  const ZipMember member = index_zip(archive, "a").value()[0];
  const auto content = stored_content(archive, member, "a").value();
  EXPECT_EQ(content.data(), archive.data() + member.offset);
  EXPECT_EQ(Bytes(content.begin(), content.end()), to_bytes("first"));
  archive[member.offset] ^= std::byte{1};
  EXPECT_EQ(stored_content(archive, member, "a").error().kind(), ErrorKind::DataLoss);
}

}  // namespace
}  // namespace headpond::internal
