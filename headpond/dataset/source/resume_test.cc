// SPDX-License-Identifier: Apache-2.0
// Resuming in the middle of a source reads at most one record again.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/io/archive/tar_writer.h"
#include "headpond/io/array/idx.h"
#include "headpond/io/array/npy.h"
#include "headpond/io/record/record_writer.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const SequenceOptions kTwice = {.seed = 7, .epochs = 2};

std::vector<std::string> rest_of(Sequence& sequence) {
  std::vector<std::string> all;
  while (true) {
    const auto next = sequence.next();
    all.push_back(at_end(next) ? "end" : next ? text_of(*next) : "!" + next.error().to_string());
    if (at_end(next)) return all;
  }
}

// Saves at each position, restores there, and counts what the restored run maps.
void check_rereads(const Dataset& source) {
  const auto calls = std::make_shared<size_t>(0);
  const auto counted = [calls](const Element& element) {
    ++*calls;
    return element;
  };
  const Dataset dataset = source | map(counted, {.output = source.spec(), .name = "counted"});
  Sequence whole(dataset, kTwice), stepping(dataset, kTwice);
  const std::vector<std::string> all = rest_of(whole);
  ASSERT_GT(all.size(), 3U) << "a source without records tells nothing";
  for (size_t taken = 0; taken < all.size(); ++taken) {
    const std::string state = stepping.state();
    *calls = 0;
    auto restored = Sequence::restored(dataset, kTwice, state);
    ASSERT_TRUE(restored) << restored.error();
    ASSERT_EQ(rest_of(*restored), std::vector(all.begin() + static_cast<std::ptrdiff_t>(taken), all.end()));
    EXPECT_LE(*calls, all.size() - 1 - taken + 1) << "after " << taken;
    (void)stepping.next();
  }
}

class ResumedSources : public testing::Test {
 protected:
  ResumedSources() { setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1); }
  std::string write(const std::string& name, const std::string& content) const {
    test::put_file(folder_.file(name), test::to_bytes(content));
    return folder_.file(name);
  }
  std::string records(const std::string& name, const std::vector<std::string>& all, Compression compression) const {
    const auto writer = RecordWriter::open(folder_.file(name), {.compression = compression}).value();
    for (const std::string& record : all) EXPECT_TRUE(writer->append(record));
    EXPECT_TRUE(writer->close());
    return folder_.file(name);
  }
  // Writes over bytes of a file that stays what it is: who has it mapped sees them.
  static void write_over(const std::string& path, off_t offset, const std::string& bytes) {
    const int file = ::open(path.c_str(), O_WRONLY);
    EXPECT_EQ(::pwrite(file, bytes.data(), bytes.size(), offset), static_cast<ssize_t>(bytes.size()));
    ::close(file);
  }
  const test::TempFolder folder_;
};

TEST_F(ResumedSources, OfRecordsReadAtMostOneAgain) {
  const std::vector<std::string> first = {"a", "", "ccc", "d"}, second = {"e", "f"};
  const std::string one = records("1", first, Compression::none), two = records("2", second, Compression::none);
  check_rereads(tfrecord({one, two}));
  check_rereads(tfrecord({one, two}) | shuffle());
  check_rereads(tfrecord({records("1.gz", first, Compression::gzip), two}));
  check_rereads(tfrecord({one, records("2.z", second, Compression::zlib)}));
}

TEST_F(ResumedSources, OfTextsAndArraysReadAtMostOneAgain) {
  const std::string lines = write("lines", "a\nb\n\nd"), rows = write("rows", "n,s\n1,a\n2,b\n3,\"c\"\n4,d\n");
  check_rereads(text_lines(lines));
  check_rereads(text_lines(lines) | shuffle());
  check_rereads(csv(rows));
  test::put_file(folder_.file("rows.gz"), test::gzip(test::get_file(rows)));
  check_rereads(csv({rows, folder_.file("rows.gz")}));
  check_rereads(fixed_length(write("fixed", "aabbccdd"), {.record_bytes = 2}));
  const std::vector<uint8_t> values = {1, 2, 3, 4, 5, 6, 7, 8};
  const Tensor tensor = Tensor::from(std::span<const uint8_t>(values), {4, 2});
  ASSERT_TRUE(write_npy(folder_.file("npy"), tensor));
  check_rereads(npy(folder_.file("npy")));
  ASSERT_TRUE(write_idx(folder_.file("idx"), tensor));
  check_rereads(idx(folder_.file("idx")));
}

