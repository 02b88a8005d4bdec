// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/source_names.h"

#include <gtest/gtest.h>

#include <vector>

namespace headpond {
namespace {

class Paths : public RecordFiles {
 public:
  explicit Paths(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  std::string path_of(uint64_t record) const override { return record < paths_.size() ? paths_[record] : ""; }

 private:
  const std::vector<std::string> paths_;
};

TEST(SourceNames, OfAFolderAreItsFilesAsLongAsTheseAreKnown) {
  auto files = std::make_shared<const Paths>(std::vector<std::string>{"pets/cat/1.jpg", "pets/dog/2.jpg"});
  const uint64_t pets = register_files("pets", "one", files);
  const Provenance second = {.source = pets, .record = 1};
  EXPECT_EQ(to_string(second), "pets/dog/2.jpg");
  EXPECT_EQ(place_of(second).source, "pets/dog/2.jpg");
  EXPECT_EQ(place_of(second).record, 0U);
  EXPECT_TRUE(place_of(second).is_file);
  EXPECT_EQ(to_string(Provenance{.source = pets, .record = 2}), "pets, record 2") << "no such file";
  files.reset();
  EXPECT_EQ(to_string(second), "pets, record 1");
  EXPECT_EQ(place_of(second).record, 1U);
  EXPECT_EQ(place_of(second).source, "pets");
}

TEST(SourceNames, OfFoldersOfOneNameDifferByTheirFiles) {
  const auto one = std::make_shared<const Paths>(std::vector<std::string>{"data/a.png"});
  const auto other = std::make_shared<const Paths>(std::vector<std::string>{"data/b.jpg"});
  const uint64_t first = register_files("data", "png", one), second = register_files("data", "jpg", other);
  EXPECT_NE(first, second);
  EXPECT_NE(first, register_source("data"));
  EXPECT_EQ(to_string(Provenance{.source = first}), "data/a.png");
  EXPECT_EQ(to_string(Provenance{.source = second}), "data/b.jpg");
}

TEST(SourceNames, OfAFolderThatWasOpenedTwiceStayAsLongAsOneIsOpen) {
  const auto paths = [] { return std::make_shared<const Paths>(std::vector<std::string>{"twice/a.png"}); };
  auto one = paths(), other = paths();
  const uint64_t source = register_files("twice", "png", one);
  EXPECT_EQ(register_files("twice", "png", other), source);
  other.reset();
  EXPECT_EQ(to_string(Provenance{.source = source}), "twice/a.png");
  one.reset();
  EXPECT_EQ(to_string(Provenance{.source = source}), "twice, record 0");
}

TEST(SourceNames, HaveKeysThatTellThemApartElsewhere) {
  const auto files = std::make_shared<const Paths>(std::vector<std::string>{"kept/a.png"});
  const uint64_t folder = register_files("kept", "png", files), file = register_source("kept");
  EXPECT_EQ(register_source_key(source_key(folder)), folder);
  EXPECT_EQ(register_source_key(source_key(file)), file);
  EXPECT_EQ(source_key(file), "kept");
  const std::string unseen = source_key(folder) + "x";
  EXPECT_EQ(to_string(Provenance{.source = register_source_key(unseen)}), "kept, record 0");
  EXPECT_EQ(source_key(0), "");
}

TEST(SourceNames, OfOtherSourcesHaveNumbers) {
  const uint64_t records = register_source("a.tfrecord", /*is_file=*/true), numbers = register_source("range");
  const RecordPlace place = place_of({.source = records, .record = 7});
  EXPECT_EQ(place.source, "a.tfrecord");
  EXPECT_EQ(place.record, 7U);
  EXPECT_TRUE(place.is_file);
  EXPECT_FALSE(place.is_whole);
  EXPECT_FALSE(place_of({.source = numbers, .record = 7}).is_file);
  EXPECT_EQ(place_of({}).source, "");
}

}  // namespace
}  // namespace headpond
