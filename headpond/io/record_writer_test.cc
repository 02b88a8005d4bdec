// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/base/log.h"
#include "headpond/io/memory_test_internal.h"
#include "headpond/io/record_frame.h"
#include "headpond/io/record_reader.h"
#include "headpond/io/record_test_internal.h"
#include "headpond/io/system_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::Fault;
using internal::FaultInjection;
using test::get_file;
using test::TempFolder;
using test::to_bytes;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Bytes = std::vector<std::byte>;

void write(const std::string& path, const std::vector<std::string>& records) {
  auto writer = RecordWriter::open(path).value();
  for (const auto& record : records) EXPECT_TRUE(writer->append(record));
  EXPECT_TRUE(writer->close());
}

struct Scan {
  std::vector<std::string> records;
  Error end;
};
Scan scan(const Bytes& bytes) {
  Scan scan;
  for (uint64_t offset = 0;;) {
    const auto frame = read_frame(bytes, offset, "/data/x");
    if (!frame) {
      scan.end = frame.error();
      return scan;
    }
    scan.records.emplace_back(reinterpret_cast<const char*>(frame->payload.data()), frame->payload.size());
    offset = frame->next_offset;
  }
}

std::vector<std::string> read(const std::string& path) {
  const test::Scan scan = test::scan(RecordReader::open(path));
  EXPECT_FALSE(scan.end) << scan.end;
  return scan.records;
}

TEST(RecordWriter, WritesLengthChecksumPayloadChecksum) {
  const TempFolder folder;
  write(folder.file("a"), {"abc"});
  const Bytes bytes = get_file(folder.file("a"));
  ASSERT_EQ(bytes.size(), 8U + 4U + 3U + 4U);
  EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + 8), to_bytes(std::string("\x03\0\0\0\0\0\0\0", 8)));
  EXPECT_EQ(Bytes(bytes.begin() + 12, bytes.begin() + 15), to_bytes("abc"));
  // CRC-32C of "abc" is 364b3fb7; rotated right by 15 bits plus a282ead8.
  const uint32_t masked = ((0x364b3fb7U >> 15) | (0x364b3fb7U << 17)) + 0xa282ead8U;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(bytes[15 + static_cast<size_t>(i)], static_cast<std::byte>(masked >> 8 * i & 0xff));
  }
}