TEST_F(ResumedSources, OfMembersAndFilesReadAtMostOneAgain) {
  std::string archive;
  for (const char* name : {"a.x", "b.x", "c.x", "d.x"}) ASSERT_TRUE(append_tar_member(archive, name, name));
  check_rereads(tar(write("tar", archive + std::string(tar_end()))));
  std::filesystem::create_directories(folder_.file("labels/one"));
  for (const char* name : {"a", "b", "c", "d"}) write(std::string("labels/one/") + name, name);
  check_rereads(folder(folder_.file("labels")));
}

// Counts what the sources by position ask of a file: they are all made of these.
class Asked final : public SourceFile {
 public:
  Asked(int64_t size, std::vector<int64_t>& asked) : size_(size), asked_(asked) {}
  int64_t size() const override { return size_; }
  std::optional<FileMark> mark() const override { return FileMark(); }
  Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
    asked_.push_back(i);
    out.append(Tensor::scalar(i));
    return Got::value;
  }
  bool fill(int64_t i, Context&, std::span<std::byte* const> targets) const override {
    asked_.push_back(i);
    std::memcpy(targets[0], &i, sizeof(i));
    return true;
  }
  bool fills() const override { return true; }

 private:
  const int64_t size_;
  std::vector<int64_t>& asked_;
};

TEST_F(ResumedSources, ByPositionAskForNoRecordBeforeTheirPlace) {
  constexpr int64_t kRecords = 12;
  std::vector<int64_t> asked;
  const auto open = [&](const std::string&) { return std::make_unique<Asked>(kRecords, asked); };
  const Dataset records = source_files({.op = "asked", .spec = {{"", DType::i64, {}}}},
                                       {.patterns = {"file"}, .open = open, .keep_counts = false});
  for (const int64_t batch_size : {1, 4}) {
    const Dataset dataset = batch_size == 1 ? records : records | batch(batch_size);
    Sequence stepping(dataset);
    for (int64_t place = 0; place < kRecords; place += batch_size) {
      const std::string state = stepping.state();
      asked.clear();
      auto restored = Sequence::restored(dataset, {}, state);
      ASSERT_TRUE(restored && asked.empty());
      ASSERT_TRUE(restored->next());
      ASSERT_FALSE(asked.empty());
      EXPECT_EQ(asked.front(), place);
      (void)rest_of(*restored);
      EXPECT_GE(*std::ranges::min_element(asked), place);
      EXPECT_LE(asked.size(), static_cast<size_t>(kRecords - place) + 1);
      (void)stepping.next();
    }
  }
}

// Data before the saved position can be unreadable without effect.
TEST_F(ResumedSources, GoOnThoughWhatIsBeforeTheirPositionIsDamagedOrGone) {
  const std::string long_one(5'000, 'x');  // A change after it is not one of the file's start.
  const std::string plain = records("plain", {long_one, "b", "c", "d"}, Compression::none);
  const std::string rows = write("rows", "n,s\n1," + long_one + "\n2,b\n3,c\n4,d\n");
  const auto go_on = [](const Dataset& dataset, const std::function<void()>& damage) {
    Sequence sequence(dataset);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(sequence.next());
    const std::string state = sequence.state();
    damage();
    EXPECT_THAT(elements(dataset), testing::Contains(HasSubstr("!"))) << "control";
    auto restored = Sequence::restored(dataset, {}, state);
    ASSERT_TRUE(restored) << restored.error();
    EXPECT_THAT(rest_of(*restored), ElementsAre(HasSubstr("c"), HasSubstr("d"), "end"));
  };
  go_on(tfrecord(plain), [&] { write_over(plain, 5'016 + 12, "B"); });
  go_on(csv(rows, {.columns = {{"n", i64}, {"s", bytes}}}), [&] { write_over(rows, 4 + 2 + 5'000 + 1, "x"); });
  std::filesystem::create_directories(folder_.file("labels/one"));
  for (const char* name : {"a", "b", "c", "d"}) write(std::string("labels/one/") + name, name);
  go_on(folder(folder_.file("labels")), [&] { std::filesystem::remove(folder_.file("labels/one/b")); });
}

// A restore inflates the bytes before its position and takes none of them for a record.
TEST_F(ResumedSources, OfACompressedFileTellNoDamageAgain) {
  const std::string path = records("x", {"a", "b", "c", "d"}, Compression::none);
  write_over(path, 17 + 12, "B");
  test::put_file(path, test::gzip(test::get_file(path)));
  const Dataset dataset = tfrecord(path);
  Sequence sequence(dataset);
  EXPECT_TRUE(sequence.next());
  EXPECT_FALSE(sequence.next()) << "control: the damaged one";
  EXPECT_TRUE(sequence.next());
  auto restored = Sequence::restored(dataset, {}, sequence.state());
  ASSERT_TRUE(restored) << restored.error();
  EXPECT_THAT(rest_of(*restored), ElementsAre("'d'", "end"));
}

}  // namespace
}  // namespace headpond::internal
