// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/migrate/given_inputs_internal.h"
#include "headpond/dataset/run_state.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

// "running 2, finished": the progress of each input, and its position where it has one.
std::string texts_of(const std::vector<GivenInput>& all) {
  std::string text;
  for (const GivenInput& one : all) {
    const char* const names[] = {"untouched", "running", "finished"};
    text += (text.empty() ? "" : ", ") + std::string(names[static_cast<size_t>(one.progress)]);
    if (one.state.position) text += fmt::format(" {}", *one.state.position);
  }
  return text;
}

std::string after(const Dataset& dataset, int64_t count) {
  Sequence sequence(dataset, {.seed = 7});
  for (int64_t i = 0; i < count; ++i) (void)sequence.next();
  const auto state = node_state(dataset, {7, 0}, read_state(sequence.state())->state.position);
  return texts_of(given_inputs(*state));
}

TEST(GivenInputs, OfAMixtureAreAllReadInTurn) {
  const std::vector<Dataset> inputs = {range(4), range(8), range(2)};
  EXPECT_EQ(after(mix(inputs, {1, 2, 0}), 6), "running 2, running 4, untouched 0");
}

TEST(GivenInputs, OfASequenceAreReadOneAfterTheOther) {
  const Dataset a = range(2), b = range(5), stream = b | as_stream();
  EXPECT_EQ(after(concatenate({a, b, a}), 0), "untouched 0, untouched, untouched");
  EXPECT_EQ(after(concatenate({a, b, a}), 3), "finished 2, running 1, untouched");
  EXPECT_EQ(after(concatenate({a, b, a}), 9), "finished 2, finished 5, finished 2");
  EXPECT_EQ(after(concatenate({stream | batch(2), b | batch(2), a | batch(2)}), 4), "finished, running, untouched");
}

TEST(GivenInputs, AreMatchedByEqualityThenBySources) {
  const Dataset a = range(2), b = range(3), c = range(4);
  const auto given = [](const Dataset& dataset) { return GivenInput{dataset.node().get(), Progress::running, {}, 0}; };
  const Dataset changed = a | take(1);
  const Dataset now = concatenate({c, changed, b, a});
  const auto matched = match({given(a), given(b), given(a)}, *now.node());
  ASSERT_EQ(matched.size(), 4U);
  EXPECT_EQ(matched[0], std::nullopt);
  EXPECT_EQ(matched[1], 2U) << "the remaining input with these sources";
  EXPECT_EQ(matched[2], 1U);
  EXPECT_EQ(matched[3], 0U) << "the equal one goes first";
}

}  // namespace
}  // namespace headpond::internal
