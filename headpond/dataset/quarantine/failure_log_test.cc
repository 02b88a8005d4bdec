// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/quarantine/failure_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "headpond/base/log.h"
#include "headpond/dataset/run_state.h"
#include "headpond/dataset/testing/structure_test_internal.h"
#include "headpond/io/file/system_test_internal.h"
#include "headpond/io/record/record_writer.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// 1, 4, 7, ... fail.
Dataset doubting(int64_t count, OnErrorOptions options = {.max_error_share = 1}) {
  const auto doubt = [](int64_t x) -> Result<int64_t> {
    if (x % 3 == 1) return fail(ErrorKind::DataLoss, fmt::format("no {}", x));
    return x;
  };
  return range(count) | map(doubt, {.name = "doubt"}) | on_error(std::move(options));
}

std::vector<QuarantineEntry> entries_of(const std::string& path) { return read_quarantine(path).value().entries; }

struct TestQuarantine {
  test::TempFolder folder;
  std::string path = folder.file("bad.jsonl");
  std::string text() const {
    const auto bytes = test::get_file(path);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::vector<int64_t> elements() const {
    std::vector<int64_t> all;
    for (const QuarantineEntry& entry : entries_of(path)) all.push_back(entry.element);
    return all;
  }
};

void take(Sequence& sequence, int count) {
  for (int i = 0; i < count; ++i) (void)sequence.next();
}

TEST(FailureLog, WritesWhatWasSkippedBeforeTheNextElementIsGiven) {
  const TestQuarantine q;
  Sequence sequence(doubting(8), {.quarantine = q.path});
  EXPECT_EQ(q.text(), "") << "it exists from the beginning";
  take(sequence, 1);
  EXPECT_THAT(q.elements(), IsEmpty());
  take(sequence, 1);
  EXPECT_THAT(q.elements(), ElementsAre(1));
  take(sequence, 3);
  EXPECT_THAT(q.elements(), ElementsAre(1, 4));
  EXPECT_TRUE(at_end(sequence.next()));
  EXPECT_THAT(q.elements(), ElementsAre(1, 4, 7)) << "also what is after the last good element";
  ASSERT_THAT(sequence.failed(), SizeIs(1));
  EXPECT_EQ(sequence.failed()[0].skipped, 3);
  EXPECT_THAT(sequence.failed()[0].op, HasSubstr("on_error(policy=skip"));
}

TEST(FailureLog, WarnsOfAFileThatStaysEmpty) {
  const TestQuarantine q;
  std::vector<std::string> lines;
  const LogSink before = set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  const Dataset made = range(2) | flat_map([](int64_t n) { return range(n) | on_error(); }, {.name = "made"});
  for (const Dataset& dataset : {doubting(3), doubting(3) | batch(2), made}) {
    Sequence sequence(dataset, {.quarantine = q.path});
    EXPECT_THAT(lines, IsEmpty()) << dataset.plan();
  }
  (void)Sequence(range(3));
  EXPECT_THAT(lines, IsEmpty());
  (void)Sequence(range(3) | batch(2), {.quarantine = q.path});
  set_log_sink(before);
  EXPECT_THAT(lines, ElementsAre(q.path + ": the pipeline has no on_error, so no failed element will be written here"));
}

TEST(FailureLog, SaysAllThatIsKnown) {
  const TestQuarantine q;
  const std::string records = q.folder.file("records");
  {
    const auto writer = RecordWriter::open(records).value();
    for (const char* text : {"10", "twenty", "30"})
      ASSERT_TRUE(writer->append(std::as_bytes(std::span(std::string_view(text)))));
    ASSERT_TRUE(writer->close());
  }
  const auto number = [](std::string_view text) -> Result<int64_t> {
    if (text.size() != 2) return fail(ErrorKind::InvalidArgument, fmt::format("'{}' is no number", text));
    return int64_t{text[0] - '0'};
  };
  const Dataset all = tfrecord(records, {.keep_index = false}) | map(number, {.name = "number"}) | on_error();
  Sequence sequence(all, {.seed = 7, .epochs = 2, .quarantine = q.path});
  take(sequence, 9);
  const auto entries = read_quarantine(q.path).value().entries;
  ASSERT_THAT(entries, SizeIs(2));
  const QuarantineEntry& one = entries[1];
  EXPECT_EQ(one.source, records);
  EXPECT_EQ(one.record, 1);
  EXPECT_EQ(one.offset, 18) << "after one record of 2 bytes in a frame of 16";
  EXPECT_EQ(one.op, "map(number, version=0)");
  EXPECT_EQ(one.kind, "InvalidArgument");
  EXPECT_THAT(one.cause, HasSubstr("record 1: 'twenty' is no number"));
  EXPECT_EQ(one.action, "skipped");
  EXPECT_EQ(std::tuple(one.epoch, one.element, one.error, one.seed), std::tuple(1, 1, 0, 7));
  EXPECT_EQ(one.position, 1);
  EXPECT_EQ(one.step, 3);
  EXPECT_EQ(one.pipeline, fmt::format("{:016x}", fingerprint_of(all)));
}

TEST(FailureLog, NamesASourceThatFailed) {
  const TestQuarantine q;
  const std::string records = q.folder.file("records");
  {
    const auto writer = RecordWriter::open(records).value();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer->append(std::as_bytes(std::span(std::string_view("record")))));
    ASSERT_TRUE(writer->close());
  }
  auto bytes = test::get_file(records);
  bytes[22 + 14] ^= std::byte{1};
  test::put_file(records, bytes);
  for (const bool in_order : {false, true}) {
    const Dataset all = tfrecord(records, {.keep_index = false});
    Sequence sequence((in_order ? all | as_stream() : all) | on_error(), {.quarantine = q.path});
    take(sequence, 5);
    const QuarantineEntry one = read_quarantine(q.path).value().entries.back();
    EXPECT_THAT(one.op, HasSubstr("tfrecord("));
    EXPECT_EQ(one.record, 1);
    EXPECT_EQ(one.offset, 22);
    EXPECT_EQ(one.position.has_value(), !in_order);
  }
}

