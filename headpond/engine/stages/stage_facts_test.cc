// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "headpond/engine/stages/stage_facts_internal.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

const MapOptions kBatches{.output = {{"", i64, {kUnknown}}}};
const Step kNext = map([](int64_t x) { return x + 1; });

StageFigures facts(const Dataset& dataset) { return facts_of(stage_of(*dataset.node())); }

TEST(StageFacts, AFunctionOfBatchesIsAboveBatch) {
  const Step sum = map([](const Tensor& rows) { return rows; }, kBatches);
  EXPECT_TRUE(facts(range(8) | batch(2) | sum).is_above_batch);
  EXPECT_FALSE(facts(range(8) | kNext | batch(2)).is_above_batch) << "the batch itself is not";
  EXPECT_FALSE(facts(range(8) | batch(2) | unbatch() | kNext | batch(4)).is_above_batch);
  EXPECT_FALSE(facts(range(8) | kNext).is_above_batch);
}

TEST(StageFacts, WhatGivesBatches) {
  EXPECT_TRUE(gives_batches(*(range(8) | batch(2)).node()));
  EXPECT_TRUE(gives_batches(*(range(8) | batch(2) | shuffle()).node()));
  EXPECT_FALSE(gives_batches(*(range(8) | batch(2) | unbatch()).node()));
  EXPECT_FALSE(gives_batches(*range(8).node()));
}

TEST(StageFacts, OperatorsWithoutRandomNumbersCanBeKept) {
  const StageFigures kept = facts(range(1000) | kNext | kNext | shuffle() | kNext | batch(4));
  EXPECT_EQ(kept.prefix_operators, 3);
  EXPECT_EQ(kept.prefix_bytes, 8000);
  EXPECT_EQ(facts(range(1000) | shuffle() | kNext).prefix_operators, 1);
  EXPECT_LT(facts(generated(3) | kNext).prefix_bytes, 0) << "a stream has no positions";
}

TEST(StageFacts, AnIteratorWorksOnOneThread) {
  EXPECT_EQ(facts(generated(3) | kNext).serial.op, generated(3).node()->facts().op);
  EXPECT_EQ(facts(generated(3) | kNext).top.op, "map");
  EXPECT_EQ(facts(generated(3) | kNext | batch(2)).serial.op, "batch");
}

TEST(StageFacts, OfAChainOverAStreamEachOperatorMayTakeMost) {
  const auto named = [](const char* name) { return map([](int64_t x) { return x; }, {.name = name}); };
  EXPECT_EQ(facts(generated(3) | named("decode") | named("augment")).top.title, "map(decode) or map(augment)");
  EXPECT_EQ(facts(generated(3) | named("decode") | named("augment")).top.op, "map");
  EXPECT_EQ(facts(generated(3) | named("decode")).top.title, "map(decode)");
  EXPECT_EQ(facts(generated(3)).top.title, "from_generator(generated)") << "without a chain the source is the top";
  EXPECT_EQ(facts(range(3) | named("decode") | named("augment")).top.title, "map(augment)") << "samples tell it";
}

TEST(StageFacts, ASourceOfAnotherStageIsNotItsOwn) {
  const auto folder = testing::TempDir();
  const std::string file = folder + "/stage_facts.txt";
  std::ofstream(file) << "a\nb\n";
  EXPECT_TRUE(facts(text_lines(file)).has_one_file);
  EXPECT_FALSE(facts(text_lines({file, file})).has_one_file) << "two";
  EXPECT_FALSE(facts(range(3)).has_one_file) << "none";
  EXPECT_FALSE(
      facts(text_lines(file) | batch(1) | map([](const Tensor& x) { return x; }, {.output = {{"", bytes, {kUnknown}}}}))
          .has_one_file);
  const StageFigures gathered = facts(text_lines(file) | filter([](const Tensor&) { return true; }) | batch(1));
  EXPECT_FALSE(gathered.has_one_file) << "an operator that takes from a stage of its own";
  EXPECT_EQ(gathered.prefix_operators, 0);
}

}  // namespace
}  // namespace headpond::internal
