// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/contract.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {

void check_contract(const Dataset& dataset, const SequenceOptions& options) {
  EXPECT_EQ(sequence_violation(dataset, {.seed = options.seed, .epochs = options.epochs, .most_elements = 10'000}), "");
}

}  // namespace headpond::internal
