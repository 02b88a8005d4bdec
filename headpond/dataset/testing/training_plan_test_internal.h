// SPDX-License-Identifier: Apache-2.0
// Pipelines as people train with them, drawn at random and changed at random, for tests of what a changed plan
// delivers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/migrate/migrate.h"
#include "headpond/dataset/sequence.h"

namespace headpond::internal {

/// Samples 1000 * number ... 1000 * number + size - 1.
struct TrainingSet {
  int64_t number = 0, size = 0;
  int64_t window = 0;  ///< Of its shuffle; below 0: the epoch; 0: none.
  bool filters = false;
  int64_t augmentations = 0;
  double weight = 1;
};

struct TrainingPlan {
  enum Join : uint8_t { concatenated, mixed, sampled };
  std::vector<TrainingSet> sets;
  Join join = mixed;
  int64_t augmentations = 0;
  int64_t batch = 0;   ///< 0: single samples.
  int64_t bucket = 0;  ///< The size of a batch in buckets instead; 0: no buckets.
  bool hint = false;
  int64_t next_number = 0;  ///< Of a set that is added.

  Dataset dataset() const;
};

/// The samples of a set alone, in its order.
Dataset dataset_of(const TrainingSet& set);
TrainingPlan random_training_plan(Random& random);
/// One of the changes that people make every week.
TrainingPlan changed(Random& random, TrainingPlan plan);

/// A run of one epoch, from its beginning or from `state` on.
Sequence run_of_epoch(const Dataset& dataset, uint64_t seed, int64_t epoch, const std::string& state = "");
/// The samples, field 0, of the next `count` elements, or of all that are left.
std::vector<int64_t> samples(Sequence& sequence, int64_t count = -1);

/// What is wrong with an epoch in which `delivered` came, in this order, though plans changed on the way; "" if nothing
/// is: each set came in its order, or in any if `sorted`, each sample once. `ended`: to its end, but for what `told`
/// names as never.
std::string epoch_violation(const std::vector<TrainingSet>& sets, const std::vector<int64_t>& delivered, uint64_t seed,
                            int64_t epoch, bool ended, const std::vector<MigrationStep>& told, bool sorted = false);

}  // namespace headpond::internal
