// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/operators/plan_sources.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "headpond/io/archive/tar_writer.h"
#include "headpond/io/record/record_writer.h"
#include "headpond/plan/plan_test_internal.h"
#include "tests/test_files.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

class PlanSources : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }
  std::string write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

 private:
  test::TempFolder folder_;
};

std::string source(const std::string& op, const std::string& path, const std::string& more = "") {
  return step(op, "paths = ['" + path + "']" + (more.empty() ? "" : ", " + more));
}

TEST_F(PlanSources, ReadTFRecords) {
  auto writer = RecordWriter::open(path("records")).value();
  for (const char* record : {"a", ""}) ASSERT_TRUE(writer->append(record));
  ASSERT_TRUE(writer->close());
  expect(source("tfrecord", path("rec*")), {R"("x":{"bytes":"YQ=="})", R"("x":{"bytes":""})"});
  expect(source("tfrecord", path("rec*"), "compression = 'none'"), {R"("x":{"bytes":"YQ=="})", R"("x":{"bytes":""})"});
  EXPECT_THAT(refused(source("tfrecord", path("rec*"), "compression = 'gzip'")), HasSubstr("gzip was requested"));
  std::fstream(path("records")).seekp(12).put('b');
  EXPECT_THAT(delivered(source("tfrecord", path("rec*"))).front(), HasSubstr("checksum"));
  expect(source("tfrecord", path("rec*"), "on_damage = 'skip'"), {R"("x":{"bytes":""})"});
  EXPECT_THAT(refused(source("tfrecord", "a", "on_damage = 'x'")),
              HasSubstr("f.toml:3: tfrecord: on_damage is 'x'; known: fail, skip"));
}

TEST_F(PlanSources, NoFilesAreNoElements) {
  const std::string none = "paths = []";
  for (const char* op : {"tfrecord", "text_lines", "csv", "tar", "list_files"}) {
    EXPECT_TRUE(delivered(step(op, none)).empty()) << op;
  }
  EXPECT_TRUE(delivered(step("fixed_length", none + ", record_bytes = 3")).empty());
  EXPECT_THAT(refused(step("npy", none)), HasSubstr("npy: no files"));
  EXPECT_THAT(refused(step("idx", none)), HasSubstr("f.toml:3: idx: paths"));
}

TEST_F(PlanSources, ListFiles) {
  for (const char* name : {"names/b", "names/a"}) write(name, "");
  const auto names = delivered(source("list_files", path("names/*"), "shuffle = false"));
  ASSERT_EQ(names.size(), 2U);
  EXPECT_NE(names[0], names[1]);
  auto shuffled = delivered("seed = 3\n" + source("list_files", path("names/*")));
  std::sort(shuffled.begin(), shuffled.end());
  auto sorted = names;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(shuffled, sorted);
}

TEST_F(PlanSources, ReadIdx) {
  const std::string images = write("images", "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x01\x02\x03\x04"s);
  const std::string labels = write("labels", "\0\0\x08\x01\0\0\0\x02\x07\x08"s);
  expect(source("idx", images), {R"("x":[[1,2]])", R"("x":[[3,4]])"});
  const std::string both = step("idx", "paths = ['" + images + "', '" + labels + "']");
  expect(both, {R"("image":[[1,2]],"label":7)", R"("image":[[3,4]],"label":8)"});
  expect(both + step("filter", "predicate = 'label == 8'") + step("map", "function = 'image / 2.0', into = 'image'"),
         {R"("image":[[1.5,2]],"label":8)"});
  EXPECT_THAT(refused(both + step("filter", "predicate = 'image == 8'")),
              HasSubstr("f.toml:6: filter: the predicate is over arrays"));
  EXPECT_THAT(refused(step("idx", "paths = ['a', 'b', 'c']")), HasSubstr("f.toml:3: idx: paths has more than two"));
}

TEST_F(PlanSources, ReadCifar) {
  const std::string file = write("test.bin", "\x02\x05" + std::string(3072, '\x01'));
  const std::string folder = "path = '" + file.substr(0, file.rfind('/')) + "'";
  expect(step("cifar100", folder + ", train = false") +
             step("map", "function = 'label * 100 + coarse_label', into = 'sum'") + step("map", "function = 'sum'"),
         {R"("x":502)"});
  EXPECT_THAT(refused(step("cifar10", folder)), HasSubstr("data_batch_1.bin"));
}

TEST_F(PlanSources, ReadTextLines) {
  const std::string text = write("text",
                                 "\xef\xbb\xbf"
                                 "head\na\n");
  expect(source("text_lines", text, "skip_header_lines = 1"), {R"("x":{"bytes":"YQ=="})"});
  expect(source("text_lines", text, "skip_bom = true"), {R"("x":{"bytes":"aGVhZA=="})", R"("x":{"bytes":"YQ=="})"});
  EXPECT_THAT(refused(source("text_lines", text, "skip_header_lines = -1")),
              HasSubstr("f.toml:3: a file of lines: skip_header_lines is -1"));
}

