// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/base/crc32c.h"
#include "headpond/train/loop/manifest_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

Manifest example() {
  return {.facts = {.step = 12, .epoch = 1, .seed = 7, .fingerprint = 255, .plan = "p", .torch = "1.13.1"},
          .files = {{"model.pt", 3, 0xff}}};
}

// `text` with another member, and the checksum that it then needs.
std::string changed(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  const std::string covered = text.substr(0, text.rfind(",\"checksum\""));
  char sum[16];
  std::snprintf(sum, sizeof(sum), "%08x", crc32c(covered));
  return covered + ",\"checksum\":\"" + sum + "\"}\n";
}

TEST(Manifest, IsTextThatTheDocumentShows) {
  const std::string text = manifest_text(example());
  EXPECT_THAT(text, HasSubstr(R"({"schema":"headpond.checkpoint/1","step":12,"epoch":1,"seed":7,)"
                              R"("fingerprint":"00000000000000ff","plan":"p","torch":"1.13.1","parameters":[],)"
                              R"("files":["model.pt"],"bytes":[3],"crc32c":["000000ff"],"checksum":")"));
  const auto read = parse_manifest(text, "m");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->facts, example().facts);
  EXPECT_EQ(read->files[0].crc, 255U);
  EXPECT_EQ(changed(text, "p", "p"), text) << "control of what the next tests change";
}

TEST(Manifest, EachByteIsCovered) {
  const std::string text = manifest_text(example());
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    const auto read = parse_manifest(damaged, "the path");
    ASSERT_FALSE(read) << i;
    EXPECT_EQ(read.error().kind(), ErrorKind::DataLoss);
    EXPECT_THAT(read.error().message(), HasSubstr("the path: "));
    EXPECT_FALSE(parse_manifest(text.substr(0, i), "m")) << i;
  }
}

TEST(Manifest, OtherVersionsAndImpossibleValuesAreRefused) {
  const std::string text = manifest_text(example());
  EXPECT_EQ(parse_manifest(changed(text, "checkpoint/1", "checkpoint/2"), "m").error().kind(),
            ErrorKind::Unimplemented);
  for (const auto& [from, to] : {std::pair{"[3]", "[3,4]"},
                                 {"\"000000ff\"", "\"1000000ff\""},
                                 {"model.pt", "../model"},
                                 {"model.pt", ".model"},
                                 {"\"step\":12", "\"step\":1.5"},
                                 {"00ff", "00fg"}}) {
    const auto read = parse_manifest(changed(text, from, to), "m");
    ASSERT_FALSE(read) << to;
    EXPECT_EQ(read.error().kind(), ErrorKind::DataLoss) << to;
  }
}

}  // namespace
}  // namespace headpond::internal
