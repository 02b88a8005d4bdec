// SPDX-License-Identifier: Apache-2.0
#include "headpond/tf1/readers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "headpond/io/memory_test_internal.h"
#include "headpond/io/record/record_writer.h"
#include "headpond/io/zlib_test_internal.h"
#include "headpond/queue/queue_test_internal.h"
#include "tests/test_files.h"

namespace headpond::tf1 {
namespace {

using headpond::internal::QueueTest;
using headpond::internal::refusal;
using test::put_file;
using test::TempFolder;
using test::to_bytes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Files : public QueueTest {
 protected:
  std::string put(const std::string& name, const std::string& content) {
    put_file(folder_.file(name), to_bytes(content));
    return folder_.file(name);
  }
  std::string put_records(const std::string& name, const std::vector<std::string>& records,
                          Compression compression = Compression::none) {
    const auto writer = RecordWriter::open(folder_.file(name), {.compression = compression}).value();
    for (const auto& record : records) EXPECT_TRUE(writer->append(record));
    EXPECT_TRUE(writer->close());
    return folder_.file(name);
  }
  // A closed queue of names in the folder.
  FIFOQueue queue(const std::vector<std::string>& names) const {
    FIFOQueue queue({.capacity = -1, .dtypes = {bytes}, .shapes = {Shape{}}});
    for (const auto& name : names) EXPECT_TRUE(queue.enqueue({Tensor::scalar(folder_.file(name))}));
    EXPECT_TRUE(queue.close());
    return queue;
  }
  // "key=value" without the folder, until an error.
  std::vector<std::string> all(const Reader& reader, const Queue& queue, ErrorKind end = ErrorKind::OutOfRange) const {
    std::vector<std::string> all;
    while (true) {
      const auto record = reader.read(queue);
      if (!record) {
        EXPECT_EQ(record.error().kind(), end) << record.error();
        return all;
      }
      all.push_back(short_name(record->key) + "=" + record->value);
    }
  }
  std::string short_name(const std::string& key) const { return key.substr(folder_.path().size() + 1); }

  const TempFolder folder_;
};

TEST_F(Files, TextLinesHaveTheFilesNameAndTheLineAsTheirKey) {
  put("a", "1\n2\r\n");
  put("b", "");
  put("c", "\n3");
  const TextLineReader reader;
  EXPECT_THAT(all(reader, queue({"a", "b", "c"})), ElementsAre("a:1=1", "a:2=2", "c:1=", "c:2=3"));
  EXPECT_EQ(reader.num_records_produced(), 4);
  EXPECT_EQ(reader.num_work_units_completed(), 3);
}

TEST_F(Files, HeaderLinesOfEachFileAreSkippedAndCounted) {
  put("a", "h\n1\n");
  put("b", "h");
  put("c", "h\n2");
  EXPECT_THAT(all(TextLineReader({.skip_header_lines = 1}), queue({"a", "b", "c"})), ElementsAre("a:2=1", "c:2=2"));
}

TEST_F(Files, FixedLengthRecordsAreNumberedFromZero) {
  put("a", "HabcdF");
  put("b", "HefF");
  const FixedLengthRecordReader reader({.record_bytes = 2, .header_bytes = 1, .footer_bytes = 1});
  EXPECT_THAT(all(reader, queue({"a", "b"})), ElementsAre("a:0=ab", "a:1=cd", "b:0=ef"));
  put("a", "abcd");
  EXPECT_THAT(all(FixedLengthRecordReader({.record_bytes = 3, .hop_bytes = 1}), queue({"a"})),
              ElementsAre("a:0=abc", "a:1=bcd"));
}

TEST_F(Files, FixedLengthRecordsOfGzipAndZlibFilesAreThoseOfTheInflatedBytes) {
  put_file(folder_.file("a"), test::gzip(to_bytes("HabcdF")));
  put_file(folder_.file("b"), test::zlib(to_bytes("HefF")));
  const FixedLengthOptions options = {.record_bytes = 2, .header_bytes = 1, .footer_bytes = 1};
  auto packed = options;
  packed.compression = Compression::gzip;
  EXPECT_THAT(all(FixedLengthRecordReader(packed), queue({"a"})), ElementsAre("a:0=ab", "a:1=cd"));
  packed.compression = Compression::zlib;
  EXPECT_THAT(all(FixedLengthRecordReader(packed), queue({"b"})), ElementsAre("b:0=ef"));
  EXPECT_EQ(
      FixedLengthRecordReader(packed).restore_state(FixedLengthRecordReader(options).serialize_state()).error().kind(),
      ErrorKind::FailedPrecondition);
}

TEST_F(Files, RecordsHaveTheirOffsetInTheirKey) {
  put_records("a", {"x", ""});
  put_records("b", {});
  put_records("c", {"yz"});
  EXPECT_THAT(all(TFRecordReader(), queue({"a", "b", "c"})), ElementsAre("a:0=x", "a:17=", "c:0=yz"));
}

TEST_F(Files, CompressedRecordsAreReadByTheFirstBytesAndHaveTheirInflatedOffset) {
  put_records("a", {"x", "y"}, Compression::gzip);
  put_records("b", {"z", std::string(100'000, 'z')}, Compression::zlib);
  put_records("c", {}, Compression::gzip);
  put_records("d", {"v"});
  EXPECT_THAT(all(TFRecordReader(), queue({"a", "b", "c", "d"})),
              ElementsAre("a:0=x", "a:17=y", "b:0=z", "b:17=" + std::string(100'000, 'z'), "d:0=v"));
}

TEST_F(Files, AnotherCompressionThanAskedForIsAnErrorAndTheNextFileFollows) {
  put_records("plain", {"x"});
  put_records("packed", {"y"}, Compression::gzip);
  for (const auto& [compression, good] : {std::pair(Compression::gzip, "packed"), {Compression::none, "plain"}}) {
    const TFRecordReader reader({.compression = compression});
    const FIFOQueue files = queue({"plain", "packed"});
    const size_t before = all(reader, files, ErrorKind::DataLoss).size(), after = all(reader, files).size();
    EXPECT_EQ(before + after, 1U) << good;
    EXPECT_EQ(reader.num_work_units_completed(), 1);
    EXPECT_THAT(all(reader, queue({good})), testing::SizeIs(1));
  }
  const std::string state = TFRecordReader({.compression = Compression::gzip}).serialize_state();
  EXPECT_EQ(TFRecordReader().restore_state(state).error().kind(), ErrorKind::FailedPrecondition);
}

TEST_F(Files, RecordsThatAreGoneWhenOneGoesOnAreDataLossAndNoEnd) {
  for (const auto compression : {Compression::none, Compression::gzip}) {
    put_records("a", {"x", "y"}, compression);
    const TFRecordReader reader, restored;
    const FIFOQueue files = queue({"a", "a"});
    ASSERT_TRUE(reader.read_up_to(files, 2));
    ASSERT_TRUE(restored.restore_state(reader.serialize_state()));
    put_records("a", {"x"}, compression);
    EXPECT_EQ(restored.read(files).error().kind(), ErrorKind::DataLoss);
    EXPECT_EQ(restored.read(files)->value, "x");
  }
}

TEST_F(Files, AWholeFileIsOneRecordAndItsUnitIsCompletedWithIt) {
  put("a", "1\n2");
  put("b", "");
  const WholeFileReader reader;
  const FIFOQueue files = queue({"a", "b"});
  EXPECT_EQ(reader.read(files)->value, "1\n2");
  EXPECT_EQ(reader.num_work_units_completed(), 1);
  EXPECT_THAT(all(reader, files), ElementsAre("b="));
  EXPECT_EQ(reader.num_work_units_completed(), 2);
}

TEST_F(Files, TheIdentityGivesTheNameAndOpensNothing) {
  const auto record = IdentityReader().read(queue({"no such file"}));
  EXPECT_EQ(record->key, folder_.file("no such file"));
  EXPECT_EQ(record->value, record->key);
}

TEST_F(Files, AUnitIsCompletedByTheCallThatLooksPastItsLastRecord) {
  put("a", "1\n2\n");
  const TextLineReader reader;
  const FIFOQueue files = queue({"a"});
  for (int i = 1; i <= 2; ++i) {
    EXPECT_TRUE(reader.read(files));
    EXPECT_EQ(reader.num_records_produced(), i);
    EXPECT_EQ(reader.num_work_units_completed(), 0);
  }
  EXPECT_FALSE(reader.read(files));
  EXPECT_EQ(reader.num_work_units_completed(), 1);
}

TEST_F(Files, ReadUpToStopsAtTheEndOfAFileOnceItHasSomething) {
  put("empty", "");
  put("a", "1\n2\n3\n");
  put("b", "4\n");
  const TextLineReader reader;
  const FIFOQueue files = queue({"empty", "a", "b"});
  const auto count = [&](int64_t n) { return reader.read_up_to(files, n)->size(); };
  EXPECT_EQ(count(2), 2U);
  EXPECT_EQ(count(2), 1U);
  EXPECT_EQ(reader.num_work_units_completed(), 2);
  EXPECT_EQ(count(1), 1U);
  EXPECT_EQ(reader.read_up_to(files, 1).error().kind(), ErrorKind::OutOfRange);
  EXPECT_EQ(reader.read_up_to(files, 0).error().kind(), ErrorKind::InvalidArgument);
}

TEST_F(Files, AFileThatFailsIsGivenUpAndTheNextOneFollows) {
  put("a", "1\n");
  put_records("cut", {"x", "y"});
  std::filesystem::resize_file(folder_.file("cut"), 20);
  put_records("c", {"z"});
  const TextLineReader reader;
  FIFOQueue files = queue({"missing", "a"});
  const auto missing = reader.read(files);
  EXPECT_EQ(missing.error().kind(), ErrorKind::NotFound);
  EXPECT_THAT(missing.error().message(), HasSubstr(folder_.file("missing")));
  EXPECT_THAT(all(reader, files), ElementsAre("a:1=1"));
  EXPECT_EQ(reader.num_work_units_completed(), 1);

  const TFRecordReader records;
  files = queue({"cut", "c"});
  EXPECT_EQ(records.read_up_to(files, 10)->size(), 1U);
  const auto cut = records.read_up_to(files, 10);
  EXPECT_EQ(cut.error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(cut.error().message(), HasSubstr("17"));
  EXPECT_THAT(all(records, files), ElementsAre("c:0=z"));
}

TEST_F(Files, AMissingFileOfAListAndAFolderAreNamedByEachReaderAndTheOthersFollow) {
  put("text", "ab");
  put_records("records", {"x"});
  std::filesystem::create_directory(folder_.file("folder"));
  const auto check = [&](const Reader& reader, const std::string& good) {
    const FIFOQueue files = queue({good, "missing", "folder", good});
    EXPECT_TRUE(reader.read(files));
    const auto missing = reader.read(files), folder = reader.read(files);
    EXPECT_EQ(missing.error().kind(), ErrorKind::NotFound);
    EXPECT_THAT(missing.error().message(), HasSubstr(folder_.file("missing")));
    EXPECT_EQ(folder.error().kind(), ErrorKind::FailedPrecondition);
    EXPECT_THAT(folder.error().message(), HasSubstr(folder_.file("folder")));
    EXPECT_TRUE(reader.read(files));
    EXPECT_EQ(reader.read(files).error().kind(), ErrorKind::OutOfRange);
    EXPECT_EQ(reader.num_records_produced(), 2);
  };
  check(WholeFileReader(), "text");
  check(TextLineReader(), "text");
  check(FixedLengthRecordReader({.record_bytes = 2}), "text");
  check(TFRecordReader(), "records");
}

TEST_F(Files, APartialLastRecordIsAnErrorAfterTheWholeOnes) {
  put("a", "abcde");
  EXPECT_THAT(all(FixedLengthRecordReader({.record_bytes = 2}), queue({"a"}), ErrorKind::DataLoss),
              ElementsAre("a:0=ab", "a:1=cd"));
}

TEST_F(Files, ATooLongLineIsAnErrorWithItsPlace) {
  put("a", "123\n12345\n");
  const TextLineReader reader({.max_line_bytes = 3});
  const FIFOQueue files = queue({"a"});
  ASSERT_TRUE(reader.read(files));
  EXPECT_THAT(reader.read(files).error().message(), HasSubstr("line 2 at offset 4"));
}

TEST_F(Files, AnErrorAfterGoodRecordsIsToldAfterARestoreToo) {
  put("a", "1\n2\n12345\n3\n");
  const TextLineReader reader({.max_line_bytes = 3}), restored({.max_line_bytes = 3});
  const FIFOQueue files = queue({"a"});
  EXPECT_EQ(reader.read_up_to(files, 10)->size(), 2U);
  ASSERT_TRUE(restored.restore_state(reader.serialize_state()));
  EXPECT_THAT(reader.read(files).error().message(), HasSubstr("line 3 at offset 4"));
  EXPECT_THAT(restored.read(files).error().message(), HasSubstr("line 3 at offset 4"));
  EXPECT_EQ(restored.read(files).error().kind(), ErrorKind::OutOfRange);
}

TEST_F(Files, AFileLargerThanTheMemoryIsAnError) {
  put("large", "");
  std::filesystem::resize_file(folder_.file("large"), uint64_t{1} << 40);
  // The queue is made in the child that has no memory: one that was made before a fork() refuses its calls.
  EXPECT_OUT_OF_MEMORY([&] { return WholeFileReader().read(queue({"large"})); });
}

TEST_F(Files, TheQueuesOwnErrorsComeAsTheyAre) {
  const FIFOQueue open({.capacity = 1, .dtypes = {bytes}, .shapes = {Shape{}}, .name = "files"});
  const TextLineReader reader;
  EXPECT_EQ(reader.read(open, {.timeout = std::chrono::nanoseconds(0)}).error().kind(), ErrorKind::DeadlineExceeded);
  open.close_with_error({ErrorKind::NotFound, "no list"});
  const auto ended = reader.read(open);
  EXPECT_EQ(ended.error().kind(), ErrorKind::OutOfRange);
  EXPECT_EQ(ended.error().cause()->message(), "no list");
  const FIFOQueue numbers(headpond::internal::scalars(1));
  ASSERT_TRUE(numbers.enqueue(headpond::internal::number(1)));
  EXPECT_EQ(reader.read(numbers).error().kind(), ErrorKind::InvalidArgument);
}

TEST_F(Files, AnyReaderGoesOnFromItsStateAfterEachRecord) {
  put("text", "h\n1\n2\n");
  put("fixed", "abcdef");
  put_file(folder_.file("packed"), test::zlib(to_bytes("abcdef")));
  put_records("records", {"x", "", "yz"});
  put_records("gzip", {"x", "", std::string(300'000, 'y'), "z"}, Compression::gzip);
  const std::map<std::string, std::function<Reader()>> makers = {
      {"text", [] { return TextLineReader({.skip_header_lines = 1}); }},
      {"fixed", [] { return FixedLengthRecordReader({.record_bytes = 2}); }},
      {"packed", [] { return FixedLengthRecordReader({.record_bytes = 2, .compression = Compression::zlib}); }},
      {"records", [] { return TFRecordReader(); }},
      {"gzip", [] { return TFRecordReader({.compression = Compression::gzip}); }}};
  for (const auto& [name, make] : makers) {
    SCOPED_TRACE(name);
    const auto expected = all(make(), queue({name, name}));
    for (size_t given = 0; given <= expected.size(); ++given) {
      const Reader reader = make(), restored = make();
      const FIFOQueue files = queue({name, name});
      for (size_t i = 0; i < given; ++i) ASSERT_TRUE(reader.read(files));
      ASSERT_TRUE(restored.restore_state(reader.serialize_state()));
      EXPECT_EQ(restored.num_records_produced(), static_cast<int64_t>(given));
      EXPECT_EQ(all(restored, files),
                std::vector(expected.begin() + static_cast<std::ptrdiff_t>(given), expected.end()));
      EXPECT_EQ(restored.num_work_units_completed(), 2);
    }
  }
  const WholeFileReader whole;
  ASSERT_TRUE(whole.read(queue({"fixed"})));
  const WholeFileReader other;
  ASSERT_TRUE(other.restore_state(whole.serialize_state()));
  EXPECT_EQ(other.num_work_units_completed(), 1);
}

TEST_F(Files, AStateOfAnotherReaderIsRefusedAndChangesNothing) {
  put("a", "1\n2\n");
  const TextLineReader reader;
  const FIFOQueue files = queue({"a"});
  ASSERT_TRUE(reader.read(files));
  const auto refused = reader.restore_state(TextLineReader({.skip_header_lines = 1}).serialize_state());
  EXPECT_EQ(refused.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(refused.error().message(), HasSubstr("(skip_header_lines=1, max_line_bytes="));
  EXPECT_THAT(refused.error().message(), HasSubstr(", the reader is TextLineReader(skip_header_lines=0, "));
  const auto other_limit = reader.restore_state(TextLineReader({.max_line_bytes = 80}).serialize_state());
  ASSERT_FALSE(other_limit);
  EXPECT_EQ(other_limit.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(reader.restore_state("nonsense").error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(all(reader, files), ElementsAre("a:2=2"));
}

TEST_F(Files, AStateGoesOnAtItsPlaceInAFileThatChanged) {
  put("a", "1\n2\n");
  const TextLineReader reader, restored;
  ASSERT_TRUE(reader.read(queue({"a"})));
  ASSERT_TRUE(restored.restore_state(reader.serialize_state()));
  put("a", "x\nyy\nz\n");
  EXPECT_THAT(all(restored, queue({})), ElementsAre("a:2=yy", "a:3=z"));
}

TEST_F(Files, AResetForgetsTheFileAndTheCounts) {
  put("a", "1\n2\n");
  const TextLineReader reader;
  const FIFOQueue files = queue({"a", "a"});
  ASSERT_TRUE(reader.read(files));
  reader.reset();
  EXPECT_EQ(reader.num_records_produced(), 0);
  EXPECT_THAT(all(reader, files), ElementsAre("a:1=1", "a:2=2"));
  EXPECT_THAT(all(reader, files), IsEmpty());
}

TEST_F(Files, CopiesAreTheSameReader) {
  put("a", "1\n2\n");
  const TextLineReader reader;
  const Reader copy = reader;
  const FIFOQueue files = queue({"a"});
  ASSERT_TRUE(reader.read(files));
  EXPECT_THAT(all(copy, files), ElementsAre("a:2=2"));
}

TEST_F(Files, OptionsThatMakeNoSenseAreRefusedWhenTheReaderIsMade) {
  EXPECT_REFUSES("skip_header_lines is -1", TextLineReader({.skip_header_lines = -1}));
  EXPECT_REFUSES("0 bytes a record", FixedLengthRecordReader({.record_bytes = 0}));
  EXPECT_REFUSES("expected none, gzip or zlib",
                 FixedLengthRecordReader({.record_bytes = 1, .compression = Compression::snappy}));
  EXPECT_REFUSES("compression 77 is unknown", TFRecordReader({.compression = static_cast<Compression>(77)}));
}

}  // namespace
}  // namespace headpond::tf1
