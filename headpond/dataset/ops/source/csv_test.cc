// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/csv.h"

#include <tuple>

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class CsvFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    test::put_file(folder_.file(name), test::to_bytes(content));
    return folder_.file(name);
  }
  test::TempFolder folder_;
};

TEST_F(CsvFiles, AreRowsWithTypes) {
  const std::string one = write("1", "n,x,s\n1,0.5,a\n2,1.5,\"b\nc\"\n"), two = write("2", "n,x,s\r\n3,2.5,c\r\n");
  const Dataset dataset = csv({one, two});
  EXPECT_EQ(to_string(dataset.spec()), "{'n': int64[], 'x': float32[], 's': bytes[]}");
  EXPECT_THAT(elements(dataset, {}, true), ElementsAre("1, 0.5, 'a' #0", "2, 1.5, 'b\nc' #1", "3, 2.5, 'c' #2"));
  check_contract(dataset);
  check_contract(dataset | shuffle() | batch(2));
  test::put_file(folder_.file("3"), test::gzip(test::get_file(one)));
  EXPECT_EQ(elements(csv(folder_.file("3"))), elements(csv(one)));
}

TEST_F(CsvFiles, OfNumbersFillColumns) {
  std::string rows = "a,b,s\n";
  for (int i = 0; i < 700; ++i) rows += fmt::format("{},{}.5,text\n", i * 3, i);
  const std::string path = write("1", rows);
  const Dataset numbers = csv(path, {.columns = {{"b", f64}, {"a", i32}}});
  EXPECT_EQ(to_string(numbers.spec()), "{'b': float64[], 'a': int32[]}");
  EXPECT_TRUE(fills(*numbers.node()));
  EXPECT_EQ(fill_difference(*(numbers | shuffle()).node(), *(numbers | shuffle()).node()->bind({7, 0})), "");
  EXPECT_FALSE(fills(*csv(path).node())) << "a text has no place in a column that outlives the row";
}

TEST_F(CsvFiles, TellABadCellAndGoOn) {
  const std::string path = write("1", "a\n1\nx\n\n3\n");
  EXPECT_THAT(elements(csv(path, {.columns = {{"a", i64}}})),
              ElementsAre("1", AllOf(HasSubstr("!InvalidArgument"), HasSubstr(path), HasSubstr("'a'")), "3"));
  Sequence sequence(csv(path, {.columns = {{"a", i64}}}));
  ASSERT_TRUE(sequence.next());
  const ErrorPlace cell = sequence.next().error().place();
  EXPECT_THAT(std::tie(cell.source, cell.record, cell.offset), testing::FieldsAre(path, 1U, 4U));
  const std::string shorter = write("2", "a,b\n1\n");
  EXPECT_THROW((void)csv(shorter), Exception) << "a row too short";
  const auto checked = check(csv(shorter, {.columns = {{"a", i64}}}));
  ASSERT_FALSE(checked);
  const ErrorPlace row = checked.error().place();
  EXPECT_THAT(std::tie(row.source, row.record, row.offset), testing::FieldsAre(shorter, 0U, 4U));
  EXPECT_FALSE(check(csv({path, write("3", "b\n1\n")}))) << "other columns";
}

TEST_F(CsvFiles, OfGivenTypesAreNotOpenedWhenTheDatasetIsMade) {
  const std::string path = folder_.file("later");
  const std::vector<CsvColumn> both = {{"b", f64}, {"a", i32}};
  const Dataset dataset = csv(path, {.columns = both});
  EXPECT_EQ(to_string(dataset.spec()), "{'b': float64[], 'a': int32[]}");
  EXPECT_EQ(check(dataset).error().kind(), ErrorKind::NotFound);
  EXPECT_THROW((void)csv(path, {.columns = {{"b", f64}, {"a"}}}), Exception) << "the type of a follows from the file";
  EXPECT_THROW((void)csv(path, {.delimiter = '"', .columns = both}), Exception);
  EXPECT_THROW((void)csv(path, {.columns = {{"b", f64}, {"b", f64}}}), Exception);
  write("later", "a,b\n1,2.5\n");
  EXPECT_THAT(elements(dataset), ElementsAre("2.5, 1"));
  EXPECT_THAT(elements(csv(path, {.header = false, .columns = {{"x", bytes}, {"y", bytes}}})),
              ElementsAre("'a', 'b'", "'1', '2.5'"));
  write("later", "a,c\n1,2.5\n");
  EXPECT_THAT(check(csv(path, {.columns = both})).error().to_string(), HasSubstr("'b'"));
}

TEST_F(CsvFiles, ReadOtherwiseRefuseTheState) {
  const std::string path = write("1", "a,b\n1,2\n,3\n");
  const auto with_default = [&](int64_t value) { return csv(path, {.columns = {{"a", i64, Tensor::scalar(value)}}}); };
  Sequence sequence(with_default(5));
  (void)sequence.next();
  EXPECT_TRUE(Sequence::restored(with_default(5), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(with_default(6), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(csv(path), {}, sequence.state()));
  Sequence headed(csv(path, {.header = false}));
  (void)headed.next();
  EXPECT_FALSE(Sequence::restored(csv(path), {}, headed.state()));
}

TEST_F(CsvFiles, OfTaxiTripsAreAllThere) {
  const std::string data = test::test_data("tfx-records");
  if (data.empty()) GTEST_SKIP() << "no real data: HEADPOND_DATA is not set; with CI=true this is a failure";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (entry.path().filename() != "data.csv") continue;
    const Dataset trips = csv(entry.path().string());
    EXPECT_EQ(trips.cardinality(), 15'002);
    EXPECT_THAT(elements(trips | take(5)), SizeIs(5));
    return;
  }
  ADD_FAILURE() << "no data.csv";
}

}  // namespace
}  // namespace headpond::internal
