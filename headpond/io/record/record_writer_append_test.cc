// SPDX-License-Identifier: Apache-2.0
// Records appended to those that a file has, whatever a crash or another program left there.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "headpond/io/file/system_internal.h"
#include "headpond/io/record/record_test_internal.h"
#include "headpond/io/record/record_writer.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::Fault;
using internal::FaultInjection;
using test::get_file;
using test::read;
using test::TempFolder;
using test::to_bytes;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Bytes = std::vector<std::byte>;

TEST(RecordWriter, AppendsAfterCuttingATornTailWhereverItIsTorn) {
  const TempFolder folder;
  const Bytes whole = test::frames_of({"abc", "", "de"});
  const std::vector<size_t> begins = {0, 19, 35, 53};
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    const auto complete = static_cast<size_t>(std::upper_bound(begins.begin(), begins.end(), cut) - begins.begin()) - 1;
    for (const size_t zeros : {0U, 40U}) {
      test::put_file(folder.file("a"),
                     test::joined({test::prefix(whole, zeros == 0 ? cut : begins[complete]), Bytes(zeros)}));
      auto writer = RecordWriter::open(folder.file("a"), {.mode = WriteMode::append}).value();
      EXPECT_EQ(writer->cut_bytes(), zeros == 0 ? cut - begins[complete] : zeros) << cut;
      ASSERT_TRUE(writer->append("new") && writer->close());
      const auto records = read(folder.file("a"));
      ASSERT_EQ(records.size(), complete + 1) << cut;
      EXPECT_EQ(records.back(), "new");
    }
  }
}

