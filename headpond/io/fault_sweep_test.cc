// SPDX-License-Identifier: Apache-2.0
// Row 109 of the list of faults for what this room reads and writes: each system call fails once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "headpond/base/log.h"
#include "headpond/io/archive/tar.h"
#include "headpond/io/archive/tar_test_internal.h"
#include "headpond/io/array/idx.h"
#include "headpond/io/array/npy.h"
#include "headpond/io/fault_sweep_test_internal.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/file_writer.h"
#include "headpond/io/file/locked_file.h"
#include "headpond/io/record/fixed_length.h"
#include "headpond/io/record/index/record_index.h"
#include "headpond/io/record/record_file.h"
#include "headpond/io/record/record_test_internal.h"
#include "headpond/io/record/record_writer.h"
#include "headpond/io/text/csv.h"
#include "headpond/io/text/line_file.h"
#include "headpond/io/text/text_lines.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::Bytes;
using test::frames_of;
using test::get_file;
using test::put_file;
using test::sweep_faults;
using test::SweptCall;
using test::to_bytes;
using testing::IsSupersetOf;

class FaultSweepTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1);
    old_sink_ = set_log_sink([](LogLevel, std::string_view) {});
  }
  void TearDown() override { set_log_sink(old_sink_); }
  std::string path() const { return folder_.file("a"); }
  std::string content() const { return test::text_of(get_file(path())); }
  std::vector<std::string> sweep_reading(const Bytes& bytes, const std::function<Result<std::string>()>& run) const {
    return sweep_faults({.folder = folder_.path(),
                         .named = path(),
                         .named_once = true,
                         .prepare = [&] { put_file(path(), bytes); },
                         .run = run,
                         .may_fail = [](const SweptCall& call) { return call.name == "stat"; }});
  }

  const test::TempFolder folder_;
  LogSink old_sink_;
};

// Seeds of text that deflate cannot shorten much: a stream of several buffers.
std::string noise(size_t bytes) {
  std::string text;
  for (uint64_t x = 1; text.size() < bytes; x = x * 6364136223846793005U + 1442695040888963407U) {
    text.push_back(static_cast<char>('a' + (x >> 60)));
  }
  return text;
}

