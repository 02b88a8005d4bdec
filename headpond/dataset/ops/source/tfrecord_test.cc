// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "headpond/base/log.h"
#include "headpond/dataset/run_state.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/io/file/system_test_internal.h"
#include "headpond/io/record/index/set_index.h"
#include "headpond/io/record/record_writer.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class TFRecord : public testing::Test {
 protected:
  TFRecord() { setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1); }

  std::string write(const std::string& name, const std::vector<std::string>& records,
                    Compression compression = Compression::none) {
    const std::string path = folder_.file(name);
    auto writer = RecordWriter::open(path, {.compression = compression});
    EXPECT_TRUE(writer) << writer.error();
    for (const std::string& record : records) EXPECT_TRUE((*writer)->append(record));
    EXPECT_TRUE((*writer)->close());
    return path;
  }
  // One bit of the payload of record `number`, of files whose records have one byte.
  static void damage(const std::string& path, size_t number) {
    auto bytes = test::get_file(path);
    bytes[number * 17 + 12] ^= std::byte{1};
    test::put_file(path, bytes);
  }

  test::TempFolder folder_;
};

TEST_F(TFRecord, GivesTheRecordsOfAllFilesInTheOrderOfTheirNames) {
  write("b-00001.rec", {"three", ""});
  write("b-00000.rec", {"one", "two"});
  const std::string none = write("none", {}), last = write("a", {"last"});
  const Dataset dataset = tfrecord({folder_.file("b-*.rec"), none, last});
  EXPECT_EQ(to_string(dataset.spec()), "{0: bytes[]}");
  EXPECT_EQ(dataset.kind(), Kind::indexed);
  EXPECT_THAT(elements(dataset, {}, true), ElementsAre("'one' #0", "'two' #1", "'three' #2", "'' #3", "'last' #4"));
  Sequence sequence(dataset | skip(3));
  EXPECT_EQ(to_string(sequence.next()->provenance), folder_.file("b-00001.rec") + ", record 1");
}

TEST_F(TFRecord, KeepsTheContract) {
  const std::string one = write("1", {"a", "bb", "", "dddd"}), two = write("2", {"e", "f"});
  check_contract(tfrecord({one, two}));
  check_contract(tfrecord({one, two}) | shuffle() | enumerate() | batch(4));
  check_contract(tfrecord({one, two}, {.on_damage = OnDamage::skip}) | shuffle());
  check_contract(tfrecord(write("none", {})));
  EXPECT_TRUE(fills(*(tfrecord({one, two}) | shuffle()).node()));
}

TEST_F(TFRecord, OfZlibIsAStreamOfTheSameElements) {
  const std::vector<std::string> first = {"a", "bb", ""}, second = {"d", "ee"};
  const std::string gzip = write("1.gz", first, Compression::gzip), zlib = write("2.z", second, Compression::zlib);
  const std::string plain = write("1", first), also_plain = write("2", second);
  const Dataset stream = tfrecord({gzip, also_plain, zlib});
  EXPECT_EQ(stream.kind(), Kind::stream);
  EXPECT_EQ(elements(stream, {}, true), elements(tfrecord({plain, also_plain, also_plain}), {}, true));
  check_contract(stream);
  check_contract(stream | shuffle(3) | batch(2));
  const std::string unnamed = write("zlib", second, Compression::zlib);
  EXPECT_THAT(check(tfrecord(unnamed)).error().message(), AllOf(HasSubstr(unnamed), HasSubstr("say compression=zlib")));
  EXPECT_EQ(elements(tfrecord(unnamed, {.compression = Compression::zlib})), elements(tfrecord(also_plain)));
}

TEST_F(TFRecord, OfGzipHasPositions) {
  const std::vector<std::string> first = {"a", "bb", ""}, second = {"d", "ee"};
  const std::string gzip = write("1.gz", first, Compression::gzip), other = write("other", second, Compression::gzip);
  const std::string plain = write("1", first), also_plain = write("2", second);
  const Dataset mixed = tfrecord({gzip, also_plain, other});
  EXPECT_EQ(mixed.kind(), Kind::indexed);
  EXPECT_EQ(mixed.cardinality(), 7);
  EXPECT_EQ(elements(mixed, {}, true), elements(tfrecord({plain, also_plain, also_plain}), {}, true));
  check_contract(mixed);
  check_contract(mixed | shuffle() | batch(2));
  check_contract(tfrecord(write("none.gz", {}, Compression::gzip)));
  EXPECT_EQ(elements(tfrecord(gzip, {.compression = Compression::gzip})), elements(tfrecord(plain)));
  EXPECT_THAT(check(tfrecord({plain, gzip}, {.compression = Compression::none})).error().message(),
              AllOf(HasSubstr("gzip"), Not(HasSubstr("random access"))));
  EXPECT_FALSE(check(tfrecord(plain, {.compression = Compression::gzip})));
  EXPECT_THAT([] { (void)tfrecord("none", {.compression = static_cast<Compression>(77)}); },
              testing::ThrowsMessage<Exception>(HasSubstr("tfrecord: compression 77 is unknown")));
  EXPECT_EQ(mixed.node()->offset_of({.source = register_source(other), .record = 1}), 17);
}

