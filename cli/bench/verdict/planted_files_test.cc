// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/verdict/planted_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"

namespace headpond::cli {
namespace {

// The numbers of records of each file, and whether the batches are equal and the records of one are not.
void expect_batches(const PlantedFiles& files, const std::vector<int>& records_of_files, int rows) {
  ASSERT_EQ(files.paths().size(), records_of_files.size());
  std::vector<std::string> batch;
  for (size_t i = 0; i < records_of_files.size(); ++i) {
    int records = 0;
    Sequence sequence(tfrecord(files.paths()[i]));
    while (const auto element = sequence.next()) {
      const std::string record((*element)[0].bytes_at(0));
      if (std::ssize(batch) < rows) batch.push_back(record);
      const bool is_same = record == batch[static_cast<size_t>(records++ % rows)];
      EXPECT_TRUE(is_same) << files.paths()[i] << ", record " << records;
    }
    EXPECT_EQ(records, records_of_files[i]);
  }
  ASSERT_EQ(batch.size(), 2U);
  const bool are_alike = batch[0] == batch[1];
  EXPECT_FALSE(are_alike);
}

TEST(PlantedFiles, OfZlibHoldOneBatchAgainAndAgain) { expect_batches({3, 2, 1, true}, {6}, 2); }

TEST(PlantedFiles, DivideTheBatches) { expect_batches({3, 2, 2, false}, {2, 4}, 2); }

TEST(PlantedFiles, VanishWithTheirOwner) {
  auto files = std::make_unique<PlantedFiles>(1, 2, 1, true);
  const std::string path = files->paths()[0];
  EXPECT_TRUE(std::filesystem::exists(path));
  files.reset();
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(path).parent_path()));
}

}  // namespace
}  // namespace headpond::cli
