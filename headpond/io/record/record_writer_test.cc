// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/record_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/base/log.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/memory_test_internal.h"
#include "headpond/io/record/record_frame.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/record/record_test_internal.h"
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
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
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

}  // namespace
}  // namespace headpond
