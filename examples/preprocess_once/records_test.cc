// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "examples/preprocess_once/drawn_test_internal.h"
#include "examples/preprocess_once/operators.h"

namespace preprocess_once {
namespace {

using hp::test::TempFolder;
using testing::HasSubstr;

// The first error that reading gives; else "none".
std::string first_error(const std::string& path) {
  hp::Loader loader(read_prepared(path));
  while (true) {
    const auto sample = loader.next();
    if (hp::at_end(sample)) return "none";
    if (!sample) return sample.error().to_string();
  }
}

void write_record(const std::string& path, const std::string& input, const std::string& nuclei,
                  const std::vector<int64_t>& size) {
  const std::vector<hp::NamedTensor> features = {{"input", hp::Tensor::scalar(std::string_view(input))},
                                                 {"nuclei", hp::Tensor::scalar(std::string_view(nuclei))},
                                                 {"size", hp::Tensor::from<int64_t>(size, {2})}};
  auto writer = hp::RecordWriter::open(path);
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->append(hp::make_example(features).value_or("")));
  ASSERT_TRUE((*writer)->close());
}

TEST(Records, GiveTheBytesOfStraightforwardCodeWithAnyThreads) {
  const TempFolder folder;
  const auto shard = write_prepared(prepared(test::drawn(), 7), folder.file("here"));
  ASSERT_TRUE(shard) << shard.error();
  EXPECT_EQ(shard->path, folder.file("here/prepared-00000-of-00001.tfrecord"));
  EXPECT_EQ(shard->records, 5);
  const auto expected = test::all_straightforwardly(test::drawn(), 7);
  ASSERT_EQ(expected.size(), 5U);
  for (const int threads : {0, 1, 4}) {
    EXPECT_TRUE(test::all_of(read_prepared(shard->path), threads) == expected) << threads << " threads";
  }
  EXPECT_EQ(std::filesystem::file_size(shard->path), shard->bytes);
}

TEST(Records, StayIfTheyWereMadeFromTheSame) {
  const TempFolder folder;
  std::atomic<int64_t> asked = 0;
  const hp::Dataset counted = prepared(test::drawn(), 7) | hp::map(
                                                               [&asked](const hp::Element& sample) {
                                                                 ++asked;
                                                                 return sample;
                                                               },
                                                               {.output = sample_fields(), .name = "counted"});
  const auto first = write_prepared(counted, folder.path(), {}, "five pictures");
  ASSERT_TRUE(first) << first.error();
  EXPECT_EQ(asked, 5);
  const auto again = write_prepared(counted, folder.path(), {}, "five pictures");
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(asked, 5);
  EXPECT_EQ(again->digest, first->digest);
  EXPECT_FALSE(write_prepared(counted, folder.path(), {}, "other pictures"));
  ASSERT_TRUE(write_prepared(counted, folder.path()));
  EXPECT_EQ(asked, 10) << "control";
}

TEST(Records, OfAFailedPreparationHaveNoName) {
  const TempFolder folder;
  std::vector<Picture> pictures = test::drawn();
  pictures[3].masks.emplace_back("nowhere.png");
  const auto shard = write_prepared(prepared(pictures, 7), folder.path());
  ASSERT_FALSE(shard);
  EXPECT_THAT(shard.error().to_string(), HasSubstr("nowhere.png"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("prepared-00000-of-00001.tfrecord")));
}

TEST(Records, ThatAreDamagedAreErrorsInTheirPlace) {
  const TempFolder folder;
  const auto shard = write_prepared(prepared({test::drawn()[0], test::drawn()[1]}, 7), folder.path());
  ASSERT_TRUE(shard) << shard.error();
  const std::string path = shard->path;
  auto bytes = hp::test::get_file(path);
  bytes[bytes.size() - 1000] ^= std::byte{1};
  hp::test::put_file(path, bytes);
  hp::Loader loader(read_prepared(path));
  ASSERT_TRUE(loader.next());
  const auto damaged = loader.next();
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().kind(), hp::ErrorKind::DataLoss);
}

TEST(Records, WhoseSizeIsNotThatOfTheBytesAreErrors) {
  const TempFolder folder;
  const std::string path = folder.file("a.tfrecord");
  write_record(path, std::string(30, 'i'), std::string(6, 'n'), {2, 3});
  EXPECT_EQ(first_error(path), "none");
  write_record(path, std::string(5, 'i'), "n", {1, 1});  // The smallest lie in a buffer too.
  EXPECT_EQ(first_error(path), "none");
  write_record(path, std::string(29, 'i'), std::string(6, 'n'), {2, 3});
  EXPECT_THAT(first_error(path), HasSubstr("29 bytes for an image of [2,3,5]"));
  write_record(path, std::string(30, 'i'), std::string(7, 'n'), {2, 3});
  EXPECT_THAT(first_error(path), HasSubstr("7 bytes for an image of [2,3]"));
  for (const std::vector<int64_t>& size :
       {std::vector<int64_t>{0, 0}, {-2, -3}, {int64_t{1} << 40, int64_t{1} << 40}}) {
    write_record(path, "", "", size);
    EXPECT_THAT(first_error(path), HasSubstr("InvalidArgument"));
  }
}

TEST(Records, TakeNoMoreMemoryHoweverManyEpochs) {
  const TempFolder folder;
  const auto shard = write_prepared(prepared(test::drawn(), 7), folder.path());
  ASSERT_TRUE(shard) << shard.error();
  hp::Loader loader(read_prepared(shard->path), {.epochs = 40});
  uint64_t after_five = 0;
  for (const hp::Batch& sample : loader) {
    if (sample.epoch() == 5 && after_five == 0) after_five = hp::memory_info().rss;
  }
  EXPECT_LT(hp::memory_info().rss, after_five + 5 * shard->bytes);
}

TEST(Records, ThatAreNotThereThrowWhenALoaderIsMade) {
  EXPECT_FALSE(hp::check(read_prepared("nowhere.tfrecord")));
  EXPECT_THROW(hp::Loader(read_prepared("nowhere.tfrecord")), hp::Exception);
}

}  // namespace
}  // namespace preprocess_once