TEST_F(TFRecord, GivesRecordsOfSeveralFilesInTurn) {
  const std::string one = write("1", {"a", "b", "c"}), two = write("2", {"d"}, Compression::gzip),
                    three = write("3", {"e", "f"});
  const Dataset in_turn = tfrecord({one, two, three}, {.num_parallel_reads = 2});
  EXPECT_THAT(elements(in_turn), ElementsAre("'a'", "'d'", "'b'", "'c'", "'e'", "'f'"));
  EXPECT_EQ(in_turn.kind(), Kind::indexed);
  EXPECT_THAT(in_turn.node()->title(), HasSubstr("num_parallel_reads=2"));
  check_contract(tfrecord({two, one, three}, {.num_parallel_reads = 2}));
  check_contract(tfrecord({one, three}, {.num_parallel_reads = 2}) | shuffle() | batch(2));
  damage(one, 1);
  EXPECT_THAT(elements(tfrecord({one, three}, {.on_damage = OnDamage::skip, .num_parallel_reads = 2})),
              ElementsAre("'a'", "'e'", "'f'", "'c'"));
  const std::string four = write("4", {"a", "b", "c"}, Compression::zlib), five = write("5", {"d"}, Compression::zlib);
  const TFRecordOptions stream{.compression = Compression::zlib, .num_parallel_reads = 2};
  EXPECT_THAT(elements(tfrecord({four, five, four}, stream)),
              ElementsAre("'a'", "'d'", "'b'", "'c'", "'a'", "'b'", "'c'"));
  EXPECT_THROW(tfrecord(one, {.num_parallel_reads = 0}), Exception);
}

TEST_F(TFRecord, BelievesNoCountsOfAnotherReader) {
  const std::vector<std::string> paths = {write("1", {"a", "b"}, Compression::gzip),
                                          write("2", {"c"}, Compression::gzip)};
  std::vector<CountedFile> none;
  for (const std::string& path : paths) {
    none.push_back({.stamp = stamp_of(path).value(), .mark = mark_of(**MappedFile::open(path)), .records = 0});
  }
  ASSERT_TRUE(SetIndex("tfrecord ", paths).keep(none)) << "files were once read in order under this name";
  EXPECT_THAT(elements(tfrecord(paths)), SizeIs(3));
  ASSERT_TRUE(SetIndex("tfrecord  by number", paths).keep(none));
  EXPECT_THAT(elements(tfrecord(paths)), IsEmpty()) << "the control: counts of the same reader are believed";
}

