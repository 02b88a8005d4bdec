// SPDX-License-Identifier: Apache-2.0
// Record files on a disk that change, vanish or are no files, and the real ones.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/record/record_source_internal.h"
#include "headpond/io/record/record_test_internal.h"
#include "headpond/io/record/record_writer.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::Fault;
using internal::FaultInjection;
using internal::RecordSource;
using test::Bytes;
using test::frame_of;
using test::frames_of;
using test::prefix;
using test::put_file;
using test::scan;
using test::Scan;
using test::TempFolder;
using test::test_data;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr RecordReaderOptions kSkip = {.on_damage = OnDamage::skip};

void add_to_file(const std::string& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(out.flush());
}

TEST(RecordSource, BringsBytesUntilTheEndInAnyPieces) {
  const Bytes bytes = frames_of({std::string(1'000'000, 'x'), "abc"});
  const Bytes packed = test::gzip(bytes);
  auto source = RecordSource::over("x", packed, {}).value();
  EXPECT_TRUE(source.is_stream());
  EXPECT_EQ(source.left(), 0U);
  while (source.more(bytes.size()).value()) EXPECT_LE(source.left(), bytes.size());
  EXPECT_EQ(Bytes(source.rest().begin(), source.rest().end()), bytes);
  EXPECT_EQ(source.pass(2'000'000).value(), bytes.size());
  EXPECT_EQ(source.offset(), bytes.size());
  ASSERT_TRUE(source.go_to(3));
  EXPECT_EQ(source.offset(), 3U);
  EXPECT_EQ(source.go_to(bytes.size() + 1).error().kind(), ErrorKind::OutOfRange);
}

TEST(RecordSource, OfAMappingIsAllAtHand) {
  const TempFolder folder;
  put_file(folder.file("a"), frames_of({"abc"}));
  auto source = RecordSource::open(folder.file("a"), {}).value();
  EXPECT_FALSE(source.is_stream());
  EXPECT_EQ(source.left(), 19U);
  EXPECT_FALSE(source.more(20).value());
  EXPECT_TRUE(source.check());
}

TEST(RecordFiles, GiveLaterRecordsWhenTheFileHasGrown) {
  const TempFolder folder;
  for (const std::vector<std::string>& first : {std::vector<std::string>{}, {"abc"}}) {
    put_file(folder.file("a"), frames_of(first));
    const auto reader = RecordReader::open(folder.file("a")).value();
    EXPECT_EQ(scan(*reader).records, first);
    EXPECT_EQ(scan(*reader).records.size(), 0U);
    const Bytes next = frame_of("later");
    add_to_file(folder.file("a"), prefix(next, 9));
    EXPECT_THAT(scan(*reader).end.message(), HasSubstr("truncated"));
    add_to_file(folder.file("a"), {next.begin() + 9, next.end()});
    EXPECT_THAT(scan(*reader).records, ElementsAre("later"));
    EXPECT_EQ(reader->position().record, first.size() + 1);
  }
}

TEST(RecordFiles, ARecordAboveTheLimitIsLeftOutWhenItHasArrived) {
  const TempFolder folder;
  const Bytes longer = frame_of(std::string(100, 'x'));
  put_file(folder.file("a"), test::joined({frame_of("abc"), prefix(longer, 32)}));
  const auto reader =
      RecordReader::open(folder.file("a"), {.on_damage = OnDamage::skip, .max_record_bytes = 10}).value();
  EXPECT_THAT(scan(*reader).records, ElementsAre("abc"));
  EXPECT_EQ(reader->counts().lost_bytes, 32U);
  add_to_file(folder.file("a"), {longer.begin() + 32, longer.end()});
  EXPECT_THAT(scan(*reader).records, IsEmpty());
  EXPECT_EQ(reader->counts().damaged, 1U);
  EXPECT_EQ(reader->counts().lost_bytes, 0U);
  add_to_file(folder.file("a"), frame_of("later"));
  EXPECT_THAT(scan(*reader).records, ElementsAre("later"));
  EXPECT_EQ(reader->position().record, 3U);
}