// From each place a resumed run writes nothing twice and forgets nothing.
TEST(FailureLog, IsWholeAfterAResumeFromAnyPlace) {
  const auto options = [](const std::string& path) {
    return SequenceOptions{.seed = 3, .epochs = 2, .quarantine = path};
  };
  const TestQuarantine whole;
  Sequence unbroken(doubting(20), options(whole.path));
  take(unbroken, 100);
  for (int cut = 0; cut < 28; ++cut) {
    for (const int lost : {0, 1, 5}) {
      const TestQuarantine q;
      std::string state;
      {
        Sequence first(doubting(20), options(q.path));
        take(first, cut);
        state = first.state();
        take(first, lost);  // The process is killed after these, without another state.
      }
      auto second = Sequence::restored(doubting(20), options(q.path), state);
      ASSERT_TRUE(second);
      take(*second, 100);
      ASSERT_EQ(q.text(), whole.text()) << cut << " " << lost;
    }
  }
}

TEST(FailureLog, WritesNothingOfARunThatItHasTwice) {
  const TestQuarantine q;
  for (int i = 0; i < 2; ++i) {
    Sequence sequence(doubting(8), {.seed = 1, .quarantine = q.path});
    take(sequence, 9);
    EXPECT_THAT(q.elements(), SizeIs(3));
  }
  Sequence of_another_seed(doubting(8), {.seed = 2, .quarantine = q.path});
  take(of_another_seed, 9);
  EXPECT_THAT(q.elements(), SizeIs(6));
  Sequence of_another_pipeline(doubting(9), {.seed = 1, .quarantine = q.path});
  take(of_another_pipeline, 9);
  EXPECT_THAT(q.elements(), SizeIs(9));
}

