// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "headpond/dataset/source/record_stream_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/io/file/system_test_internal.h"
#include "headpond/io/record/record_writer.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RecordStream : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::vector<std::string>& records) {
    auto writer = RecordWriter::open(folder_.file(name), {.compression = Compression::gzip}).value();
    for (const std::string& record : records) EXPECT_TRUE(writer->append(record));
    EXPECT_TRUE(writer->close());
    return folder_.file(name);
  }
  static Dataset stream(const std::vector<std::string>& paths, std::optional<int64_t> num_parallel_reads = {},
                        const RecordReaderOptions& options = {}) {
    return record_stream({.op = "stream", .spec = {{"", DType::bytes, {}}}}, {.patterns = paths, .keep_counts = false},
                         options, num_parallel_reads);
  }
  test::TempFolder folder_;
};

TEST_F(RecordStream, OpensAFileWhenItsFirstRecordIsAskedFor) {
  const std::string first = write("1", {"a"}), second = write("2", {"b"});
  Sequence sequence(stream({first, second}));
  EXPECT_TRUE(sequence.next());
  std::filesystem::remove(second);
  EXPECT_THROW(Sequence(stream({first, second})), Exception) << "a missing one is found when it is bound";
  const auto missing = sequence.next();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::NotFound);
  write("2", {"b"});
  const auto there = sequence.next();
  ASSERT_TRUE(there) << "the next call tries again";
  EXPECT_EQ(text_of(*there), "'b'");
  EXPECT_EQ(there->key, 1U);
}

TEST_F(RecordStream, OfFilesThatTakeTurnsIsInTheOrderOfInterleave) {
  std::vector<std::string> paths;
  for (const int count : {3, 0, 7, 1, 2, 4}) {
    std::vector<std::string> records;
    for (int i = 0; i < count; ++i) records.push_back(fmt::format("{}.{}", paths.size(), i));
    paths.push_back(write(std::to_string(paths.size()), records));
  }
  const auto one = [](std::string_view path) { return stream({std::string(path)}); };
  const auto in_a_row = elements(stream(paths));
  for (const int64_t reads : {2, 3, 9}) {
    const Dataset in_turn = stream(paths, reads);
    EXPECT_EQ(elements(in_turn),
              elements(list_files(paths, {.shuffle = false}) | interleave(one, {.cycle_length = reads})));
    EXPECT_NE(elements(in_turn), in_a_row) << "control: " << reads;
    check_contract(in_turn);
  }
  EXPECT_EQ(elements(stream(paths, 1), {}, true), elements(stream(paths), {}, true));
  check_contract(stream(paths));
  EXPECT_THROW(stream(paths, 1'001), Exception);
  EXPECT_THROW(stream(paths, 0), Exception);
}

TEST_F(RecordStream, GoesOnWithTheFilesBesideOneThatIsMissing) {
  const std::vector<std::string> paths = {write("1", {"a", "b"}), write("2", {"c"}), write("3", {"d"})};
  const Dataset dataset = stream(paths, 2), skipping = stream(paths, 2, {.on_damage = OnDamage::skip});
  ASSERT_TRUE(check(dataset) && check(skipping));
  std::filesystem::remove(paths[1]);
  EXPECT_THAT(elements(skipping), ElementsAre("'a'", "'b'", "'d'"));
  const auto all = elements(dataset);
  EXPECT_EQ(all[0], "'a'");
  EXPECT_THAT(all[1], HasSubstr("!NotFound"));
  EXPECT_EQ(all[2], "'b'");
}

TEST_F(RecordStream, StaysAtADamageThatNobodyKnowsTheEndOf) {
  const std::string path = write("1", std::vector<std::string>(3, std::string(1000, 'x')));
  auto bytes = test::get_file(path);
  bytes.resize(bytes.size() - 12);
  test::put_file(path, bytes);
  Sequence sequence(stream({path, write("2", {"b"})}));
  std::string first;
  for (int i = 0; i < 6; ++i) {
    const auto next = sequence.next();
    if (next) continue;
    EXPECT_EQ(next.error().kind(), ErrorKind::DataLoss);
    EXPECT_THAT(next.error().message(), HasSubstr(path));
    if (first.empty()) first = next.error().message();
    EXPECT_EQ(next.error().message(), first);
  }
  EXPECT_FALSE(first.empty());
}

TEST_F(RecordStream, RefusesAFileThatChangedSinceItsDatasetWasBound) {
  const Dataset dataset = stream({write("1", {"a", "b"})});
  Sequence sequence(dataset);
  (void)sequence.next();
  const std::string state = sequence.state();
  write("1", {"a", "c"});
  auto restored = Sequence::restored(dataset, {}, state);
  ASSERT_TRUE(restored) << "the plan was made before the file changed";
  const auto changed = restored->next();
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(changed.error().message(), HasSubstr("has changed"));
  write("1", {"a", "b"});
  EXPECT_EQ(text_of(*Sequence::restored(dataset, {}, state)->next()), "'b'");
}

TEST_F(RecordStream, ReadsAgainWhereTheSystemFailedOnce) {
  const int64_t before = first_retry_ns.exchange(1000);
  std::string large;
  for (uint64_t i = 0; large.size() < 300'000; ++i)
    large += std::to_string(i * 0x9e3779b97f4a7c15U);  // Not in one read.
  const std::string path = write("1", {"a", "b", large});
  Sequence sequence(stream({path}));
  EXPECT_EQ(text_of(*sequence.next()), "'a'");
  EXPECT_EQ(text_of(*sequence.next()), "'b'");
  int failures = 0;
  {
    const FaultInjection hook([&](std::string_view call) {
      return Fault{.error = call == "read" && failures < 2 && ++failures > 0 ? EIO : 0};
    });
    EXPECT_TRUE(sequence.next());
  }
  EXPECT_EQ(failures, 2);
  first_retry_ns = before;
}

}  // namespace
}  // namespace headpond::internal
