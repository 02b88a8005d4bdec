// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/quarantine/quarantine.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Folders : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(folder_.file(name)).parent_path());
    test::put_file(folder_.file(name), test::to_bytes(content));
  }
  std::string text(const std::string& name, const std::string& content, int label) {
    return fmt::format("'{}', '{}', {}", folder_.file(name), content, label);
  }
  test::TempFolder folder_;
};

TEST_F(Folders, AreFilesWithLabels) {
  write("dog/2.txt", "two");
  write("cat/1.txt", "");
  write("dog/more/3.TXT", "three");
  write("dog/4.png", "four");
  const Dataset all = folder(folder_.path());
  EXPECT_EQ(to_string(all.spec()), "{'path': bytes[], 'file': bytes[], 'label': int64[]}");
  EXPECT_THAT(elements(all), ElementsAre(text("cat/1.txt", "", 0), text("dog/2.txt", "two", 1),
                                         text("dog/4.png", "four", 1), text("dog/more/3.TXT", "three", 1)));
  EXPECT_EQ(folder(folder_.path(), {.extensions = {"txt"}}).cardinality(), 3);
  check_contract(all);
  check_contract(all | shuffle() | batch(3));
}

TEST_F(Folders, TellAFileThatIsGoneAndGoOn) {
  write("a/1", "one");
  write("a/2", "two");
  const Dataset all = folder(folder_.path());
  ASSERT_TRUE(check(all));
  std::filesystem::remove(folder_.file("a/1"));
  EXPECT_THAT(elements(all), ElementsAre(AllOf(HasSubstr("!NotFound"), HasSubstr("a/1")), text("a/2", "two", 0)));
  EXPECT_FALSE(check(folder(folder_.file("none"))));
}

TEST_F(Folders, GiveAFileAsItIsNowWhateverSizeItHadWhenItWasListed) {
  write("a/1", "one");
  write("a/2", "two");
  write("a/3", "three");
  const Dataset all = folder(folder_.path());
  ASSERT_TRUE(check(all));
  write("a/1", "longer");
  write("a/2", "");
  EXPECT_THAT(elements(all), ElementsAre(text("a/1", "longer", 0), text("a/2", "", 0), text("a/3", "three", 0)));
}

// Refuses the content "bad".
Step refuse_bad() {
  return map(
      [](std::string_view, std::string_view text, int64_t label) -> Result<int64_t> {
        if (text == "bad") return fail(ErrorKind::DataLoss, "it is bad");
        return label;
      },
      {.name = "look"});
}

TEST_F(Folders, ErrorsOfLaterStepsNameTheFile) {
  write("cat/1", "good");
  write("dog/1", "bad");
  Sequence sequence(folder(folder_.path()) | refuse_bad());
  ASSERT_TRUE(sequence.next());
  const auto failed = sequence.next();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message(), fmt::format("map(look, version=0), {}: it is bad", folder_.file("dog/1")));
  const ErrorPlace place = failed.error().place();
  EXPECT_EQ(place.source, folder_.file("dog/1"));
  EXPECT_EQ(place.record, 0U) << "the file is one record";
}

TEST_F(Folders, TwoOfOneFolderNameTheirOwnFiles) {
  write("a/1.png", "bad");
  write("a/0.jpg", "bad");
  Sequence png(folder(folder_.path(), {.extensions = {"png"}}) | refuse_bad());
  Sequence jpg(folder(folder_.path(), {.extensions = {"jpg"}}) | refuse_bad());
  EXPECT_THAT(png.next().error().message(), HasSubstr("a/1.png: "));
  EXPECT_THAT(jpg.next().error().message(), HasSubstr("a/0.jpg: "));
}

TEST_F(Folders, QuarantineFilesNameTheFilesThatAreReadAgain) {
  write("cat/1", "good");
  write("dog/1", "bad");
  const Dataset all = folder(folder_.path()) | refuse_bad() | on_error({.max_error_share = 1});
  const test::TempFolder other;
  Sequence sequence(all, {.quarantine = other.file("q")});
  while (sequence.next()) {
  }
  const std::vector<QuarantineEntry> entries = read_quarantine(other.file("q")).value().entries;
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].source, folder_.file("dog/1"));
  EXPECT_EQ(entries[0].record, 0);
  QuarantineReplay replay(all);
  EXPECT_THAT(replay.read(entries[0]).error().message(), HasSubstr("it is bad"));
  QuarantineEntry by_number = entries[0];
  by_number.source = folder_.path();
  by_number.record = 1;
  EXPECT_THAT(replay.read(by_number).error().message(), HasSubstr("it is bad")) << "the folder and a number will do";
  QuarantineEntry wrong = entries[0];
  wrong.source = folder_.file("cat/1");
  EXPECT_THAT(replay.read(wrong).error().message(), HasSubstr("another record there")) << "control";
}

TEST_F(Folders, ElementsThatWereKeptOnDiskNameTheirFiles) {
  write("cat/1", "good");
  write("dog/1", "bad");
  const test::TempFolder kept;
  for (const char* const run : {"cold", "warm"}) {
    Sequence sequence(folder(folder_.path()) | cache(kept.path()) | refuse_bad());
    ASSERT_TRUE(sequence.next());
    const auto failed = sequence.next();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().place().source, folder_.file("dog/1")) << run;
    EXPECT_FALSE(sequence.next());
  }
}

TEST_F(Folders, WithoutAFileThatIsWantedSayWhatWasLookedFor) {
  write("a/1.txt", "one");
  write("b/.hidden", "");
  const auto found = check(folder(folder_.path(), {.extensions = {".png", "JPG"}}));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind(), ErrorKind::NotFound);
  EXPECT_THAT(found.error().message(), HasSubstr("no file with the extension png or JPG in its 2 folders"));
  EXPECT_THAT(elements(folder(folder_.path(), {.extensions = {"png"}, .allow_empty = true})), IsEmpty());
  std::filesystem::remove(folder_.file("a/1.txt"));
  EXPECT_EQ(check(folder(folder_.path())).error().kind(), ErrorKind::NotFound);
  EXPECT_TRUE(check(folder(folder_.path(), {.allow_empty = true})));
}

TEST_F(Folders, AreTheSameByExtensionsWithADot) {
  write("a/1.txt", "one");
  const Dataset with_dot = folder(folder_.path(), {.extensions = {".txt"}});
  EXPECT_THAT(elements(with_dot), ElementsAre(text("a/1.txt", "one", 0)));
  EXPECT_EQ(with_dot.plan(), folder(folder_.path(), {.extensions = {"txt"}}).plan());
}

TEST_F(Folders, OfOtherFilesRefuseTheState) {
  write("a/1", "one");
  Sequence sequence(folder(folder_.path()));
  (void)sequence.next();
  EXPECT_TRUE(Sequence::restored(folder(folder_.path()), {}, sequence.state()));
  write("a/1", "three");
  EXPECT_FALSE(Sequence::restored(folder(folder_.path()), {}, sequence.state()));
}

}  // namespace
}  // namespace headpond::internal
