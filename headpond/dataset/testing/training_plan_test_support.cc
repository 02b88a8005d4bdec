// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "headpond/dataset/ops.h"
#include "headpond/dataset/run_state.h"
#include "headpond/dataset/testing/training_plan_test_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kSets = 1000;  // The samples of a set begin at a multiple of it.

int64_t among(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random.below(static_cast<uint64_t>(high - low + 1)));
}

TrainingSet random_set(Random& random, int64_t number) {
  TrainingSet set{.number = number, .size = among(random, 0, 12), .filters = among(random, 0, 3) == 0};
  set.window = among(random, -1, 1) * (among(random, 0, 1) == 0 ? 1 : 4);
  set.weight = static_cast<double>(among(random, 1, 5));
  set.augmentations = 0;
  return set;
}

Dataset augmented(Dataset input, const char* name, int64_t count) {
  for (int64_t i = 0; i < count; ++i) input = input | random_u32({.field = fmt::format("{}{}", name, i), .name = name});
  return input;
}

void add_set(Random& random, TrainingPlan& plan) {
  TrainingSet set = random_set(random, plan.next_number++);
  set.augmentations = plan.sets[0].augmentations;
  const auto count = static_cast<int64_t>(plan.sets.size());
  const int64_t at = plan.join == TrainingPlan::concatenated ? count : among(random, 0, count);
  plan.sets.insert(plan.sets.begin() + at, set);
}

}  // namespace

Dataset dataset_of(const TrainingSet& set) {
  Dataset all = range(set.number * kSets, set.number * kSets + set.size);
  if (set.filters) all = all | filter([](int64_t x) { return x % 3 != 1; }, {.name = "thirds"});
  if (set.window != 0) all = all | (set.window < 0 ? shuffle() : shuffle(set.window));
  return augmented(all, "inner", set.augmentations);
}

Dataset TrainingPlan::dataset() const {
  std::vector<Dataset> inputs;
  std::vector<double> weights;
  for (const TrainingSet& set : sets) {
    inputs.push_back(dataset_of(set));
    weights.push_back(set.weight);
  }
  Dataset all = inputs[0];
  if (join == concatenated) all = concatenate(inputs);
  if (join == mixed) all = mix(inputs, weights);
  if (join == sampled) all = sample_from_datasets(inputs, weights);
  all = augmented(all, "outer", augmentations);
  if (hint) all = all | prefetch();
  if (bucket > 0) {
    return all | bucket_by_sequence_length([](int64_t x) { return x % 7; }, {2, 4}, {bucket, bucket + 1, bucket},
                                           {.name = "seventh"});
  }
  return batch > 0 ? all | headpond::batch(batch) : all;
}

TrainingPlan random_training_plan(Random& random) {
  TrainingPlan plan;
  plan.join = static_cast<TrainingPlan::Join>(among(random, 0, 2));
  const int64_t count = among(random, 1, 4);
  while (plan.next_number < count) plan.sets.push_back(random_set(random, plan.next_number++));
  plan.augmentations = among(random, 0, 2);
  plan.batch = among(random, 0, 5);
  if (random.below(4) > 0) return plan;
  plan.bucket = among(random, 1, 5);
  plan.augmentations = 0;  // Buckets are found from a single field.
  return plan;
}

TrainingPlan changed(Random& random, TrainingPlan plan) {
  if (plan.bucket > 0 && random.below(3) > 0) {
    plan.bucket = among(random, 1, 5);
    return plan;
  }
  switch (random.below(plan.bucket > 0 ? 4 : 7)) {
    case 0:
      plan.batch = among(random, 0, 7);
      break;
    case 1:
      for (TrainingSet& set : plan.sets) set.weight = static_cast<double>(among(random, 1, 5));
      break;
    case 2:
      add_set(random, plan);
      break;
    case 3:
      if (plan.sets.size() > 1)
        plan.sets.erase(plan.sets.begin() + among(random, 0, static_cast<int64_t>(plan.sets.size()) - 1));
      break;
    case 4:
      plan.augmentations = among(random, 0, 3);
      break;
    case 5:
      plan.hint = !plan.hint;
      break;
    default:
      for (TrainingSet& set : plan.sets) ++set.augmentations;
      break;
  }
  return plan;
}

Sequence run_of_epoch(const Dataset& dataset, uint64_t seed, int64_t epoch, const std::string& state) {
  const RunState beginning{.epoch = static_cast<uint64_t>(epoch), .index = 0, .position = {}};
  const SequenceOptions options{.seed = seed, .epochs = epoch + 1};
  auto sequence = Sequence::restored(dataset, options, state.empty() ? save(beginning, dataset, seed) : state);
  if (!sequence) throw Exception(sequence.error());
  return std::move(*sequence);
}

std::vector<int64_t> samples(Sequence& sequence, int64_t count) {
  std::vector<int64_t> all;
  for (; count != 0; --count) {
    const auto element = sequence.next();
    if (!element) break;
    const auto ids = (*element)[size_t{0}].as<int64_t>();
    all.insert(all.end(), ids.begin(), ids.end());
  }
  return all;
}

std::string epoch_violation(const std::vector<TrainingSet>& sets, const std::vector<int64_t>& delivered, uint64_t seed,
                            int64_t epoch, bool ended, const std::vector<MigrationStep>& told, bool sorted) {
  for (const TrainingSet& set : sets) {
    const Dataset dataset = dataset_of(set);
    Sequence alone = run_of_epoch(dataset, seed, epoch);
    std::vector<int64_t> expected = samples(alone), got;
    std::copy_if(delivered.begin(), delivered.end(), std::back_inserter(got),
                 [&](int64_t id) { return id / kSets == set.number; });
    auto text = fmt::format("set {}: came [{}], has [{}]", set.number, fmt::join(got, " "), fmt::join(expected, " "));
    if (sorted) {
      std::sort(got.begin(), got.end());
      std::sort(expected.begin(), expected.end());
      if (!std::includes(expected.begin(), expected.end(), got.begin(), got.end())) return text;
    } else if (got.size() > expected.size() || !std::equal(got.begin(), got.end(), expected.begin())) {
      return text;
    }
    const std::string source = dataset.plan().substr(0, dataset.plan().find('\n'));
    const bool is_told = std::any_of(told.begin(), told.end(), [&](const MigrationStep& step) {
      return step.kind == MigrationKind::never && step.step.starts_with(source);
    });
    if (ended && got.size() < expected.size() && !is_told) return text + ", and ended";
  }
  return "";
}

}  // namespace headpond::internal