TEST_F(PlanSources, ReadCsv) {
  const std::string table = write("table.csv", "n,word,score\n1,a,0.5\n,b,NA\n");
  expect(source("csv", table, "na_values = ['NA']"),
         {R"("n":1,"word":{"bytes":"YQ=="},"score":0.5)", R"("n":"NaN","word":{"bytes":"Yg=="},"score":"NaN")"});
  const std::string chosen =
      source("csv", table, "columns = ['word', { name = 'n', dtype = 'int64', default_value = -1 }]");
  expect(chosen, {R"("word":{"bytes":"YQ=="},"n":1)", R"("word":{"bytes":"Yg=="},"n":-1)"});
  expect(chosen + step("filter", "predicate = 'n < 0'"), {R"("word":{"bytes":"Yg=="},"n":-1)"});
  const std::string plain = write("plain.csv", "#c\n1;'2'\n");
  expect(source("csv", plain, "header = false, delimiter = ';', quote = \"'\", comment = '#', columns = ['a', 'b']"),
         {R"("a":1,"b":2)"});
  EXPECT_THAT(refused(source("csv", table, "columns = ['size']")), HasSubstr("columns 'size', expected one"));
  EXPECT_THAT(refused(source("csv", table, "columns = [{ name = 'n', default_value = 1 }]")),
              HasSubstr("f.toml:3: csv: columns: default_value needs a dtype beside it"));
  EXPECT_THAT(refused(source("csv", table, "columns = [{ name = 'n', dtype = 'in64' }]")),
              HasSubstr("f.toml:3: csv: columns: dtype is 'in64'; did you mean 'int64'?"));
}

TEST_F(PlanSources, ReadNpy) {
  const std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1), }";
  const std::string padded = header + std::string(117 - header.size(), ' ') + "\n";
  const std::string array = write("a.npy", "\x93NUMPY\x01\0\x76\0"s + padded + "\x05\0\xff\xff"s);
  expect(source("npy", array), {R"("x":[5])", R"("x":[-1])"});
  EXPECT_THAT(refused(source("npy", path("none.npy"))), HasSubstr("f.toml:3: npy: "));
}

TEST_F(PlanSources, ReadRecordsOfOneLength) {
  const std::string records = write("records",
                                    "h\x01\x02\x03\x04"
                                    "f");
  expect(source("fixed_length", records, "record_bytes = 2, header_bytes = 1, footer_bytes = 1"),
         {R"("x":[1,2])", R"("x":[3,4])"});
  expect(source("fixed_length", records, "record_bytes = 2, header_bytes = 1, footer_bytes = 1, hop_bytes = 1"),
         {R"("x":[1,2])", R"("x":[2,3])", R"("x":[3,4])"});
  const std::string stored = "\x78\x01\x01\x02\x00\xfd\xff\x01\x02\x00\x06\x00\x04"s;  // zlib, not compressed
  expect(source("fixed_length", write("packed", stored), "record_bytes = 2, compression = 'zlib'"), {R"("x":[1,2])"});
  EXPECT_THAT(refused(source("fixed_length", records)), HasSubstr("f.toml:2: fixed_length: record_bytes is missing"));
  EXPECT_THAT(refused(source("fixed_length", records, "record_bytes = -1")),
              HasSubstr("f.toml:3: fixed_length: record_bytes is -1, which is negative"));
}

TEST_F(PlanSources, ReadTar) {
  std::string archive;
  for (const char* member : {"s1.txt", "s1.cls", "s2.txt"}) ASSERT_TRUE(append_tar_member(archive, member, "a"));
  write("a.tar", archive + std::string(tar_end()));
  expect(
      source("tar", path("a.tar"), "extensions = ['txt']"),
      {R"("__key__":{"bytes":"czE="},"txt":{"bytes":"YQ=="})", R"("__key__":{"bytes":"czI="},"txt":{"bytes":"YQ=="})"});
  const auto with_missing = source("tar", path("a.tar"), "extensions = ['cls'], allow_missing = true");
  expect(with_missing,
         {R"("__key__":{"bytes":"czE="},"cls":{"bytes":"YQ=="})", R"("__key__":{"bytes":"czI="},"cls":{"bytes":""})"});
  EXPECT_THAT(delivered(source("tar", path("a.tar"))).back(), HasSubstr("!"));
}

TEST_F(PlanSources, ReadFolders) {
  for (const char* name : {"set/cat/1.txt", "set/dog/2.txt", "set/dog/3.md"}) write(name, "a");
  const std::string set = "path = '" + path("set") + "'";
  EXPECT_EQ(delivered(step("folder", set)).size(), 3U);
  const auto texts = delivered(step("folder", set + ", extensions = ['txt']"));
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_THAT(texts[1], HasSubstr(R"("file":{"bytes":"YQ=="},"label":1)"));
  EXPECT_EQ(delivered(step("folder", set + ", extensions = ['.txt']")), texts);
  EXPECT_THAT(refused(step("folder", set + ", extensions = ['png']")), HasSubstr("no file with the extension png"));
  EXPECT_EQ(delivered(step("folder", set + ", extensions = ['png'], allow_empty = true")).size(), 0U);
  EXPECT_THAT(refused(step("folder", "path = '" + path("none") + "'")), HasSubstr("f.toml:3: folder: "));
}

}  // namespace
}  // namespace headpond::plan
