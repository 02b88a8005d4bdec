// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/quarantine/quarantine.h"

#include <nlohmann/json.hpp>

#include "headpond/dataset/testing/structure_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

QuarantineEntry full() {
  return {.source = "a \"quoted\" name\n",
          .record = 17,
          .offset = int64_t{1} << 40,
          .op = "map(f)",
          .kind = "DataLoss",
          .cause = "f, record 17: \xff\xfe",
          .action = "skipped",
          .epoch = 3,
          .element = 12,
          .position = 20,
          .error = 4,
          .step = 2,
          .seed = -1,
          .pipeline = "00000000deadbeef"};
}

TEST(Quarantine, HasALineForEachEntry) {
  const test::TempFolder folder;
  QuarantineEntry bare{.kind = "Unknown", .cause = "x", .action = "failed", .pipeline = "0"};
  test::put_file(folder.file("q"), test::to_bytes(to_line(full()) + to_line(bare)));
  const auto file = read_quarantine(folder.file("q")).value();
  ASSERT_EQ(file.entries.size(), 2U);
  EXPECT_EQ(file.broken_lines, 0);
  EXPECT_EQ(to_line(file.entries[1]), to_line(bare));
  EXPECT_EQ(to_line(file.entries[0]), to_line(full()));
  EXPECT_EQ(file.entries[0].record, 17);
  EXPECT_EQ(file.entries[0].seed, -1);
  const auto json = nlohmann::json::parse(to_line(bare));
  EXPECT_TRUE(json["source"].is_null() && json["record"].is_null() && json["step"].is_null());
  EXPECT_EQ(json["kind"], "Unknown");
  EXPECT_EQ(read_quarantine(folder.file("none")).error().kind(), ErrorKind::NotFound);
}

TEST(Quarantine, CountsLinesThatAreNotWhole) {
  const test::TempFolder folder;
  const std::string line = to_line(full());
  for (const size_t cut : {size_t{1}, size_t{2}, line.size() / 2, line.size() - 1}) {
    test::put_file(folder.file("q"), test::to_bytes(line + line.substr(0, cut) + "\n\n" + line + line.substr(0, cut)));
    const auto file = read_quarantine(folder.file("q")).value();
    EXPECT_EQ(file.entries.size(), cut == line.size() - 1 ? 3U : 2U) << cut;
    EXPECT_EQ(file.broken_lines, cut == line.size() - 1 ? 1 : 2) << cut;
  }
  test::put_file(folder.file("q"), {});
  EXPECT_TRUE(read_quarantine(folder.file("q")).value().entries.empty());
}

}  // namespace
}  // namespace headpond::internal
