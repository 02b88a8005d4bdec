// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/archive/tar.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "headpond/io/archive/tar_test_internal.h"
#include "headpond/io/compression/inflate.h"
#include "headpond/io/memory_test_internal.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::content_of;
using test::end;
using test::file;
using test::index_of;
using test::names_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string small() {
  return file("a.txt", "first") + test::header('2', "link", test::octal(0)) + file("b", std::string(1000, 'b')) + end();
}

struct Contents {
  std::vector<std::string> contents;
  uint64_t skipped = 0;
  Error error;
};
Contents read_all(std::unique_ptr<ByteReader> archive) {
  TarReader reader(std::move(archive));
  Contents all;
  while (true) {
    const auto member = reader.next();
    if (!member) all.error = member.error();
    if (!member || !*member) break;
    std::string content((*member)->size, '\0');
    const auto got = reader.read(std::as_writable_bytes(std::span(content)));
    if (!got) all.error = got.error();
    if (!got) break;
    EXPECT_EQ(*got, content.size());
    all.contents.push_back((*member)->name + "=" + content);
  }
  all.skipped = reader.skipped();
  return all;
}
Contents read_all(std::string_view archive) {
  return read_all(make_memory_reader("/data/x.tar", std::as_bytes(std::span(archive))));
}

TEST(TarIndex, PlacesEveryMember) {
  const std::string archive = small();
  const TarIndex index = index_of(archive).value();
  ASSERT_EQ(index.members.size(), 2U);
  EXPECT_EQ(index.members[0].offset, 512U);
  EXPECT_EQ(content_of(archive, index.members[0]), "first");
  EXPECT_EQ(content_of(archive, index.members[1]), std::string(1000, 'b'));
  EXPECT_EQ(index.skipped, 1U);
}

// Fault row 64.
TEST(TarIndex, NamesAreDataWhateverTheySay) {
  EXPECT_THAT(names_of(file("../../etc/x", "") + file("/abs", "") + file("C:\\x", "") +
                       test::pax("12 path=a" + std::string(1, '\0') + "b\n") + file("x", "") + end()),
              ElementsAre("../../etc/x", "/abs", "C:\\x", std::string("a\0b", 3)));
}

TEST(TarReader, GivesTheSameAsTheIndex) {
  const Contents all = read_all(small());
  EXPECT_FALSE(all.error) << all.error;
  EXPECT_THAT(all.contents, ElementsAre("a.txt=first", "b=" + std::string(1000, 'b')));
  EXPECT_EQ(all.skipped, 1U);
}

TEST(TarReader, GoesOnAfterContentThatWasNotReadAndStaysAtTheEnd) {
  const std::string archive = small() + file("hidden", "") + file("hidden", "");
  TarReader reader(make_memory_reader("x", std::as_bytes(std::span(archive))));
  std::byte none;
  EXPECT_EQ(reader.read({&none, 1}).value(), 0U);
  std::array<std::byte, 2> two;
  EXPECT_EQ(reader.next().value()->name, "a.txt");
  EXPECT_EQ(reader.read(two).value(), 2U);
  EXPECT_EQ(reader.next().value()->name, "b");
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(reader.next().value());
}

TEST(TarReader, ReadsAGzipArchive) {
  const test::Bytes bytes = test::gzip(test::to_bytes(small()));
  const Contents all = read_all(inflate_if_gzip(make_memory_reader("x.tar.gz", bytes)).value());
  EXPECT_FALSE(all.error) << all.error;
  EXPECT_EQ(all.contents.size(), 2U);
  const auto half = std::span(bytes).first(bytes.size() / 2);
  EXPECT_EQ(read_all(make_gzip_reader(make_memory_reader("cut", half))).error.kind(), ErrorKind::DataLoss);
}

