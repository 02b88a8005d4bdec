// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "headpond/io/array/npy_header_internal.h"
#include "headpond/io/array/zip_test_internal.h"
#include "headpond/io/memory_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::Bytes;
using test::to_bytes;
using test::zip_of;
using testing::ElementsAre;
using testing::HasSubstr;

Bytes npy(const std::string& values) {
  return to_bytes(internal::make_npy_header(u8, {static_cast<int64_t>(values.size())}).value() + values);
}

std::string error(const Bytes& archive, uint64_t limit = UINT64_MAX) {
  const auto arrays = read_npz(archive, "a.npz", limit);
  return arrays ? "no error" : std::string(to_string(arrays.error().kind())) + ": " + arrays.error().message();
}

TEST(Npz, ReadsArraysInTheirOrder) {
  const test::TempFolder folder;
  const Bytes archive = zip_of({{.name = "z.npy", .content = npy("ab")},
                                {.name = "a/b.npy", .content = npy("cde"), .deflate = true, .zip64 = true}});
  test::put_file(folder.file("a"), archive);
  for (const auto& arrays : {read_npz(folder.file("a")).value(), read_npz(archive, "a").value()}) {
    ASSERT_EQ(arrays.size(), 2U);
    EXPECT_EQ(arrays[0].first, "z");
    EXPECT_THAT(arrays[0].second.as<uint8_t>(), ElementsAre('a', 'b'));
    EXPECT_EQ(arrays[1].first, "a/b");
    EXPECT_THAT(arrays[1].second.as<uint8_t>(), ElementsAre('c', 'd', 'e'));
  }
  EXPECT_TRUE(read_npz(zip_of({}), "a")->empty());
  EXPECT_EQ(read_npz("/no/file").error().kind(), ErrorKind::NotFound);
}

TEST(Npz, SkipsMembersWithOtherNames) {
  const auto arrays = read_npz(zip_of({{.name = "README.txt", .content = to_bytes(std::string(1000, 'x'))},
                                       {.name = "x.npy", .content = npy("ab")},
                                       {.name = "README.txt", .content = to_bytes("again")},
                                       {.name = "npy"}}),
                               "a", npy("ab").size());
  ASSERT_TRUE(arrays) << arrays.error();
  ASSERT_EQ(arrays->size(), 1U);
  EXPECT_EQ(arrays->front().first, "x");
}

TEST(Npz, NamesTheMemberThatIsNoArray) {
  EXPECT_THAT(error(zip_of({{.name = "x.npy", .content = to_bytes("no")}})),
              HasSubstr("InvalidArgument: a.npz, member 'x.npy': not an npy file"));
  EXPECT_THAT(error(zip_of({{.name = "x.npy", .content = npy("a")}, {.name = "x.npy", .content = npy("b")}})),
              HasSubstr("member 'x.npy' occurs twice"));
  EXPECT_THAT(error(to_bytes("no zip")), HasSubstr("DataLoss: a.npz: zip: no end of a directory"));
}

TEST(Npz, NoticesDamagedContent) {
  for (const bool deflate : {false, true}) {
    Bytes archive = zip_of({{.name = "x.npy", .content = npy("abcdefgh"), .deflate = deflate}});
    archive[60] ^= std::byte{4};
    EXPECT_THAT(error(archive), HasSubstr("DataLoss: a.npz"));
  }
}

TEST(Npz, StopsAtTheLimitOfAllArrays) {
  const Bytes archive = zip_of({{.name = "x.npy", .content = npy("ab")}, {.name = "y.npy", .content = npy("cd")}});
  EXPECT_EQ(error(archive, 2 * npy("ab").size()), "no error");
  EXPECT_THAT(error(archive, 2 * npy("ab").size() - 1), HasSubstr("ResourceExhausted: a.npz: npz: "));
}

TEST(Npz, WithoutMemoryIsAnError) {
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
  const Bytes bomb = zip_of({{.name = "x.npy", .content = npy(std::string(150'000'000, 'x')), .deflate = true}});
  EXPECT_OUT_OF_MEMORY(test::naming("a", [&] { return read_npz(bomb, "a"); }));
}

}  // namespace
}  // namespace headpond
