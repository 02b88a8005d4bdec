// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/source/record_stream_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
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
  static Dataset stream(const std::vector<std::string>& paths) {
    return record_stream({.op = "stream", .args = "args"}, paths, {});
  }
  test::TempFolder folder_;
};

TEST_F(RecordStream, OpensAFileWhenItsFirstRecordIsAskedFor) {
  const std::string first = write("1", {"a"});
  Sequence sequence(stream({first, folder_.file("2")}));
  EXPECT_TRUE(sequence.next());
  const auto missing = sequence.next();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::NotFound);
  write("2", {"b"});
  const auto there = sequence.next();
  ASSERT_TRUE(there) << "the next call tries again";
  EXPECT_EQ(text_of(*there), "'b'");
  EXPECT_EQ(there->key, 1U);
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

TEST_F(RecordStream, RefusesAPlaceThatNoFileHas) {
  const Dataset dataset = stream({write("1", {"a", "b"})});
  Sequence sequence(dataset);
  (void)sequence.next();
  const std::string state = sequence.state();
  write("1", {"a"});
  auto restored = Sequence::restored(dataset, {}, state);
  ASSERT_TRUE(restored) << "the plan was made before the file changed";
  EXPECT_TRUE(at_end(restored->next())) << "there is nothing behind the first record";
  write("1", {});
  auto lost = Sequence::restored(dataset, {}, state);
  ASSERT_TRUE(lost);
  const auto error = lost->next();
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().kind(), ErrorKind::DataLoss);
}

}  // namespace
}  // namespace headpond::internal