TEST(TarReader, TellsAtTheEndWhatTheCheckValueOfAGzipArchiveTells) {
  // More zeros than a reader inflates ahead: nobody sees the trailer by chance.
  const std::string archive = small() + std::string(300'000, '\0');
  const test::Bytes bytes = test::gzip(test::to_bytes(archive), 0);
  const auto error = [](std::span<const std::byte> damaged) {
    return read_all(make_gzip_reader(make_memory_reader("/data/x.tar.gz", damaged))).error;
  };
  EXPECT_FALSE(error(bytes));
  const auto content = std::search(bytes.begin(), bytes.end(), archive.begin() + 512, archive.begin() + 517,
                                   [](std::byte a, char b) { return a == static_cast<std::byte>(b); });
  test::Bytes flipped = bytes;
  flipped.at(static_cast<size_t>(content - bytes.begin())) ^= std::byte{1};
  EXPECT_EQ(error(flipped).kind(), ErrorKind::DataLoss);
  for (size_t cut = 1; cut <= 8; ++cut) {
    EXPECT_EQ(error(std::span(bytes).first(bytes.size() - cut)).kind(), ErrorKind::DataLoss) << cut;
  }
}

TEST(TarReader, LeavesTheLimitOfAnInflatingReaderToIt) {
  const std::string archive = file("small", "x") + file("large", std::string(200'000, 'l')) + end();
  const std::string header =
      test::pax("200000 comment=" + std::string(200'000 - 16, 'c') + "\n") + file("a", "") + end();
  for (const std::string& plain : {archive, header}) {
    const test::Bytes bytes = test::gzip(test::to_bytes(plain));
    const auto read = [&](uint64_t limit) {
      return read_all(inflate_if_gzip(make_memory_reader("x.tar.gz", bytes), limit).value()).error;
    };
    EXPECT_EQ(read(100'000).kind(), ErrorKind::ResourceExhausted) << read(100'000);
    EXPECT_FALSE(read(plain.size()));
  }
  const test::Bytes cut = test::gzip(test::to_bytes(std::string_view(archive).substr(0, 2000)));
  EXPECT_EQ(read_all(make_gzip_reader(make_memory_reader("x.tar.gz", cut), 100'000)).error.kind(), ErrorKind::DataLoss);
}

TEST(TarReader, AgreesWithTheIndexOnEveryCut) {
  const std::string global = test::pax("16 comment=none\n", 'g');
  const std::string archive = small().substr(0, 3072) + test::pax("10 path=c\n") + file("", "third") +
                              test::member('L', "l", "d") + test::member('K', "k", "e") + file("", "") + global + end();
  // The archive may end at any offset in [from, to]; then `members` members are complete.
  struct Range {
    size_t from, to, members;
  };
  const std::vector<Range> whole = {{0, 0, 0},       {517, 1024, 1},  {1536, 1536, 1}, {3048, 3072, 2},
                                    {4613, 5120, 3}, {7680, 7680, 4}, {8208, 8704, 4}, {9216, 9728, 4}};
  ASSERT_EQ(archive.size(), 9728U);
  for (size_t cut = 0; cut <= archive.size(); cut += cut % 512 < 16 || cut % 512 > 496 ? 1 : 7) {
    const std::vector<char> exact(archive.begin(), archive.begin() + static_cast<ptrdiff_t>(cut));
    const std::string_view bytes(exact.data(), exact.size());
    const Error error = test::tar_error(bytes);
    const Contents all = read_all(bytes);
    EXPECT_EQ(bool{error}, bool{all.error}) << cut;
    const auto range = std::find_if(whole.begin(), whole.end(), [&](const Range& r) { return cut <= r.to; });
    ASSERT_NE(range, whole.end());
    EXPECT_EQ(bool{error}, cut < range->from) << cut;
    if (error) {
      EXPECT_EQ(error.kind(), ErrorKind::DataLoss) << cut;
    } else {
      EXPECT_EQ(all.contents.size(), range->members) << cut;
    }
  }
}

TEST(TarIndex, NoticesEachFlippedBitOfAHeader) {
  const std::string archive = file("a.txt", "first");
  for (size_t bit = 0; bit < 8 * 512; ++bit) {
    std::string damaged = archive;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    const auto index = index_of(damaged);
    // Of the checksum's own field a digit may lose what octal does not show: nothing else is accepted.
    if (index) {
      EXPECT_TRUE(bit / 8 >= 148 && bit / 8 < 156) << bit;
      EXPECT_EQ(index->members.at(0).name, "a.txt") << bit;
    } else {
      EXPECT_EQ(index.error().kind(), ErrorKind::DataLoss) << bit;
    }
  }
}

TEST(TarReader, KeepsItsError) {
  const std::string archive = file("a", "content").substr(0, 515);
  TarReader reader(make_memory_reader("/data/x.tar", std::as_bytes(std::span(archive))));
  const Error error = reader.next().error();
  EXPECT_EQ(error.kind(), ErrorKind::DataLoss);
  EXPECT_EQ(reader.next().error().message(), error.message());
  EXPECT_EQ(reader.read({}).error().message(), error.message());
}

// Fault row 68.
TEST(TarReader, KeepsThatThereWasNoMemory) {
  const auto twice = [] {
    TarLimits limits;
    limits.max_header_bytes = UINT64_MAX;
    const std::string header = test::header('x', "pax", test::octal(uint64_t{1} << 30));
    TarReader reader(make_joined_reader(std::as_bytes(std::span(header)), open_stream_reader("/dev/zero").value()),
                     limits);
    return reader.next() ? reader.next() : reader.next();
  };
  EXPECT_OUT_OF_MEMORY(twice);
}

TEST(TarReader, OfNothingIsRefused) { EXPECT_THROW(TarReader(nullptr), Exception); }

Result<TarSamples> group(const std::vector<std::string>& names) {
  TarIndex index;
  for (const std::string& name : names) index.members.push_back({name, 512, 0});
  return group_tar(index, "/data/x.tar");
}

TEST(TarSamples, AreMembersOfOneKey) {
  const TarSamples groups =
      group({"a/x.jpg", "a/x.seg.png", "b/x.jpg", "README", "b/.hidden", "b.c/y.cls", "b.c/y."}).value();
  ASSERT_EQ(groups.samples.size(), 3U);
  EXPECT_EQ(groups.ungrouped, 2U);
  EXPECT_EQ(groups.samples[0].key, "a/x");
  EXPECT_EQ(groups.samples[0].parts[1].extension, "seg.png");
  EXPECT_EQ(groups.samples[0].parts[1].member, 1U);
  EXPECT_EQ(groups.samples[1].key, "b/x");
  EXPECT_EQ(groups.samples[2].key, "b.c/y");
  EXPECT_EQ(groups.samples[2].parts[1].extension, "");
}

TEST(TarSamples, HaveExtensionsInLowerCaseAndNoMetadata) {
  const TarSamples groups = group({"__info__", "__meta__/a.json", "____/b.x", "__a.b__", "X.JPG", "X.Seg.PNG",
                                   "d/__info__", "d/__x__.json", "__x__.y", "__half/c.x", "___"})
                                .value();
  EXPECT_EQ(groups.ungrouped, 6U);
  ASSERT_EQ(groups.samples.size(), 4U);
  EXPECT_EQ(groups.samples[0].key, "X");
  EXPECT_EQ(groups.samples[0].parts[0].extension, "jpg");
  EXPECT_EQ(groups.samples[0].parts[1].extension, "seg.png");
  EXPECT_EQ(groups.samples[1].key, "d/__x__");
  EXPECT_EQ(groups.samples[2].key, "__x__");
  EXPECT_EQ(groups.samples[3].key, "__half/c");
  EXPECT_THAT(group({"x.JPG", "x.jpg"}).error().message(), HasSubstr("sample 'x' has an extension twice"));
}

// Fault row 70.
TEST(TarSamples, SplitOverTwoArchivesAreRefused) {
  const auto check = [](const std::vector<std::string>& one, const std::vector<std::string>& next) {
    const TarSamples first = group(one).value(), second = group(next).value();
    return check_tar_split(first.samples, "/data/1.tar", second.samples, "/data/2.tar");
  };
  EXPECT_TRUE(check({"x.jpg", "y.jpg"}, {"x.cls", "y.cls"}));
  EXPECT_TRUE(check({}, {"x.cls"}));
  EXPECT_TRUE(check({"x.jpg"}, {}));
  const Error error = check({"y.jpg", "x.jpg"}, {"x.cls", "y.cls"}).error();
  EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(error.message(), "sample 'x' ends /data/1.tar and begins /data/2.tar");
}

// Longer than a test may take if each looked at all parts anew; the number is what is tested. Emptying a table with
// places for all parts for each sample would take five times as long as this does.
TEST(TarSamples, MayBeManyOrOneOfManyParts) {
  constexpr size_t kCount = 300'000;
  std::vector<std::string> names;
  for (size_t i = 0; i < kCount; ++i) names.push_back(fmt::format("train.{:07}.jpg", i));
  for (size_t i = 0; i < kCount; ++i) names.push_back(fmt::format("{}.jpg", i));
  const TarSamples groups = group(names).value();
  EXPECT_EQ(groups.samples.size(), kCount + 1);
  EXPECT_EQ(groups.samples[0].parts.size(), kCount);
  names[kCount - 1] = names[0];
  EXPECT_THAT(group(names).error().message(), HasSubstr("has an extension twice"));
}

TEST(TarSamples, WithoutMemoryAreAnError) {
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
  TarIndex index;
  index.members.push_back({std::string(150'000'000, 'n') + ".x", 512, 0});
  EXPECT_OUT_OF_MEMORY([&] { return group_tar(index, "/data/x.tar"); });
}

// Fault row 70.
TEST(TarSamples, RefuseAnExtensionTwiceAndAKeyThatComesAgain) {
  const Error twice = group({"x.jpg", "x.cls", "x.jpg"}).error();
  EXPECT_EQ(twice.kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(twice.message(), "/data/x.tar: sample 'x' has an extension twice: member 'x.jpg' at offset 512");
  EXPECT_THAT(group({"x.jpg", "y.jpg", "x.cls"}).error().message(),
              AllOf(HasSubstr("'x'"), HasSubstr("appears again")));
}

}  // namespace
}  // namespace headpond