TEST(FailureLog, WritesALineAgainThatWasCut) {
  for (const size_t left : {1, 20, 200}) {
    const TestQuarantine q;
    Sequence first(doubting(8), {.quarantine = q.path});
    take(first, 9);
    const std::string all = q.text();
    test::put_file(q.path, test::to_bytes(all.substr(0, all.find('\n') + 1 + left)));
    Sequence second(doubting(8), {.quarantine = q.path});
    take(second, 9);
    EXPECT_THAT(q.elements(), ElementsAre(1, 4, 7)) << left;
    EXPECT_EQ(read_quarantine(q.path).value().broken_lines, 1);
  }
}

TEST(FailureLog, KeepsTheElementWhileTheFileCannotBeWritten) {
  const TestQuarantine q;
  Sequence sequence(doubting(8), {.quarantine = q.path});
  take(sequence, 1);
  const std::string state = sequence.state();
  {
    const FaultInjection full([](std::string_view call) { return Fault{.error = call == "write" ? ENOSPC : 0}; });
    for (int i = 0; i < 3; ++i) {
      const auto refused = sequence.next();
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().kind(), ErrorKind::ResourceExhausted);
      EXPECT_THAT(refused.error().message(), HasSubstr("bad.jsonl"));
      EXPECT_EQ(sequence.state(), state);
    }
  }
  EXPECT_EQ(text_of(sequence.next().value()), "2");
  take(sequence, 9);
  EXPECT_THAT(q.elements(), ElementsAre(1, 4, 7));
  EXPECT_EQ(sequence.failed()[0].skipped, 3);
}

TEST(FailureLog, WritesNoLineTwiceAfterAnError) {
  const TestQuarantine q;
  const auto refuse_below = [](int64_t x) -> Result<int64_t> {
    if (x < 4) return fail(ErrorKind::DataLoss, "small");
    return x;
  };
  Sequence sequence(range(5) | map(refuse_below, {.name = "refuse"}) | on_error({.max_error_share = 1}),
                    {.quarantine = q.path});
  {
    int writes = 0;
    const FaultInjection full(
        [&](std::string_view call) { return Fault{.error = call == "write" && ++writes == 3 ? ENOSPC : 0}; });
    EXPECT_FALSE(sequence.next());
  }
  EXPECT_THAT(q.elements(), ElementsAre(0, 1));
  EXPECT_EQ(text_of(sequence.next().value()), "4");
  EXPECT_THAT(q.elements(), ElementsAre(0, 1, 2, 3));
}

TEST(FailureLog, IsOpenedWhenTheRunIsMade) {
  const TestQuarantine q;
  EXPECT_THROW(Sequence(doubting(3), {.quarantine = q.folder.file("none/bad")}), Exception);
  EXPECT_THROW(Sequence(doubting(3), {.quarantine = q.folder.path()}), Exception);
}

TEST(FailureLog, WritesIntoAPipeWithoutReadingIt) {
  const test::TempFolder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const int reader = ::open(folder.file("pipe").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  Sequence sequence(doubting(3), {.quarantine = folder.file("pipe")});
  take(sequence, 3);
  std::string text(4096, '\0');
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, ::read(reader, text.data(), text.size()))));
  ::close(reader);
  EXPECT_THAT(text, HasSubstr("no 1"));
}

TEST(FailureLog, CountsEachOnErrorByItself) {
  const auto above = map([](int64_t x) -> Result<int64_t> {
    if (x % 2 == 0) return fail(ErrorKind::DataLoss, "even");
    return x;
  });
  const TestQuarantine q;
  Sequence sequence(doubting(12) | above | on_error({.policy = OnErrorPolicy::fail}), {.quarantine = q.path});
  take(sequence, 100);
  ASSERT_THAT(sequence.failed(), SizeIs(2));
  EXPECT_EQ(sequence.failed()[0].failed, 4) << "0, 2, 6, 8";
  EXPECT_EQ(sequence.failed()[0].step, 5);
  EXPECT_EQ(sequence.failed()[1].step, 3);
  EXPECT_EQ(sequence.failed()[1].skipped, 4) << "1, 4, 7, 10";
  std::vector<int64_t> steps;
  for (const QuarantineEntry& entry : entries_of(q.path)) steps.push_back(entry.step.value_or(-1));
  EXPECT_THAT(steps, ElementsAre(5, 3, 5, 3, 5, 3, 5, 3));
}

