// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/quarantine/failed_place_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/io/record/record_writer.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

const Error kBadData(ErrorKind::DataLoss, "bad");

std::string op_located(const Error& error, const Dataset& dataset) {
  return located(error, *dataset.node(), {}).place().op;
}

TEST(FailedPlace, NamesTheOperatorWithWhoseTitleTheErrorBegins) {
  const Dataset two = range(3) | headpond::take(1) | headpond::take(11);
  EXPECT_EQ(op_located({ErrorKind::DataLoss, "take(count=1): bad"}, two), "take(count=1)");
  EXPECT_EQ(op_located({ErrorKind::DataLoss, "take(count=11): bad"}, two), "take(count=11)");
  EXPECT_EQ(op_located(kBadData.at({.op = "its own"}), two), "its own");
}

TEST(FailedPlace, NamesTheSourceOnlyIfThereIsNoOther) {
  const Dataset one = range(3) | headpond::take(1);
  EXPECT_EQ(op_located(kBadData, one), "range(start=0, stop=3, step=1)");
  EXPECT_EQ(op_located(kBadData, zip({one, one})), "range(start=0, stop=3, step=1)") << "the same twice is one";
  EXPECT_EQ(op_located(kBadData, zip({one, range(4)})), "");
  EXPECT_EQ(op_located(kBadData, one | flat_map([](int64_t x) { return range(x); })), "")
      << "its datasets have sources, too";
}

TEST(FailedPlace, FindsTheOffsetOfARecord) {
  const test::TempFolder folder;
  const auto writer = RecordWriter::open(folder.file("a")).value();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(writer->append(std::string_view("record")));
  ASSERT_TRUE(writer->close());
  const Dataset records = tfrecord(folder.file("a"), {.keep_index = false}) | headpond::take(2);
  (void)records.node()->slots();
  const Provenance second{.source = register_source(folder.file("a")), .record = 1};
  EXPECT_EQ(located(kBadData, *records.node(), second).place().offset, 22U);
  EXPECT_EQ(located(kBadData.at({.offset = 5}), *records.node(), second).place().offset, 5U);
  EXPECT_EQ(located(kBadData, *range(3).node(), second).place().offset, std::nullopt);
  EXPECT_EQ(located(kBadData, *records.node(), {}).place().offset, std::nullopt);
}

TEST(FailedPlace, AnOuterElementIsToldOfThoseThatFailedSince) {
  Context context;
  FailedElement failed;
  failed.key = 1;
  failed.error = kBadData;
  context.failed = {failed, failed};
  const Dataset dataset = range(3);
  tell_outer({.key = 7, .provenance = {}}, *dataset.node(), 1, context);
  tell_outer({.key = 8, .provenance = {}}, *dataset.node(), 1, context);
  EXPECT_EQ(context.failed[0].outer, "");
  EXPECT_EQ(context.failed[0].key, 1U);
  EXPECT_EQ(context.failed[1].outer, "element 8; element 7");
  EXPECT_EQ(context.failed[1].key, mix(uint64_t{8}, mix(uint64_t{7}, uint64_t{1})));
  EXPECT_EQ(context.failed[1].error.place().op, "range(start=0, stop=3, step=1)");
}

}  // namespace
}  // namespace headpond::internal