const std::vector<std::string> kRecords = {"first", "", noise(100'000), "last"};

Result<std::string> write_records(const std::string& path, const RecordWriterOptions& options) {
  auto writer = RecordWriter::open(path, options);
  if (!writer) return fail(writer.error());
  for (const std::string& record : kRecords) HEADPOND_TRY((*writer)->append(record));
  HEADPOND_TRY((*writer)->flush());
  HEADPOND_TRY((*writer)->append("after"));
  HEADPOND_TRY((*writer)->close());
  return test::text_of(get_file(path));
}

TEST_F(FaultSweepTest, AReplacingRecordWriterLeavesTheOldFileOrTheNewOne) {
  const std::string old = test::text_of(frames_of({"old"}));
  for (const auto compression : {Compression::none, Compression::gzip}) {
    const RecordWriterOptions options = {.compression = compression};
    const std::string whole = write_records(path(), options).value();
    const auto calls = sweep_faults({.folder = folder_.path(),
                                     .named = folder_.path(),
                                     .prepare = [&] { put_file(path(), to_bytes(old)); },
                                     .run = [&] { return write_records(path(), options); },
                                     .may_fail = [](const SweptCall& call) { return call.name == "stat"; },
                                     .after_failure = [&] { EXPECT_TRUE(content() == old || content() == whole); }});
    EXPECT_THAT(calls, IsSupersetOf({"open", "write", "fsync", "close", "rename"}));
  }
}

TEST_F(FaultSweepTest, ARecordWriterInPlaceWorksAgainAfterwards) {
  for (const bool is_new : {false, true}) {
    for (const auto compression : {Compression::none, Compression::gzip, Compression::zlib}) {
      const RecordWriterOptions options = {.mode = WriteMode::in_place, .compression = compression};
      const auto prepare = [&] {
        unlink(path().c_str());
        if (!is_new) put_file(path(), frames_of({"old"}));
      };
      const auto calls = sweep_faults({.folder = folder_.path(),
                                       .named = folder_.path(),
                                       .prepare = prepare,
                                       .run = [&] { return write_records(path(), options); },
                                       .may_fail = [](const SweptCall& call) { return call.name == "stat"; }});
      EXPECT_THAT(calls, IsSupersetOf({"open", "write", "write", "fsync", "close"}));
    }
  }
}

TEST_F(FaultSweepTest, AnAppendingRecordWriterLosesNoRecordThatWasThere) {
  Bytes torn = frames_of({"old", "older"});
  torn.insert(torn.end(), 5, std::byte{7});
  const auto after_failure = [&] {
    ASSERT_TRUE(RecordWriter::open(path(), {.mode = WriteMode::append})) << "the next one cuts off what is torn";
    std::vector<std::string> whole = {"old", "older"};
    whole.insert(whole.end(), kRecords.begin(), kRecords.end());
    whole.emplace_back("after");
    const auto found = test::read(path());
    ASSERT_GE(found.size(), 2U);
    ASSERT_LE(found.size(), whole.size());
    EXPECT_TRUE(std::equal(found.begin(), found.end(), whole.begin()));
  };
  const auto calls = sweep_faults({.folder = folder_.path(),
                                   .named = folder_.path(),
                                   .prepare = [&] { put_file(path(), torn); },
                                   .run = [&] { return write_records(path(), {.mode = WriteMode::append}); },
                                   .may_fail = [](const SweptCall& call) { return call.name == "stat"; },
                                   .after_failure = after_failure,
                                   .prepares_again = true});
  EXPECT_THAT(calls, IsSupersetOf({"open", "fstat", "flock", "mmap", "ftruncate", "write", "fsync", "close"}));
}

Result<std::string> read_by_number(const std::string& path) {
  const auto file = RecordFile::open(path);
  if (!file) return fail(file.error());
  std::string all;
  for (uint64_t i = 0; i < (*file)->size(); ++i) {
    const auto record = (*file)->at(i);
    if (!record) return fail(record.error());
    all += test::text_of(*record) + "|";
  }
  HEADPOND_TRY((*file)->check());
  return all;
}

// Only the calls that open and map the record file count; index failures are not reported.
bool is_after_the_first_mmap(const SweptCall& call, const std::vector<std::string>& calls) {
  const auto mapped = std::find(calls.begin(), calls.end(), "mmap");
  return call.number > static_cast<size_t>(mapped - calls.begin());
}

TEST_F(FaultSweepTest, ARecordFileIsReadWhateverBecomesOfItsIndex) {
  const Bytes bytes = frames_of(kRecords);
  const std::vector<std::string> opening = {"open", "fstat", "mmap"};
  for (const bool has_index : {false, true}) {
    const auto prepare = [&] {
      put_file(path(), bytes);
      std::filesystem::remove_all(folder_.file("cache"));
      if (has_index) {
        ASSERT_TRUE(RecordFile::open(path()));
      }
    };
    const auto calls =
        sweep_faults({.folder = folder_.path(),
                      .named = path(),
                      .named_once = true,
                      .prepare = prepare,
                      .run = [&] { return read_by_number(path()); },
                      .may_fail = [&](const SweptCall& call) { return is_after_the_first_mmap(call, opening); }});
    EXPECT_EQ(std::vector(calls.begin(), calls.begin() + 3), opening);
    EXPECT_THAT(calls, has_index ? IsSupersetOf({"open", "open", "read"})
                                 : IsSupersetOf({"mkdir", "open", "write", "close", "rename"}));
    EXPECT_THAT(calls, testing::Not(testing::Contains("fsync"))) << "an index has a checksum";
    EXPECT_TRUE(RecordFile::open(path()).value()->index_was_kept());
  }
}

// An index that cannot be read just now still knows more than the file.
TEST_F(FaultSweepTest, AnIndexThatKnowsOfACutIsNotReplacedWhenItCannotBeRead) {
  const std::vector<std::string> records(5, std::string(5'000, 'x'));
  const auto prepare = [&] {
    std::filesystem::remove_all(folder_.file("cache"));
    put_file(path(), frames_of(records));
    ASSERT_TRUE(RecordFile::open(path()));
    ASSERT_EQ(truncate(path().c_str(), 3 * 5'016), 0);
  };
  const auto run = [&]() -> Result<std::string> {
    (void)RecordFile::open(path());
    return std::string();
  };
  const auto after = [&] { EXPECT_EQ(RecordFile::open(path()).error().kind(), ErrorKind::DataLoss); };
  prepare();
  const size_t calls =
      sweep_faults({folder_.path(), path(), true, prepare, run, [](const SweptCall&) { return true; }}).size();
  for (size_t failing = 0; failing < calls; ++failing) {
    SCOPED_TRACE(failing);
    prepare();
    {
      const internal::FaultInjection fault([&, number = size_t{0}](std::string_view) mutable {
        return internal::Fault{.error = number++ == failing ? EMFILE : 0};
      });
      (void)run();
    }
    after();
  }
}

TEST_F(FaultSweepTest, ARecordReaderTellsEachFailure) {
  const auto run = [&]() -> Result<std::string> {
    test::Scan all = test::scan(RecordReader::open(path()));
    if (all.end) return fail(all.end);
    std::string text;
    for (const std::string& record : all.records) text += record + "|";
    return text;
  };
  const Bytes plain = frames_of(kRecords);
  EXPECT_THAT(sweep_reading(plain, run), IsSupersetOf({"open", "fstat", "mmap"}));
  EXPECT_THAT(sweep_reading(test::gzip(plain), run), IsSupersetOf({"open", "fstat", "mmap", "read", "read"}));
}

TEST_F(FaultSweepTest, AFileWriterAndARenameWorkAgainAfterwards) {
  const std::string temp = path() + ".part";
  const auto run = [&]() -> Result<std::string> {
    auto writer = FileWriter::open(temp);
    if (!writer) return fail(writer.error());
    HEADPOND_TRY((*writer)->write(kRecords[2]));
    HEADPOND_TRY((*writer)->write("end"));
    HEADPOND_TRY((*writer)->close());
    HEADPOND_TRY(rename_file(temp, path()));
    return content();
  };
  const auto prepare = [&] { put_file(path(), to_bytes("old")); };
  const auto calls = sweep_faults(
      {.folder = folder_.path(), .named = folder_.path(), .prepare = prepare, .run = run, .after_failure = [&] {
         EXPECT_TRUE(content() == "old" || content().size() == 100'003);
       }});
  EXPECT_THAT(calls, IsSupersetOf({"open", "write", "write", "fsync", "close", "rename", "open", "fsync"}));
}

TEST_F(FaultSweepTest, AFileWrittenAtomicallyIsTheOldOneOrTheNewOne) {
  const auto run = [&]() -> Result<std::string> {
    HEADPOND_TRY(write_file_atomically(path(), {to_bytes("new"), to_bytes(" one")}));
    return content();
  };
  const auto calls =
      sweep_faults({.folder = folder_.path(),
                    .named = folder_.path(),
                    .prepare = [&] { put_file(path(), to_bytes("old")); },
                    .run = run,
                    .after_failure = [&] { EXPECT_TRUE(content() == "old" || content() == "new one"); }});
  EXPECT_THAT(calls, IsSupersetOf({"open", "write", "write", "fsync", "close", "rename", "open", "fsync"}));
}

TEST_F(FaultSweepTest, ALockedFileIsFreeAgainAndCanBeReplaced) {
  const auto run = [&]() -> Result<std::string> {
    auto file = LockedFile::open(path());
    if (!file) return fail(file.error());
    HEADPOND_TRY(file->replace("new text"));
    return file->text();
  };
  const auto calls = sweep_faults({.folder = folder_.path(),
                                   .named = folder_.path(),
                                   .prepare = [&] { put_file(path(), to_bytes("some old text")); },
                                   .run = run});
  EXPECT_THAT(calls, IsSupersetOf({"open", "fstat", "flock", "ftruncate", "write", "fsync", "open", "fsync", "read"}));
}

TEST_F(FaultSweepTest, TextsAreReadOrTheirFailureIsTold) {
  const auto csv = [&]() -> Result<std::string> {
    const auto file = CsvFile::open(path(), {.columns = {{"a"}, {"b"}}});
    if (!file) return fail(file.error());
    return std::to_string((*file)->size()) + " rows of " + std::to_string((*file)->fields().size());
  };
  const auto lines = [&]() -> Result<std::string> {
    const auto file = LineFile::open(path());
    if (!file) return fail(file.error());
    HEADPOND_TRY((*file)->check());
    return std::to_string((*file)->size()) + std::string((*file)->at(1).value());
  };
  const auto in_order = [&]() -> Result<std::string> {
    auto text = TextLines::open(path(), {.start = {2, 0}});
    if (!text) return fail(text.error());
    std::string all;
    while (true) {
      const auto line = text->next();
      if (!line) return fail(line.error());
      if (!*line) return all;
      all += std::string((*line)->text) + "|";
    }
  };
  const Bytes table = to_bytes("a,b\n1,x\n2,\"y\"\n" + noise(5) + ",z\n");
  for (const Bytes& bytes : {table, test::gzip(table)}) {
    EXPECT_THAT(sweep_reading(bytes, csv), IsSupersetOf({"open", "fstat", "mmap"}));
    EXPECT_THAT(sweep_reading(bytes, lines), IsSupersetOf({"open", "fstat", "mmap"}));
  }
  EXPECT_THAT(sweep_reading(table, in_order), IsSupersetOf({"open", "fstat", "lseek", "read"}));
}

TEST_F(FaultSweepTest, ArraysAndRecordsOfOneLengthAreReadOrTheirFailureIsTold) {
  ASSERT_TRUE(write_npy(path(), Tensor::from(std::span<const int32_t>(std::vector<int32_t>{1, 2, 3, 4}), {2, 2})));
  const Bytes array = get_file(path());
  const auto rows = [&]() -> Result<std::string> {
    const auto file = NpyFile::open(path());
    if (!file) return fail(file.error());
    Bytes row(8);
    HEADPOND_TRY((*file)->read(1, row.data()));
    return test::text_of(row);
  };
  EXPECT_THAT(sweep_reading(array, rows), IsSupersetOf({"open", "fstat", "mmap"}));
  const auto any = [&]() -> Result<std::string> {
    const auto file = FixedLengthFile::open(path(), {.record_bytes = 4});
    if (!file) return fail(file.error());
    Bytes record(4);
    HEADPOND_TRY(file->read(1, record));
    return test::text_of(record);
  };
  const auto in_order = [&]() -> Result<std::string> {
    auto reader = FixedLengthReader::open(path(), {.record_bytes = 4}, 1);
    if (!reader) return fail(reader.error());
    std::string all;
    while (true) {
      const auto record = reader->next();
      if (!record) return fail(record.error());
      if (!*record) return all;
      all += test::text_of(**record) + "|";
    }
  };
  EXPECT_THAT(sweep_reading(to_bytes("aaaabbbbcccc"), any), IsSupersetOf({"open", "fstat", "mmap"}));
  EXPECT_THAT(sweep_reading(to_bytes("aaaabbbbcccc"), in_order), IsSupersetOf({"open", "fstat", "lseek", "read"}));
}

TEST_F(FaultSweepTest, AnArchiveIsIndexedAndWholeFilesAreReadOrTheirFailureIsTold) {
  const auto tar = [&]() -> Result<std::string> {
    const auto file = MappedFile::open(path());
    if (!file) return fail(file.error());
    const auto index = index_tar((*file)->bytes(), path());
    if (!index) return fail(index.error());
    HEADPOND_TRY((*file)->check());
    return index->members.at(1).name;
  };
  const Bytes archive = to_bytes(test::file("a.txt", "1") + test::file("b.txt", "2") + test::end());
  EXPECT_THAT(sweep_reading(archive, tar), IsSupersetOf({"open", "fstat", "mmap"}));
  const auto digest = [&]() -> Result<std::string> {
    const auto found = digest_of_file(path());
    if (!found) return fail(found.error());
    return std::to_string(*found);
  };
  EXPECT_THAT(sweep_reading(archive, digest), IsSupersetOf({"open", "fstat", "mmap"}));
  ASSERT_TRUE(write_idx(path(), Tensor::from(std::span<const uint8_t>(std::vector<uint8_t>{1, 2}), {2})));
  const auto idx = [&]() -> Result<std::string> {
    const auto tensor = read_idx(path());
    if (!tensor) return fail(tensor.error());
    return std::to_string(tensor->as<uint8_t>()[1]);
  };
  EXPECT_THAT(sweep_reading(get_file(path()), idx), IsSupersetOf({"open", "fstat", "read"}));
}

}  // namespace
}  // namespace headpond
