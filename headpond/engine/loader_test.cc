// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/loader.h"

#include "headpond/dataset/dataset_test_internal.h"

namespace headpond {
namespace {

using internal::text_of;

std::vector<std::string> batches(const Dataset& dataset, const LoaderOptions& options) {
  std::vector<std::string> all;
  Loader loader(dataset, options);
  for (const Batch& batch : loader.batches()) all.push_back(text_of(batch.element()));
  return all;
}

TEST(Loader, GivesWhatTheSequenceGives) {
  const Dataset dataset = range(100) | shuffle() | map([](int64_t x) { return x * x; }) | batch(7);
  for (const int threads : {0, 1, 2, 4}) {
    EXPECT_EQ(batches(dataset, {.epochs = 3, .seed = 5, .threads = threads}),
              internal::elements(dataset, {.seed = 5, .epochs = 3}));
  }
}

}  // namespace
}  // namespace headpond