TEST(RecordWriter, MakesNothingWhereItCannotAppend) {
  const TempFolder folder;
  EXPECT_EQ(RecordWriter::open(folder.file("a"), {.mode = WriteMode::append, .compression = Compression::gzip})
                .error()
                .kind(),
            ErrorKind::Unimplemented);
  EXPECT_EQ(folder.count(), 0U);
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  for (const bool has_reader : {false, true}) {
    const int reader = has_reader ? ::open(folder.file("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    const Error error = RecordWriter::open(folder.file("pipe"), {.mode = WriteMode::append}).error();
    EXPECT_EQ(error.kind(), ErrorKind::FailedPrecondition);
    EXPECT_THAT(error.message(), HasSubstr(folder.file("pipe")));
    if (has_reader) ::close(reader);
  }
}

TEST(RecordWriter, CutsALastRecordWithADamagedPayloadButNoOther) {
  const TempFolder folder;
  const Bytes whole = test::frames_of({"abc", "de"});
  test::put_file(folder.file("a"), test::with_flipped_bit(whole, 8 * 32));
  EXPECT_EQ(RecordWriter::open(folder.file("a"), {.mode = WriteMode::append}).value()->cut_bytes(), 18U);
  test::put_file(folder.file("a"), test::with_flipped_bit(whole, 8 * 13));
  EXPECT_EQ(RecordWriter::open(folder.file("a"), {.mode = WriteMode::append}).value()->cut_bytes(), 0U);
}

// Whatever a crash left after it.
TEST(RecordWriter, CutsALastRecordWithADamagedPayloadWithItsTornTail) {
  const TempFolder folder;
  const Bytes good = test::frame_of("abc"), torn = test::joined({test::header_of(100), Bytes(104)});
  for (const Bytes& tail : {Bytes(), Bytes(5), Bytes(200), test::prefix(test::header_of(7), 5), test::header_of(7),
                            test::joined({test::header_of(7), Bytes(3)})}) {
    test::put_file(folder.file("a"), test::joined({good, torn, tail}));
    const auto writer = RecordWriter::open(folder.file("a"), {.mode = WriteMode::append}).value();
    EXPECT_EQ(writer->cut_bytes(), torn.size() + tail.size());
    ASSERT_TRUE(writer->append("new") && writer->close());
    EXPECT_THAT(read(folder.file("a")), ElementsAre("abc", "new"));
  }
}

TEST(RecordWriter, IsTheOnlyOneThatAppends) {
  const TempFolder folder;
  test::put_file(folder.file("a"), test::frame_of("abc"));
  auto first = RecordWriter::open(folder.file("a"), {.mode = WriteMode::append}).value();
  const auto second = RecordWriter::open(folder.file("a"), {.mode = WriteMode::append});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(second.error().message(), AllOf(HasSubstr(folder.file("a")), HasSubstr("another")));
  ASSERT_TRUE(first->close());
  EXPECT_TRUE(RecordWriter::open(folder.file("a"), {.mode = WriteMode::append}));
}

// Before the call of the system that is counted, somebody who takes no lock replaces the file, or writes to it.
TEST(RecordWriter, CutsNothingFromAFileThatAnotherChangesMeanwhile) {
  const TempFolder folder;
  const Bytes torn = test::prefix(test::frames_of({"abc", "de"}), 30);
  const Bytes other = test::joined({torn, test::to_bytes("more")});
  for (const bool is_replaced : {true, false}) {
    for (int when = 1; when < 20; ++when) {
      std::filesystem::remove(folder.file("a"));
      test::put_file(folder.file("a"), torn);
      test::put_file(folder.file("b"), other);
      int calls = 0;
      bool changed = false;
      const FaultInjection fault([&](std::string_view call) {
        if (call == "ftruncate" || ++calls != when) return Fault{};
        changed = true;
        if (is_replaced) {
          std::filesystem::rename(folder.file("b"), folder.file("a"));
        } else {
          test::put_file(folder.file("a"), other);
        }
        return Fault{};
      });
      const auto writer = RecordWriter::open(folder.file("a"), {.mode = WriteMode::append});
      if (!changed) {
        EXPECT_GT(when, 5);
        break;
      }
      if (writer) {
        EXPECT_EQ((*writer)->cut_bytes(), other.size() - 19) << "it was changed before it was looked at, " << when;
        EXPECT_EQ(get_file(folder.file("a")).size(), 19U);
      } else {
        EXPECT_EQ(get_file(folder.file("a")), other) << when;
      }
    }
  }
}

// 376 and 35615 are lengths of which the first two bytes are those of zlib and gzip.
TEST(RecordWriter, CutsATornFirstFrameWhateverItsLengthLooksLike) {
  const TempFolder folder;
  for (const size_t length : {3U, 376U, 35'615U, 40'056U}) {
    const Bytes whole = test::frame_of(std::string(length, 'x'));
    for (size_t size = 1; size < 20 && size < whole.size(); ++size) {
      test::put_file(folder.file("a"), test::prefix(whole, size));
      const auto writer = RecordWriter::open(folder.file("a"), {.mode = WriteMode::append});
      ASSERT_TRUE(writer) << length << " " << size << " " << writer.error();
      EXPECT_EQ((*writer)->cut_bytes(), size);
    }
  }
  for (const size_t size : {9U, 10U, 11U, 12U, 20U}) {
    const Bytes packed = test::prefix(test::gzip(test::frame_of("abc")), size);
    test::put_file(folder.file("a"), packed);
    EXPECT_EQ(RecordWriter::open(folder.file("a"), {.mode = WriteMode::append}).error().kind(),
              ErrorKind::Unimplemented);
    EXPECT_EQ(get_file(folder.file("a")), packed);
  }
  const Bytes nothing = test::zlib({});
  test::put_file(folder.file("a"), nothing);
  ASSERT_EQ(nothing.size(), 8U);
  EXPECT_EQ(RecordWriter::open(folder.file("a"), {.mode = WriteMode::append}).error().kind(), ErrorKind::Unimplemented);
}

TEST(RecordWriter, ChangesNothingWhereRecordsEndAtAnotherDamage) {
  const TempFolder folder;
  const Bytes whole = test::frames_of({"abc", "de"});
  const std::pair<Bytes, ErrorKind> table[] = {
      {test::with_flipped_bit(whole, 0), ErrorKind::DataLoss},
      {test::with_flipped_bit(whole, 8 * 20), ErrorKind::DataLoss},
      {to_bytes("some text that is no record"), ErrorKind::DataLoss},
      {test::gzip(whole), ErrorKind::Unimplemented},
  };
  for (const auto& [bytes, kind] : table) {
    test::put_file(folder.file("a"), bytes);
    const Error error = RecordWriter::open(folder.file("a"), {.mode = WriteMode::append}).error();
    EXPECT_EQ(error.kind(), kind);
    EXPECT_EQ(test::times_in(error.to_string(), folder.file("a")), 1U) << error;
    EXPECT_EQ(get_file(folder.file("a")), bytes);
  }
  EXPECT_EQ(RecordWriter::open(folder.file("b"), {.mode = WriteMode::append, .compression = Compression::gzip})
                .error()
                .kind(),
            ErrorKind::Unimplemented);
}

}  // namespace
}  // namespace headpond