TEST_F(TFRecord, OfFilesThatDidNotChangeOpensNothingButThem) {
  const int64_t before = internal::youngest_cached_ns.exchange(-1'000'000'000);
  const std::vector<std::string> paths = {write("1", {"a", "b"}), write("2", {"c"}), write("3", {"d"})};
  const auto all = elements(tfrecord(paths));
  int opens = 0;
  const auto again = [&] {
    opens = 0;
    const FaultInjection hook([&](std::string_view call) {
      opens += call == "open" ? 1 : 0;
      return Fault{};
    });
    return elements(tfrecord(paths));
  };
  EXPECT_EQ(again(), all);
  EXPECT_EQ(opens, 5) << "their folder, the index of the set, and each file";
  const FileStamp stamp = stamp_of(paths[2]).value();
  const auto time = std::filesystem::last_write_time(paths[2]);
  do {
    write("3", {"e"});
    std::filesystem::last_write_time(paths[2], time);
  } while (stamp_of(paths[2])->changed_ns == stamp.changed_ns);  // Until the system's clock has gone on.
  EXPECT_EQ(again().back(), "'e'") << "a change that keeps size and time";
  EXPECT_GT(opens, 5) << "control: this file was looked into";
  EXPECT_EQ(again().back(), "'e'");
  EXPECT_EQ(opens, 5);
  internal::youngest_cached_ns = before;
}

TEST_F(TFRecord, LooksAtNoFileWhenItIsMade) {
  write("1", {"a"});
  int calls = 0;
  const FaultInjection hook([&](std::string_view) {
    ++calls;
    return Fault{};
  });
  const Dataset dataset = tfrecord(folder_.file("*")) | shuffle() | batch(2);
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(check(dataset));
  EXPECT_GT(calls, 0) << "control";
}

TEST_F(TFRecord, TellsADamagedRecordAndGoesOnAfterIt) {
  for (const Compression compression : {Compression::none, Compression::gzip}) {
    const std::string path = write("x", {"a", "b", "c"});
    damage(path, 1);
    if (compression != Compression::none) test::put_file(path, test::gzip(test::get_file(path)));
    const auto all = elements(tfrecord(path));
    EXPECT_THAT(
        all, ElementsAre("'a'",
                         AllOf(HasSubstr("!DataLoss"), HasSubstr(path), HasSubstr("record 1"), HasSubstr("offset 17")),
                         "'c'"));
    EXPECT_THAT(elements(tfrecord(path, {.on_damage = OnDamage::skip}), {}, true), ElementsAre("'a' #0", "'c' #2"));
  }
}

// All elements of `dataset` in order; the number of defects that were met on the way.
int64_t defects_of(const Dataset& dataset, std::vector<std::string>& values) {
  SequentialFeed feed;
  const auto iterator = feed.open(*dataset.node(), {});
  Context context;
  for (Element out; iterator->next(context, out) == Got::value; out = Element()) values.push_back(text_of(out));
  return context.scratch().defects.count;
}

TEST_F(TFRecord, CountsAndSaysWhatItLeavesOut) {
  for (const Compression compression : {Compression::none, Compression::gzip, Compression::zlib}) {
    const std::string path = write("x", std::vector<std::string>(30, "a"));
    for (size_t i = 3; i < 15; ++i) damage(path, i);
    const auto bytes = test::get_file(path);
    if (compression == Compression::gzip) test::put_file(path, test::gzip(bytes));
    if (compression == Compression::zlib) test::put_file(path, test::zlib(bytes));
    const bool in_order = compression == Compression::zlib;
    const auto read = [&](OnDamage on_damage) {
      const TFRecordOptions options = {.compression = in_order ? std::optional(compression) : std::nullopt,
                                       .on_damage = on_damage,
                                       .keep_index = false};
      std::vector<std::string> values;
      return defects_of(tfrecord(path, options), values) + 1000 * std::ssize(values);
    };
    std::vector<std::string> logged;
    const LogSink before = set_log_sink([&](LogLevel level, std::string_view line) {
      if (level == LogLevel::warning) logged.emplace_back(line);
    });
    EXPECT_EQ(read(OnDamage::skip), 18'012);
    set_log_sink(before);
    if (in_order) {
      EXPECT_THAT(logged, ElementsAre(AllOf(HasSubstr(path), HasSubstr("12 damaged records"), HasSubstr("record 14"))));
    } else {
      EXPECT_THAT(logged, ElementsAre(AllOf(HasSubstr(path), HasSubstr("1 damaged record:"), HasSubstr("record 3")),
                                      AllOf(HasSubstr(path), HasSubstr("10 damaged records"), HasSubstr("record 12"))));
    }
    EXPECT_EQ(read(OnDamage::fail), 3'000) << "control: the first error ends it";
  }
}

TEST_F(TFRecord, CountsARecordAgainButSaysItOnce) {
  const std::string path = write("x", {"a", "b", "c"});
  damage(path, 1);
  std::vector<std::string> logged, values;
  const LogSink before = set_log_sink([&](LogLevel, std::string_view line) { logged.emplace_back(line); });
  const Dataset dataset = tfrecord(path, {.on_damage = OnDamage::skip});
  for (int epoch = 0; epoch < 20; ++epoch) EXPECT_EQ(defects_of(dataset, values), 1);
  set_log_sink(before);
  EXPECT_THAT(logged, SizeIs(1));
}

TEST_F(TFRecord, LeavesOutWhatFollowsADamagedLengthIfAsked) {
  const std::string cut = write("cut", {"a", "b", "c"}), whole = write("whole", {"d"});
  auto bytes = test::get_file(cut);
  bytes.resize(40);
  test::put_file(cut, bytes);
  const auto counted = check(tfrecord({cut, whole}, {.keep_index = false}));
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(counted.error().message(), AllOf(HasSubstr(cut), HasSubstr("offset 34"), HasSubstr("record 2")));
  EXPECT_THAT(counted.error().message(), HasSubstr("; on_damage=skip reads the records before the damage"));
  std::vector<std::string> logged;
  const LogSink before = set_log_sink([&](LogLevel, std::string_view line) { logged.emplace_back(line); });
  const Dataset rest = tfrecord({cut, whole}, {.on_damage = OnDamage::skip, .keep_index = false});
  EXPECT_THAT(elements(rest), ElementsAre("'a'", "'b'", "'d'"));
  EXPECT_THAT(elements(rest).size(), 3) << "again, without a second warning";
  set_log_sink(before);
  EXPECT_THAT(logged, ElementsAre(AllOf(HasSubstr(cut), HasSubstr("first 2 records 6 bytes"))));
}

TEST_F(TFRecord, OfDamagedGzipHasWhatPrecedesTheDamageIfAsked) {
  std::vector<std::string> records;
  for (int i = 0; i < 2000; ++i) records.push_back(std::to_string(i * uint64_t{0x9e3779b97f4a7c15}));
  const std::string path = write("x", records, Compression::gzip), last = write("last", {"z"});
  auto bytes = test::get_file(path);
  bytes.resize(bytes.size() / 2);
  test::put_file(path, bytes);
  const auto counted = check(tfrecord({path, last}));
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(counted.error().message(), AllOf(HasSubstr(path), HasSubstr("record ")));
  EXPECT_THAT(counted.error().message(), HasSubstr("; on_damage=skip reads the records before the damage"));
  const auto front = elements(tfrecord({path, last}, {.on_damage = OnDamage::skip}));
  ASSERT_GT(front.size(), 500U);
  EXPECT_EQ(front.back(), "'z'");
  for (size_t i = 0; i + 1 < front.size(); ++i) EXPECT_EQ(front[i], "'" + records[i] + "'");
  EXPECT_EQ(elements(tfrecord({path, last}, {.on_damage = OnDamage::skip})), front) << "nothing of it was kept";
}

TEST_F(TFRecord, LeavesOutFilesThatAreNotThereIfAsked) {
  for (const Compression compression : {Compression::none, Compression::gzip}) {
    const std::string first = write("1", {"a", "b"}, compression), last = write("3", {"c"}, compression);
    const std::string missing = folder_.file("2");
    EXPECT_FALSE(check(tfrecord({first, missing, last}))) << "control";
    std::string logged;
    const LogSink before = set_log_sink([&](LogLevel, std::string_view line) { logged += line; });
    const Dataset dataset = tfrecord({first, missing, folder_.path(), last}, {.on_damage = OnDamage::skip});
    EXPECT_THAT(elements(dataset), ElementsAre("'a'", "'b'", "'c'"));
    EXPECT_THAT(logged, AllOf(HasSubstr(missing), HasSubstr(folder_.path())));
    EXPECT_FALSE(check(tfrecord(missing, {.on_damage = OnDamage::skip}))) << "all of them";
    const Dataset vanishing = tfrecord({first, last}, {.on_damage = OnDamage::skip});
    ASSERT_TRUE(check(vanishing));
    std::filesystem::remove(first);
    if (compression == Compression::gzip) {
      EXPECT_THAT(elements(vanishing), ElementsAre("'c'"));
    } else {
      EXPECT_THAT(elements(vanishing), ElementsAre("'a'", "'b'", "'c'")) << "a mapped file stays";
    }
    set_log_sink(before);
  }
}

// `dataset()`, or its first pass, while all calls of open(2) but the first fail.
template <class Make>
Error error_where_second_open_fails(int error, const Make& dataset) {
  int opens = 0;
  const internal::FaultInjection fault(
      [&](std::string_view call) { return internal::Fault{.error = call == "open" && ++opens >= 2 ? error : 0}; });
  try {
    Sequence sequence(dataset());
    while (true) {
      const auto next = sequence.next();
      if (!next && next.error().is_end()) return {};
      if (!next) return next.error();
    }
  } catch (const Exception& e) {
    return e.error();
  }
}

TEST_F(TFRecord, DropsNoFileBecauseTheFileSystemFails) {
  internal::first_retry_ns = 1000;
  for (const Compression compression : {Compression::none, Compression::gzip}) {
    const std::string first = write("1", {"a"}, compression), second = write("2", {"b"}, compression);
    const std::vector<std::string> paths = {first, second, write("3", {"c"}, compression)};
    const LogSink before = set_log_sink([](LogLevel, std::string_view) {});
    const auto open = [&] { return tfrecord(paths, {.on_damage = OnDamage::skip}); };
    for (const int error : {ESTALE, ETIMEDOUT, ENOTCONN, EIO, EMFILE}) {
      EXPECT_EQ(error_where_second_open_fails(error, open).os_error(), error) << "when it is built";
      if (compression == Compression::none) continue;  // Mapped files stay open.
      const Dataset dataset = open();
      EXPECT_EQ(error_where_second_open_fails(error, [&] { return dataset; }).os_error(), error) << "in a pass";
    }
    EXPECT_FALSE(error_where_second_open_fails(0, open)) << "control";
    set_log_sink(before);
  }
}

TEST_F(TFRecord, TellsAFileThatShrinksAlsoIfDamageIsSkipped) {
  for (const OnDamage on_damage : {OnDamage::fail, OnDamage::skip}) {
    const std::string path = write("shrinks", std::vector<std::string>(3, std::string(20'000, 'x')));
    const Dataset dataset = tfrecord(path, {.on_damage = on_damage});
    const auto view = dataset.node()->bind({});
    std::filesystem::resize_file(path, 100);
    Context context;
    Element out;
    EXPECT_EQ(view->at(2, context, {}, out), Got::error);
    EXPECT_EQ(context.error.kind(), ErrorKind::DataLoss) << context.error;
    EXPECT_THAT(context.error.message(), HasSubstr(path));
  }
}

TEST_F(TFRecord, TellsWhenTheFileIsCutWhileAColumnIsRead) {
  const std::string path = write("shrinks", {std::string(100, 'x'), std::string(100, 'y'), "z"});
  const auto view = tfrecord(path).node();
  const auto bound = view->bind({});
  std::array<std::string_view, 2> texts;
  const FieldSpec field = {"", DType::bytes, {}};
  const OutputSlot column = {reinterpret_cast<std::byte*>(texts.data()), &field};
  const std::vector<int64_t> positions = {0, 1};
  Context context;
  ASSERT_TRUE(bound->fill(positions, context, OutputSlots(&column, 1), nullptr));
  EXPECT_EQ(texts[1], std::string(100, 'y'));
  EXPECT_TRUE(context.lent_is_whole()) << "control";
  ASSERT_TRUE(bound->fill(positions, context, OutputSlots(&column, 1), nullptr));
  std::filesystem::resize_file(path, 200);  // Within the page: no signal, zeros instead.
  EXPECT_NE(texts[1], std::string(100, 'y'));
  EXPECT_FALSE(context.lent_is_whole());
  EXPECT_TRUE(context.lent_is_whole()) << "told once";
}

TEST_F(TFRecord, OfOtherFilesRefusesTheState) {
  const std::string path = write("x", {"a", "b"});
  Sequence sequence(tfrecord(path));
  (void)sequence.next();
  EXPECT_TRUE(Sequence::restored(tfrecord(path), {}, sequence.state())) << "control: the same file";
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now());
  EXPECT_TRUE(Sequence::restored(tfrecord(path), {}, sequence.state())) << "control: the same content";
  write("x", {"a", "c"});
  const auto refused = Sequence::restored(tfrecord(path), {}, sequence.state());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(refused.error().message(), HasSubstr("digest="));
  EXPECT_FALSE(Sequence::restored(tfrecord(path, {.on_damage = OnDamage::skip}), {}, sequence.state()));
}

TEST_F(TFRecord, ThatIsNotThereIsNamed) {
  for (const std::string& pattern : {folder_.file("none"), folder_.file("none-*"), folder_.path()}) {
    const Dataset dataset = tfrecord(pattern);
    const auto checked = check(dataset);
    ASSERT_FALSE(checked) << pattern;
    EXPECT_THAT(checked.error().message(), HasSubstr(pattern));
    EXPECT_THROW(Sequence{dataset}, Exception);
  }
  EXPECT_THAT(elements(tfrecord(std::vector<std::string>())), IsEmpty());
}

}  // namespace
}  // namespace headpond::internal