TEST(RecordWriter, IsReadBackWithEmptyAndLargeRecords) {
  const TempFolder folder;
  const std::vector<std::string> records = {"", "a", std::string(200'000, 'x'), "", "end"};
  write(folder.file("a"), records);
  const Scan read = scan(get_file(folder.file("a")));
  EXPECT_EQ(read.records, records);
  EXPECT_EQ(read.end.kind(), ErrorKind::OutOfRange);
}

TEST(RecordWriter, WithoutARecordIsAnEmptyFile) {
  const TempFolder folder;
  write(folder.file("a"), {"old"});
  write(folder.file("a"), {});
  EXPECT_TRUE(get_file(folder.file("a")).empty());
  EXPECT_EQ(scan({}).end.kind(), ErrorKind::OutOfRange);
}

TEST(RecordWriter, ShowsWholeRecordsAtEachFlush) {
  const TempFolder folder;
  auto writer = RecordWriter::open(folder.file("a")).value();
  ASSERT_TRUE(writer->append("a"));
  EXPECT_TRUE(get_file(folder.file("a")).empty());
  ASSERT_TRUE(writer->flush());
  EXPECT_THAT(scan(get_file(folder.file("a"))).records, ElementsAre("a"));
  ASSERT_TRUE(writer->append(std::string(100'000, 'b')));
  EXPECT_EQ(scan(get_file(folder.file("a"))).records.size(), 2U);
  EXPECT_EQ(writer->path(), folder.file("a"));
}

TEST(RecordWriter, RefusesAppendAndFlushAfterCloseAndClosesTwice) {
  const TempFolder folder;
  auto writer = RecordWriter::open(folder.file("a")).value();
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(writer->append("a").error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(writer->flush().error().message(), folder.file("a") + ": flush after close");
  EXPECT_TRUE(writer->close());
}

TEST(RecordWriter, ReportsAFullDiskAndStaysFailed) {
  auto writer = RecordWriter::open("/dev/full").value();
  ASSERT_TRUE(writer->append("a"));
  const Error error = writer->flush().error();
  EXPECT_EQ(error.kind(), ErrorKind::ResourceExhausted);
  EXPECT_THAT(error.message(), HasSubstr("/dev/full"));
  EXPECT_EQ(writer->append("b").error().message(), error.message());
  for (int round = 0; round < 2; ++round) EXPECT_EQ(writer->close().error().message(), error.message());
}

// More than the child has room for at any time, whatever was freed before.
TEST(RecordWriter, ARecordThatHasNoRoomInMemoryLeavesNothing) {
  const TempFolder folder;
  const std::string large(200'000'000, 'x');
  for (const auto compression : {Compression::none, Compression::gzip}) {
    const auto writer =
        RecordWriter::open(folder.file("a"), {.mode = WriteMode::in_place, .compression = compression}).value();
    EXPECT_OUT_OF_MEMORY([&] {
      const bool first = writer->append("abc").has_value();
      auto failed = writer->append(large);
      const bool rest = writer->append("de") && writer->close() && writer->records() == 2;
      return first && rest ? failed : Result<void>();
    });
    EXPECT_THAT(read(folder.file("a")), ElementsAre("abc", "de"));
  }
}

TEST(RecordWriter, LogsWhatItsDestructorCannotWrite) {
  std::string line;
  const LogSink old = set_log_sink([&](LogLevel, std::string_view text) { line = text; });
  EXPECT_TRUE(RecordWriter::open("/dev/full").value()->append("a"));
  set_log_sink(old);
  EXPECT_THAT(line, AllOf(HasSubstr("/dev/full"), HasSubstr("ENOSPC")));
}

TEST(RecordWriter, ReportsEachSystemCallThatFails) {
  const TempFolder folder;
  for (const std::string_view failing : {"open", "write", "fsync", "close"}) {
    const FaultInjection fault([&](std::string_view call) { return Fault{.error = call == failing ? EIO : 0}; });
    auto writer = RecordWriter::open(folder.file("a"));
    ASSERT_EQ(writer.has_value(), failing != "open");
    if (!writer) continue;
    ASSERT_TRUE((*writer)->append("a"));
    EXPECT_EQ((*writer)->close().error().kind(), ErrorKind::DataLoss) << failing;
  }
  EXPECT_EQ(RecordWriter::open(folder.file("none/a")).error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(RecordWriter::open(folder.path()).error().kind(), ErrorKind::FailedPrecondition);
}

TEST(RecordWriter, ReplacesTheFileAtCloseAndNotBefore) {
  const TempFolder folder;
  write(folder.file("a"), {"old"});
  auto writer = RecordWriter::open(folder.file("a"), {}).value();
  ASSERT_TRUE(writer->append("new") && writer->flush());
  EXPECT_THAT(read(folder.file("a")), ElementsAre("old"));
  ASSERT_TRUE(writer->close() && writer->close());
  EXPECT_THAT(read(folder.file("a")), ElementsAre("new"));
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_EQ(writer->append("x").error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(writer->flush().error().kind(), ErrorKind::FailedPrecondition);
}

TEST(RecordWriter, ThatIsDroppedLeavesTheOldFile) {
  const TempFolder folder;
  write(folder.file("a"), {"old"});
  ASSERT_TRUE(RecordWriter::open(folder.file("a"), {}).value()->append("new"));
  EXPECT_THAT(read(folder.file("a")), ElementsAre("old"));
  EXPECT_EQ(folder.count(), 1U);
}

TEST(RecordWriter, LeavesTheOldFileWhenAnySystemCallOfAReplacementFails) {
  const TempFolder folder;
  write(folder.file("a"), {"old"});
  for (const std::string_view failing : {"open", "write", "fsync", "close", "rename"}) {
    {
      const FaultInjection fault([&](std::string_view call) { return Fault{.error = call == failing ? ENOSPC : 0}; });
      auto writer = RecordWriter::open(folder.file("a"), {});
      ASSERT_EQ(writer.has_value(), failing != "open");
      if (writer) {
        ASSERT_TRUE((*writer)->append("new"));
        EXPECT_EQ((*writer)->close().error().kind(), ErrorKind::ResourceExhausted) << failing;
      }
    }
    EXPECT_THAT(read(folder.file("a")), ElementsAre("old")) << failing;
    EXPECT_EQ(folder.count(), 1U) << failing;
  }
}

TEST(RecordWriter, ThatCouldNotReplaceTheFileSaysSoAtEveryClose) {
  const TempFolder folder;
  for (const std::string_view failing : {"write", "fsync", "close", "rename"}) {
    auto writer = RecordWriter::open(folder.file("a"), {}).value();
    ASSERT_TRUE(writer->append("new"));
    Error error;
    {
      const FaultInjection fault([&](std::string_view call) { return Fault{.error = call == failing ? ENOSPC : 0}; });
      error = writer->close().error();
    }
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(writer->close().error().message(), error.message()) << failing;
      EXPECT_EQ(writer->append("b").error().message(), error.message());
      EXPECT_EQ(writer->flush().error().message(), error.message());
    }
  }
}

TEST(RecordWriter, SaysAtEveryCloseThatItsFolderIsNotOnTheDisk) {
  const TempFolder folder;
  for (const WriteMode mode : {WriteMode::replace, WriteMode::in_place, WriteMode::append}) {
    std::filesystem::remove(folder.file("a"));
    auto writer = RecordWriter::open(folder.file("a"), {.mode = mode}).value();
    {
      int calls = 0;
      const FaultInjection fault(
          [&](std::string_view call) { return Fault{.error = call == "fsync" && ++calls == 2 ? EIO : 0}; });
      EXPECT_EQ(writer->close().error().kind(), ErrorKind::DataLoss);
    }
    EXPECT_EQ(writer->close().error().kind(), ErrorKind::DataLoss);
  }
}

TEST(RecordWriter, NeedsNoRightToReadTheFolderOfAFileThatWasThere) {
  const TempFolder folder;
  write(folder.file("a"), {"abc"});
  for (const WriteMode mode : {WriteMode::in_place, WriteMode::append}) {
    auto writer = RecordWriter::open(folder.file("a"), {.mode = mode}).value();
    const FaultInjection fault([&](std::string_view call) { return Fault{.error = call == "open" ? EACCES : 0}; });
    EXPECT_TRUE(writer->close());
  }
}

TEST(RecordWriter, CompressesByGzipAndZlib) {
  const TempFolder folder;
  const std::vector<std::string> records = {"", "a", std::string(200'000, 'x'), "end"};
  for (const auto compression : {Compression::gzip, Compression::zlib}) {
    auto writer = RecordWriter::open(folder.file("a"), {.compression = compression, .level = 9}).value();
    for (const auto& record : records) ASSERT_TRUE(writer->append(record));
    ASSERT_TRUE(writer->close());
    EXPECT_EQ(writer->records(), 4U);
    EXPECT_EQ(RecordReader::open(folder.file("a")).value()->compression(), compression);
    EXPECT_EQ(read(folder.file("a")), records);
    EXPECT_LT(get_file(folder.file("a")).size(), 1'000U);
  }
  EXPECT_EQ(RecordWriter::open(folder.file("b"), {.compression = Compression::snappy}).error().kind(),
            ErrorKind::InvalidArgument);
  EXPECT_EQ(RecordWriter::open(folder.file("b"), {.compression = Compression::gzip, .level = 10}).error().kind(),
            ErrorKind::InvalidArgument);
  EXPECT_EQ(folder.count(), 1U);
}

TEST(RecordWriter, ShowsCompressedRecordsAtEachFlush) {
  const TempFolder folder;
  auto writer =
      RecordWriter::open(folder.file("a"), {.mode = WriteMode::in_place, .compression = Compression::gzip}).value();
  ASSERT_TRUE(writer->append("abc") && writer->flush());
  EXPECT_THAT(test::scan(RecordReader::open(folder.file("a"))).records, ElementsAre("abc"));
}

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

// Whatever a crash left behind it.
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
  write(folder.file("a"), {"abc"});
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
    EXPECT_THAT(error.message(), HasSubstr(folder.file("a")));
    EXPECT_EQ(get_file(folder.file("a")), bytes);
  }
  EXPECT_EQ(RecordWriter::open(folder.file("b"), {.mode = WriteMode::append, .compression = Compression::gzip})
                .error()
                .kind(),
            ErrorKind::Unimplemented);
}

}  // namespace
}  // namespace headpond