TEST(FailureLog, CountsOnErrorsWithEqualOptionsApart) {
  const auto even = map([](int64_t x) -> Result<int64_t> {
    if (x % 2 == 0) return fail(ErrorKind::DataLoss, "even");
    return x;
  });
  Sequence sequence(doubting(12) | even | on_error({.max_error_share = 1}));
  take(sequence, 100);
  ASSERT_THAT(sequence.failed(), SizeIs(2));
  EXPECT_EQ(sequence.failed()[0].op, sequence.failed()[1].op);
  EXPECT_EQ(sequence.failed()[0].skipped, 4) << "0, 2, 6, 8";
  EXPECT_EQ(sequence.failed()[1].skipped, 4) << "1, 4, 7, 10";
}

// Element x gives range(x), in which 1 fails.
Dataset nested_doubt(OnErrorOptions options = {.max_error_share = 1}) {
  const auto inverse = [](int64_t x) -> Result<int64_t> {
    if (x == 1) return fail(ErrorKind::InvalidArgument, "one");
    return x;
  };
  const Step inner = map(inverse, {.name = "inverse"});
  return range(5) | flat_map([=](int64_t x) { return range(x) | inner | on_error(options); }, {.name = "f"});
}

TEST(FailureLog, TellsFailuresInDatasetsOfAFunctionApart) {
  const TestQuarantine q;
  Sequence sequence(nested_doubt(), {.quarantine = q.path});
  take(sequence, 100);
  const auto entries = entries_of(q.path);
  ASSERT_THAT(entries, SizeIs(3)) << "of 2, 3 and 4";
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].outer, fmt::format("range, record {}", 2 + i));
    EXPECT_EQ(entries[i].source, "range");
    EXPECT_EQ(entries[i].record, 1);
    EXPECT_EQ(entries[i].op, "map(inverse, version=0)");
    EXPECT_EQ(entries[i].step, std::nullopt) << "the plan has no such line";
    EXPECT_NE(entries[i].key, entries[(i + 1) % 3].key);
  }
  const auto again = [](int64_t x) { return range(x, x + 2) | flat_map([](int64_t) { return nested_doubt(); }); };
  Sequence deeper(range(1) | flat_map(again), {.quarantine = q.folder.file("deeper")});
  take(deeper, 100);
  EXPECT_EQ(entries_of(q.folder.file("deeper")).back().outer, "range, record 0; range, record 1; range, record 4");
}

TEST(FailureLog, OfDatasetsOfAFunctionIsWholeAfterAResumeFromAnyPlace) {
  const TestQuarantine whole;
  Sequence unbroken(nested_doubt(), {.quarantine = whole.path});
  take(unbroken, 100);
  for (int cut = 0; cut < 8; ++cut) {
    for (const int lost : {0, 2}) {
      const TestQuarantine q;
      std::string state;
      {
        Sequence first(nested_doubt(), {.quarantine = q.path});
        take(first, cut);
        state = first.state();
        take(first, lost);
      }
      auto second = Sequence::restored(nested_doubt(), {.quarantine = q.path}, state);
      ASSERT_TRUE(second) << second.error();
      take(*second, 100);
      ASSERT_EQ(q.text(), whole.text()) << cut << " " << lost;
    }
  }
}

