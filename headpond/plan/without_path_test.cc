// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/without_path.h"

#include <gtest/gtest.h>

namespace headpond::plan {
namespace {

TEST(WithoutPath, TakesTheNameOutOfAMessage) {
  EXPECT_EQ(without_path("d/a: checksum", "d/a"), "checksum");
  EXPECT_EQ(without_path("d/a, line 3: no object", "d/a"), "line 3: no object");
  EXPECT_EQ(without_path("d/a is a folder", "d/a"), "is a folder");
  EXPECT_EQ(without_path("cannot open d/a: No such file", "d/a"), "cannot open: No such file");
  EXPECT_EQ(without_path("NotFound: no file matches d/a-*", "d/a-*"), "NotFound: no file matches");
  EXPECT_EQ(without_path("cannot read record 1 at offset 3: d/a shrank", "d/a"),
            "cannot read record 1 at offset 3: shrank");
}

TEST(WithoutPath, TakesItOutOfEachCause) {
  EXPECT_EQ(without_path("DataLoss: d/a: cut; caused by DataLoss: d/a: gzip: no header; caused by Unknown: d/a", "d/a"),
            "DataLoss: cut; caused by DataLoss: gzip: no header; caused by Unknown: d/a");
}

TEST(WithoutPath, LeavesOtherNamesAndWords) {
  for (const char* text : {"", "a", "cannot open da: No such file", "cannot open d/a: No such file", "a/b: cut",
                           "gzip: no header begins at offset 0", "cannot be read", "remove /cache/a or ab: cut"}) {
    EXPECT_EQ(without_path(text, "a"), text);
  }
  EXPECT_EQ(without_path("DataLoss: a: gzip: a code", "a"), "DataLoss: gzip: a code");
  EXPECT_EQ(without_path("a: cut", ""), "a: cut");
}

}  // namespace
}  // namespace headpond::plan
