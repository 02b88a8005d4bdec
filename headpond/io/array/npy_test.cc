// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "headpond/io/file/system_internal.h"
#include "headpond/io/memory_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::put_file;
using test::TempFolder;
using test::to_bytes;
using testing::ElementsAre;
using testing::HasSubstr;

using Bytes = std::vector<std::byte>;

Bytes file_of(const std::string& dict, const std::string& values) {
  std::string file = std::string("\x93NUMPY\x01\0", 8);
  file += {static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  return to_bytes(file + dict + values);
}
std::string dict(const std::string& descr, bool fortran, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + "}";
}
std::string counted(size_t count) {
  std::string values(count, '\0');
  std::iota(values.begin(), values.end(), '\1');
  return values;
}

Tensor numbers(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(*shape.size()));
  std::iota(values.begin(), values.end(), 0.5F);
  return Tensor::from<float>(values, shape);
}

TEST(Npy, ReadsWhatItWrites) {
  const TempFolder folder;
  for (const Shape& shape : {Shape(), Shape{5}, Shape{2, 3, 4}, Shape{0, 3}}) {
    ASSERT_TRUE(write_npy(folder.file("a"), numbers(shape)));
    const Tensor got = read_npy(folder.file("a")).value();
    EXPECT_EQ(got.shape(), shape);
    EXPECT_THAT(got.as<float>(), testing::ElementsAreArray(numbers(shape).as<float>()));
  }
  EXPECT_EQ(write_npy(folder.file("b"), Tensor::scalar("text")).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(folder.count(), 1U);
}

TEST(Npy, TurnsFortransOrderRound) {
  const auto column_major = file_of(dict("|u1", true, "(2, 3)"), counted(6));
  EXPECT_THAT(read_npy(column_major, "a")->as<uint8_t>(), ElementsAre(1, 3, 5, 2, 4, 6));
  const auto cube = file_of(dict("|u1", true, "(2, 2, 2)"), counted(8));
  EXPECT_THAT(read_npy(cube, "a")->as<uint8_t>(), ElementsAre(1, 5, 3, 7, 2, 6, 4, 8));
  const auto line = file_of(dict("|u1", true, "(3,)"), counted(3));
  EXPECT_THAT(read_npy(line, "a")->as<uint8_t>(), ElementsAre(1, 2, 3));
}

TEST(Npy, TurnsBigEndianValuesRound) {
  EXPECT_THAT(read_npy(file_of(dict(">u2", false, "(2,)"), counted(4)), "a")->as<uint16_t>(),
              ElementsAre(0x102, 0x304));
  const auto both = file_of(dict(">u2", true, "(1, 2)"), counted(4));
  EXPECT_THAT(read_npy(both, "a")->as<uint16_t>(), ElementsAre(0x102, 0x304));
  std::array<uint16_t, 1> row = {};
  const auto content = file_of(dict(">u2", false, "(2, 1)"), counted(4));
  ASSERT_TRUE(NpyFile::over("a", content).value()->read(1, reinterpret_cast<std::byte*>(row.data())));
  EXPECT_EQ(row[0], 0x304);
}

TEST(Npy, ABooleanIsZeroOrOne) {
  EXPECT_THAT(read_npy(file_of(dict("|b1", false, "(2,)"), std::string("\0\1", 2)), "a")->as<bool>(),
              ElementsAre(false, true));
  const auto wrong = file_of(dict("|b1", false, "(2,)"), std::string("\0\2", 2));
  EXPECT_EQ(read_npy(wrong, "a").error().message(), "a: npy: a boolean is 02, at offset 66");
  const auto turned = file_of(dict("|b1", true, "(2, 2)"), std::string("\0\3\1\0", 4));
  EXPECT_THAT(read_npy(turned, "a").error().message(), HasSubstr("a boolean is 03, at offset 67"));
  const auto file = NpyFile::over("a", wrong).value();
  EXPECT_TRUE(file->at(0));
  EXPECT_EQ(file->at(1).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(file->at(1).error().message(), "a: npy: row 1: a boolean is 02, at offset 66");
}

TEST(Npy, AnEmptyArrayMayHaveAnyDimensions) {
  const auto content = file_of(dict("<f8", false, "(0, 9223372036854775807, 9)"), "");
  EXPECT_EQ(read_npy(content, "a")->size(), 0);
  EXPECT_EQ(NpyFile::over("a", content).value()->size(), 0);
  const auto thin = file_of(dict("<f8", false, "(1048576, 0)"), "");
  const auto file = NpyFile::over("a", thin).value();
  EXPECT_EQ(file->at(file->size() - 1)->size(), 0);
  const auto endless = file_of(dict("<f8", false, "(4611686018427387904, 0)"), "");
  EXPECT_EQ(read_npy(endless, "a")->size(), 0);
  EXPECT_EQ(NpyFile::over("a", endless).error().message(),
            "a: npy: 4611686018427387904 rows without values, at most 1048576");
}

TEST(Npy, WithoutMemoryIsAnErrorWithTheName) {
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
  auto content = file_of(dict("|u1", false, "(1, 200000000)"), "");
  content.resize(content.size() + 200'000'000);
  EXPECT_OUT_OF_MEMORY(test::naming("a", [&] { return read_npy(content, "a"); }));
}

TEST(NpyFile, WithoutMemoryIsAnErrorWithTheName) {
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
  auto content = file_of(dict("|u1", false, "(1, 300000000)"), "");
  content.resize(content.size() + 300'000'000);
  EXPECT_OUT_OF_MEMORY(test::naming("a", [&] { return NpyFile::over("a", content).value()->at(0); }));
}

TEST(Npy, BytesWithoutMemoryAreAnError) {
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
  const Tensor large = Tensor::empty(u8, {200'000'000});
  EXPECT_OUT_OF_MEMORY([&] { return npy_bytes(large); });
}

TEST(NpyFile, GivesAnyRowByItsNumber) {
  const TempFolder folder;
  ASSERT_TRUE(write_npy(folder.file("a"), numbers({4, 2, 3})));
  const auto file = NpyFile::open(folder.file("a")).value();
  EXPECT_EQ(file->size(), 4);
  EXPECT_EQ(file->row().dtype, f32);
  EXPECT_EQ(file->row().shape, (Shape{2, 3}));
  EXPECT_EQ(file->path(), folder.file("a"));
  const Tensor row = file->at(2).value();
  EXPECT_EQ(row.shape(), (Shape{2, 3}));
  EXPECT_EQ(row.as<float>()[0], 12.5F);
  std::array<std::byte, 25> memory;
  ASSERT_TRUE(file->read(3, &memory[1]));
  float last = 0;
  std::memcpy(&last, &memory[21], sizeof last);
  EXPECT_EQ(last, 23.5F);
  for (const int64_t i : {int64_t{-1}, int64_t{4}, INT64_MIN}) {
    EXPECT_EQ(file->at(i).error().kind(), ErrorKind::OutOfRange);
    EXPECT_EQ(file->read(i, memory.data()).error().kind(), ErrorKind::OutOfRange);
  }
}

TEST(NpyFile, RefusesScalarsAndRowsInFortransOrder) {
  EXPECT_EQ(NpyFile::over("a", file_of(dict("|u1", false, "()"), "x")).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(NpyFile::over("a", file_of(dict("|u1", true, "(2, 3)"), counted(6))).error().kind(),
            ErrorKind::Unimplemented);
  const auto line = file_of(dict("|u1", true, "(3,)"), counted(3));
  EXPECT_EQ(NpyFile::over("a", line).value()->at(1)->as<uint8_t>()[0], 2);
  EXPECT_EQ(NpyFile::open("/no/file").error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(read_npy("/no/file").error().kind(), ErrorKind::NotFound);
}

TEST(NpyFile, AFileThatShrinksIsNeverAWrongRow) {
  const TempFolder folder;
  ASSERT_TRUE(write_npy(folder.file("a"), numbers({1000, 100})));
  const auto file = NpyFile::open(folder.file("a")).value();
  ASSERT_EQ(truncate(folder.file("a").c_str(), 5000), 0);
  EXPECT_EQ(file->at(999).error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(read_npy(folder.file("a")).error().message(), HasSubstr("float32[1000,100] needs 400000 bytes"));
}

TEST(NpyFile, ACutWithinAPageIsNoticedThoughNoSignalTells) {
  const TempFolder folder;
  ASSERT_TRUE(write_npy(folder.file("a"), numbers({20, 3})));
  const auto file = NpyFile::open(folder.file("a")).value();
  EXPECT_TRUE(file->at(19)) << "control";
  ASSERT_EQ(truncate(folder.file("a").c_str(), 200), 0);
  EXPECT_EQ(file->at(19).error().kind(), ErrorKind::DataLoss);
}

TEST(NpyFile, ACutWithinAPageIsNoticedWhateverTheByteOrder) {
  const TempFolder folder;
  put_file(folder.file("a"), file_of(dict(">u2", false, "(20,)"), counted(40)));
  const auto file = NpyFile::open(folder.file("a")).value();
  EXPECT_TRUE(file->at(19)) << "control";
  const auto bytes = static_cast<off_t>(std::filesystem::file_size(folder.file("a")));
  ASSERT_EQ(truncate(folder.file("a").c_str(), bytes - 1), 0);
  EXPECT_EQ(file->at(19).error().kind(), ErrorKind::DataLoss);
}

TEST(NpyFile, ACutWithinAPageOfTheMiddleIsNoticed) {
  const TempFolder folder;
  ASSERT_TRUE(write_npy(folder.file("a"), Tensor::from<int64_t>(std::vector<int64_t>(100'000, INT64_MAX), {100'000})));
  const auto file = NpyFile::open(folder.file("a")).value();
  ASSERT_EQ(truncate(folder.file("a").c_str(), 128 + 8 * 50'000), 0);
  EXPECT_EQ(file->at(50'000).error().kind(), ErrorKind::DataLoss);
}

TEST(NpyFile, RowsThatEndInAZeroDoNotAskTheSystem) {
  const TempFolder folder;
  ASSERT_TRUE(write_npy(folder.file("a"), Tensor::from<int64_t>(std::vector<int64_t>(10'000, 1), {10'000})));
  const auto file = NpyFile::open(folder.file("a")).value();
  int calls = 0;
  const internal::FaultInjection count([&calls](std::string_view) {
    ++calls;
    return internal::Fault{};
  });
  for (int64_t i = 0; i < 9'000; ++i) EXPECT_TRUE(file->at(i));
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(file->at(9'999));
  EXPECT_EQ(calls, 1) << "control: in the last page only the system knows";
}

TEST(NpyFile, GivesRowsWhereTheFileIsMapped) {
  const TempFolder folder;
  ASSERT_TRUE(write_npy(folder.file("a"), numbers({1000, 3})));
  const auto file = NpyFile::open(folder.file("a")).value();
  for (int64_t i = 0; i < file->size(); ++i) {
    const auto row = file->mapped_row(i);
    ASSERT_EQ(row.size(), 12U);
    EXPECT_EQ(std::memcmp(row.data(), file->at(i)->data(), row.size()), 0) << i;
    EXPECT_TRUE(file->is_whole(i));
  }
  EXPECT_EQ(file->mapped_row(7).data(), file->mapped_row(6).data() + 12);
  EXPECT_TRUE(file->mapped_row(-1).empty());
  EXPECT_TRUE(file->mapped_row(1000).empty());
}

// ThreadSanitizer's account of what is read has pages of its own.
__attribute__((no_sanitize("thread"))) void look_at_pages(const std::byte* bytes, size_t size) {
  for (size_t at = 0; at < size; at += 1024) (void)*static_cast<const volatile std::byte*>(bytes + at);
}

// mapped_row() waits until the pages of the row are in memory, so that using the row later waits for nothing.
TEST(NpyFile, ReadsTheWholeOfAMappedRow) {
  const TempFolder folder;
  ASSERT_TRUE(write_npy(folder.file("a"), numbers({3, 1'000'000})));
  const auto file = NpyFile::open(folder.file("a")).value();
  const auto faults_of = [](const auto& call) {
    rusage before = {}, after = {};
    getrusage(RUSAGE_THREAD, &before);
    call();
    getrusage(RUSAGE_THREAD, &after);
    return after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt;
  };
  std::span<const std::byte> row;
  const auto asked = faults_of([&] { row = file->mapped_row(1); }),
             used = faults_of([&] { look_at_pages(row.data(), row.size()); });
  const auto not_asked_for = faults_of([&] { look_at_pages(row.data() + row.size(), row.size()); });
  if (asked + used + not_asked_for == 0) GTEST_SKIP() << "this system counts no page faults";
  EXPECT_GT(asked, 4 * used);
  EXPECT_GT(not_asked_for, 4 * used) << "control";
}

TEST(NpyFile, GivesNoMappedRowsThatAreNoTensors) {
  const TempFolder folder;
  const auto has_mapped_rows = [&](const std::string& content_dict) {
    put_file(folder.file("a"), file_of(content_dict, std::string(16, '\1')));
    return !NpyFile::open(folder.file("a")).value()->mapped_row(1).empty();
  };
  const auto aligned = [](std::string content_dict, size_t beyond) {
    content_dict.append((64 + beyond - (10 + content_dict.size()) % 64) % 64, ' ');
    return content_dict;
  };
  EXPECT_TRUE(has_mapped_rows(aligned(dict("<u2", false, "(8,)"), 0))) << "control";
  EXPECT_FALSE(has_mapped_rows(aligned(dict("<u2", false, "(8,)"), 1))) << "an odd address";
  EXPECT_FALSE(has_mapped_rows(aligned(dict(">u2", false, "(8,)"), 0))) << "the other byte order";
  EXPECT_FALSE(has_mapped_rows(aligned(dict("|b1", false, "(16,)"), 0))) << "booleans, which are checked";
  EXPECT_TRUE(has_mapped_rows(aligned(dict("|u1", false, "(16,)"), 1)));
}

TEST(NpyFile, TellsThatAMappedRowWasCut) {
  const TempFolder folder;
  ASSERT_TRUE(write_npy(folder.file("a"), numbers({1000, 100})));
  for (const off_t end : {128 + 399'600, 5000}) {  // Within the last page, where no signal tells, and before.
    const auto file = NpyFile::open(folder.file("a")).value();
    EXPECT_TRUE(file->is_whole(999)) << "control";
    ASSERT_EQ(truncate(folder.file("a").c_str(), end), 0);
    EXPECT_FALSE(file->is_whole(999));
    ASSERT_TRUE(write_npy(folder.file("a"), numbers({1000, 100})));
  }
}

TEST(NpyFile, ManyThreadsReadTheSameRows) {
  const TempFolder folder;
  ASSERT_TRUE(write_npy(folder.file("a"), numbers({1000, 3})));
  const auto file = NpyFile::open(folder.file("a")).value();
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&file] {
      for (int64_t i = 0; i < file->size(); ++i) {
        EXPECT_EQ(file->at(i).value().as<float>()[2], static_cast<float>(3 * i + 2) + 0.5F);
      }
    });
  }
}

}  // namespace
}  // namespace headpond