TEST(FailureLog, TellsInWhichWindowAFailureWas) {
  const auto even = [](int64_t x) -> Result<int64_t> {
    if (x % 2 == 1) return fail(ErrorKind::DataLoss, "odd");
    return x;
  };
  const auto reduce = [=](int64_t, const Dataset& window) {
    return window | map(even, {.name = "even"}) | on_error({.max_error_share = 1}) | batch(9);
  };
  const TestQuarantine q;
  Sequence sequence(range(6) | group_by_window([](int64_t) { return int64_t{0}; }, reduce, {.window_size = 3}),
                    {.quarantine = q.path});
  take(sequence, 9);
  std::vector<std::string> outer;
  for (const QuarantineEntry& one : entries_of(q.path)) outer.push_back(one.op + " in " + one.outer);
  EXPECT_THAT(outer, ElementsAre("map(even, version=0) in group_by_window, record 0",
                                 "map(even, version=0) in group_by_window, record 1",
                                 "map(even, version=0) in group_by_window, record 1"));
}

// Three files of three records; the payload of record 1 of b is damaged, and the length of record 2 of c.
struct DamagedFiles {
  DamagedFiles() {
    for (const std::string name : {"a", "b", "c"}) {
      const auto writer = RecordWriter::open(folder.file(name)).value();
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(writer->append(std::string_view("record")));
      EXPECT_TRUE(writer->close());
    }
    const auto flip = [&](const std::string& name, size_t at) {
      auto bytes = test::get_file(folder.file(name));
      bytes[at] ^= std::byte{1};
      test::put_file(folder.file(name), bytes);
    };
    flip("b", 22 + 14);
    flip("c", 44);
  }
  Dataset records(const std::string& name) const { return tfrecord(folder.file(name), {.keep_index = false}); }
  std::vector<QuarantineEntry> entries(const Dataset& dataset) const {
    std::filesystem::remove(folder.file("q"));
    Sequence sequence(dataset | on_error({.max_error_share = 1}), {.quarantine = folder.file("q")});
    take(sequence, 100);
    return entries_of(folder.file("q"));
  }
  test::TempFolder folder;
};

TEST(FailureLog, SaysWhereARecordFailedInADatasetOfAFunction) {
  const DamagedFiles files;
  const auto open = [](std::string_view path) { return tfrecord(std::string(path), {.keep_index = false}); };
  const Dataset names = list_files(files.folder.file("[abc]"), {.shuffle = false});
  for (const auto kind : {Kind::stream, Kind::indexed}) {
    const auto entries = files.entries(names | interleave(open, {.cycle_length = 2, .kind = kind}));
    ASSERT_THAT(entries, SizeIs(2));
    EXPECT_EQ(entries[0].source, files.folder.file("b"));
    EXPECT_EQ(entries[0].record, 1);
    EXPECT_EQ(entries[0].offset, 22);
    EXPECT_EQ(entries[0].op, fmt::format("tfrecord('{}')", files.folder.file("b")));
    EXPECT_EQ(entries[1].source, files.folder.file("c"));
    EXPECT_EQ(entries[1].record, 2);
    EXPECT_EQ(entries[1].offset, 44);
    EXPECT_EQ(entries[1].op, fmt::format("tfrecord('{}')", files.folder.file("c")));
    EXPECT_THAT(entries[1].cause, testing::Not(HasSubstr("record 0")));
  }
  const auto sized = [&](std::string_view path) {
    const auto size = [](std::string_view text) -> Result<int64_t> {
      return fail(ErrorKind::Unknown, std::string(text));
    };
    return open(path) | map(size, {.name = "size"});
  };
  const auto entries = files.entries(names | headpond::take(1) | interleave(sized, {.cycle_length = 2}));
  ASSERT_THAT(entries, SizeIs(3));
  EXPECT_EQ(entries[2].op, "map(size, version=0)");
  EXPECT_EQ(entries[2].offset, 44);
}

TEST(FailureLog, SaysWhichOfSeveralSourcesFailed) {
  const DamagedFiles files;
  const auto entries = files.entries(mix({files.records("a"), files.records("b")}));
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].op, fmt::format("tfrecord('{}')", files.folder.file("b")));
  EXPECT_EQ(entries[0].offset, 22);
}

}  // namespace
}  // namespace headpond::internal