// The first bytes of these lengths are those of zlib and gzip.
TEST(RecordFiles, AFirstRecordThatArrivesInPiecesIsNeverTakenForCompressed) {
  const TempFolder folder;
  for (const size_t length : {376U, 35'615U}) {
    const std::string record(length, 'x');
    const Bytes whole = frame_of(record);
    for (size_t size = 1; size < 20; ++size) {
      put_file(folder.file("a"), prefix(whole, size));
      const auto reader = RecordReader::open(folder.file("a")).value();
      EXPECT_THAT(scan(*reader).end.message(), HasSubstr("truncated"));
      add_to_file(folder.file("a"), {whole.begin() + static_cast<ptrdiff_t>(size), whole.end()});
      EXPECT_THAT(scan(*reader).records, ElementsAre(record)) << size;
      EXPECT_EQ(reader->compression(), Compression::none);
    }
  }
}

TEST(RecordFiles, AReaderFollowsAWriter) {
  const TempFolder folder;
  auto writer = RecordWriter::open(folder.file("a")).value();
  const auto reader = RecordReader::open(folder.file("a")).value();
  constexpr size_t kRecords = 3'000;
  std::jthread writing([&] {
    for (size_t i = 0; i < kRecords; ++i) {
      ASSERT_TRUE(writer->append(fmt::format("record {} {}", i, std::string(i % 300, 'x'))));
      if (i % 10 == 0) {
        ASSERT_TRUE(writer->flush());
      }
    }
    ASSERT_TRUE(writer->close());
  });
  size_t seen = 0;
  while (seen < kRecords) {
    const auto payload = reader->next();
    if (!payload) {  // A write of which only a part has arrived.
      ASSERT_THAT(payload.error().message(), HasSubstr("truncated"));
    } else if (*payload) {
      ASSERT_EQ(test::text_of(**payload), fmt::format("record {} {}", seen, std::string(seen % 300, 'x')));
      ++seen;
    }
  }
}

TEST(RecordFiles, AFileThatShrinksIsDataLossAlsoUnderSkip) {
  const TempFolder folder;
  for (const OnDamage on_damage : {OnDamage::fail, OnDamage::skip}) {
    for (const size_t left : {0U, 10U, 5'016U, 5'100U, 20'000U}) {
      put_file(folder.file("a"), frames_of(std::vector<std::string>(10, std::string(5'000, 'x'))));
      const auto reader = RecordReader::open(folder.file("a"), {.on_damage = on_damage}).value();
      ASSERT_TRUE(reader->next().value());
      ASSERT_EQ(truncate(folder.file("a").c_str(), static_cast<off_t>(left)), 0);
      const Scan rest = scan(*reader);
      EXPECT_EQ(rest.end.kind(), ErrorKind::DataLoss) << left;
      EXPECT_THAT(rest.end.to_string(), AllOf(HasSubstr(folder.file("a")), HasSubstr("shrank")));
      for (const std::string& record : rest.records) EXPECT_EQ(record, std::string(5'000, 'x'));
    }
  }
}

TEST(RecordFiles, WhatChangesIsNamedWithItsRecordAndOffset) {
  const TempFolder folder;
  const std::vector<std::string> records(10, std::string(5'000, 'x'));
  put_file(folder.file("a"), frames_of(records));
  const auto reader = RecordReader::open(folder.file("a")).value();
  ASSERT_TRUE(reader->next().value());
  ASSERT_EQ(truncate(folder.file("a").c_str(), 10), 0);
  const Scan cut = scan(*reader);
  EXPECT_THAT(cut.end.message(),
              HasSubstr(fmt::format("record {} at offset {}", reader->position().record, reader->position().offset)));
  EXPECT_THAT(cut.end.to_string(), AllOf(HasSubstr(folder.file("a")), HasSubstr("shrank")));
  EXPECT_EQ(test::times_in(cut.end.to_string(), folder.file("a")), 1U) << cut.end;
}

TEST(RecordFiles, APayloadThatVanishesAfterItWasGivenIsToldByCheck) {
  const TempFolder folder;
  put_file(folder.file("a"), frames_of({std::string(50'000, 'x')}));
  const auto reader = RecordReader::open(folder.file("a")).value();
  const auto payload = *reader->next().value();
  EXPECT_TRUE(reader->check());
  ASSERT_EQ(truncate(folder.file("a").c_str(), 0), 0);
  EXPECT_EQ(payload[49'999], std::byte{0}) << "no end of the program";
  EXPECT_EQ(reader->check().error().kind(), ErrorKind::DataLoss);
}

// The rest of the last page becomes zeros without a fault.
TEST(RecordFiles, ACutInsideAPageIsToldByCheckToo) {
  const TempFolder folder;
  put_file(folder.file("a"), frames_of({std::string(3'000, 'x')}));
  const auto reader = RecordReader::open(folder.file("a")).value();
  const auto payload = *reader->next().value();
  EXPECT_TRUE(reader->check());
  ASSERT_EQ(truncate(folder.file("a").c_str(), 100), 0);
  EXPECT_EQ(payload[2'999], std::byte{0});
  EXPECT_EQ(reader->check().error().kind(), ErrorKind::DataLoss);
}

// As scan(), but asks after every copy whether it was the file's.
Scan scan_checked(RecordReader& reader) {
  Scan scan;
  while (true) {
    const auto payload = reader.next();
    if (!payload) scan.end = payload.error();
    if (!payload || !*payload) return scan;
    std::string record = test::text_of(**payload);
    if (const auto whole = reader.check(); !whole) {
      scan.end = whole.error();
      return scan;
    }
    scan.records.push_back(std::move(record));
  }
}

// Many threads, each with its own reader, while somebody cuts the file and writes it anew.
TEST(RecordFiles, NobodyReadsAMixWhileTheFileIsWrittenAnew) {
  const TempFolder folder;
  const std::vector<std::string> whole(200, std::string(999, 'a'));
  for (int round = 0; round < 20; ++round) {
    put_file(folder.file("a"), frames_of(whole));
    std::atomic<int> ready = 0, wrong = 0;
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&] {
        const auto reader = RecordReader::open(folder.file("a")).value();
        ++ready;
        for (int pass = 0; pass < 50; ++pass) {
          const Scan read = scan_checked(*reader);
          for (const std::string& record : read.records) wrong += record != whole[0];
          if (read.end) return void(wrong += read.end.kind() != ErrorKind::DataLoss);
          wrong += read.records.size() != whole.size();
          ASSERT_TRUE(reader->seek({}));
        }
      });
    }
    while (ready < 3) std::this_thread::yield();
    put_file(folder.file("a"), frames_of(std::vector<std::string>(20, std::string(777, 'b'))));
    threads.clear();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(RecordFiles, AReplacedFileIsReadToItsOldEnd) {
  const TempFolder folder;
  put_file(folder.file("a"), frames_of({"old", "older"}));
  const auto reader = RecordReader::open(folder.file("a")).value();
  ASSERT_TRUE(reader->next().value());
  ASSERT_TRUE(write_file_atomically(folder.file("a"), {frames_of({"new", "newer", "newest"})}));
  EXPECT_THAT(scan(*reader).records, ElementsAre("older"));
  EXPECT_THAT(scan(RecordReader::open(folder.file("a"))).records, ElementsAre("new", "newer", "newest"));
}

TEST(RecordFiles, OneWrittenAnewInPlaceIsDataLossAtTheEnd) {
  const TempFolder folder;
  put_file(folder.file("a"), frames_of({"old record", "another"}));
  const auto reader = RecordReader::open(folder.file("a")).value();
  ASSERT_TRUE(reader->next().value());
  put_file(folder.file("a"), frames_of({"new record", "another"}));
  const timespec later[2] = {{2'000'000'000, 0}, {2'000'000'000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, folder.file("a").c_str(), later, 0), 0);
  EXPECT_THAT(scan(*reader).end.to_string(), AllOf(HasSubstr(folder.file("a")), HasSubstr("rewritten")));
}

// What the inflater finds wrong is damage; what the system refuses is not.
TEST(RecordFiles, ACompressedFileThatShrinksIsDataLossAlsoUnderSkip) {
  const TempFolder folder;
  Random random(1);
  std::string noise(300'000, ' ');
  for (char& c : noise) c = static_cast<char>(random.below(256));
  for (const Bytes& bytes : {test::gzip(frames_of({"abc", noise})), test::zlib(frames_of({"abc", noise}))}) {
    put_file(folder.file("a"), bytes);
    const auto reader = RecordReader::open(folder.file("a"), kSkip).value();
    ASSERT_TRUE(reader->next().value());
    ASSERT_EQ(truncate(folder.file("a").c_str(), 150'000), 0);
    for (int round = 0; round < 2; ++round) {
      const Scan rest = scan(*reader);
      EXPECT_EQ(rest.end.kind(), ErrorKind::DataLoss);
      EXPECT_THAT(rest.end.to_string(), AllOf(HasSubstr("shrank"), HasSubstr("record 1")));
    }
    put_file(folder.file("a"), prefix(bytes, 150'000));
    EXPECT_FALSE(scan(RecordReader::open(folder.file("a"), kSkip)).end) << "cut before it was opened: damage";
  }
}

TEST(RecordFiles, WhatTheSystemCannotReadIsAnErrorAlsoUnderSkip) {
  const TempFolder folder;
  const Bytes frames = frames_of(std::vector<std::string>(100'000, "abc"));
  for (const Bytes& bytes : {frames, test::gzip(frames)}) {
    put_file(folder.file("a"), bytes);
    int reads = 0;
    const FaultInjection fault(
        [&](std::string_view call) { return Fault{.error = call == "read" && ++reads > 2 ? EIO : 0}; });
    const auto reader = RecordReader::over(open_stream_reader(folder.file("a")).value(), kSkip).value();
    const Scan read = scan(*reader);
    EXPECT_EQ(read.end.kind(), ErrorKind::DataLoss);
    EXPECT_THAT(read.end.to_string(), AllOf(HasSubstr(folder.file("a")), HasSubstr("EIO")));
    EXPECT_TRUE(scan(*reader).end);
  }
}

TEST(RecordFiles, MissingFoldersAndForbiddenOnesHaveTheirKinds) {
  const TempFolder folder;
  EXPECT_EQ(RecordReader::open(folder.file("none")).error().kind(), ErrorKind::NotFound);
  EXPECT_THAT(RecordReader::open(folder.file("none"), kSkip).error().message(), HasSubstr(folder.file("none")));
  EXPECT_EQ(RecordReader::open(folder.path()).error().kind(), ErrorKind::FailedPrecondition);
  put_file(folder.file("a"), frames_of({"abc"}));
  ASSERT_EQ(chmod(folder.file("a").c_str(), 0), 0);
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const auto reader = RecordReader::open(folder.file("a"));
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message(), AllOf(HasSubstr(folder.file("a")), HasSubstr("EACCES")));
}

TEST(RecordFiles, ADeletedFileIsReadToItsEnd) {
  const TempFolder folder;
  put_file(folder.file("a"), frames_of({"abc", "de"}));
  const auto reader = RecordReader::open(folder.file("a")).value();
  ASSERT_EQ(unlink(folder.file("a").c_str()), 0);
  const Scan read = scan(*reader);
  EXPECT_FALSE(read.end);
  EXPECT_THAT(read.records, ElementsAre("abc", "de"));
}

TEST(RecordFiles, ManyOpenReadersHoldNoDescriptors) {
  const TempFolder folder;
  put_file(folder.file("a"), frames_of({"abc"}));
  const auto descriptors = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  const auto before = descriptors();
  std::vector<std::unique_ptr<RecordReader>> readers;
  for (int i = 0; i < 3'000; ++i) readers.push_back(RecordReader::open(folder.file("a")).value());
  EXPECT_EQ(descriptors(), before);
  EXPECT_THAT(scan(*readers.back()).records, ElementsAre("abc"));
}

TEST(RecordFiles, APipeIsReadAsItComes) {
  const TempFolder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  std::jthread writing([&] { add_to_file(folder.file("pipe"), test::gzip(frames_of({"abc", "de"}))); });
  EXPECT_THAT(scan(RecordReader::open(folder.file("pipe"))).records, ElementsAre("abc", "de"));
}

size_t count_records(const std::string& folder) {
  size_t records = 0;
  EXPECT_TRUE(std::filesystem::is_directory(folder)) << folder;
  if (!std::filesystem::is_directory(folder)) return 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const Scan read = scan(RecordReader::open(entry.path().string()));
    EXPECT_FALSE(read.end) << read.end;
    records += read.records.size();
  }
  return records;
}

TEST(RealRecords, AllAreThereAndWhole) {
  const std::string data = test_data("tfx-records");
  if (data.empty()) GTEST_SKIP() << "no real data: HEADPOND_DATA is not set; with CI=true this is a failure";
  const std::string taxi = data + "/tfx/components/testdata/csv_example_gen/";
  EXPECT_EQ(count_records(taxi + "Split-train"), 9'909U);
  EXPECT_EQ(count_records(taxi + "Split-eval"), 5'091U);
  EXPECT_EQ(count_records(taxi + "unlabelled"), 2'459U);
  const Scan mnist =
      scan(RecordReader::open(data + "/tfx/examples/mnist/data/mnist.tfrecord", {.expected_records = 1'000}));
  EXPECT_FALSE(mnist.end) << mnist.end;
  EXPECT_EQ(mnist.records.size(), 1'000U);
}

}  // namespace
}  // namespace headpond
