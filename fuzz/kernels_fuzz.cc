// SPDX-License-Identifier: Apache-2.0
// Chains of any kernels with any options over images, sounds, files of both, and batches, with masks, boxes, labels and
// points beside an image: joined they give the bytes of one after the other, or both fail; and their results have the
// dtypes and shapes that are known ahead. The input is a list of numbers: what the fields are, then kernels.
#include "fuzz/kernel_cases.h"

namespace headpond::fuzz {
namespace {

void check(Numbers numbers, uint64_t seed) {
  const int64_t what = numbers.below(8);
  Sample sample = what == 0 ? batch_sample(numbers) : what < 3 ? sound_sample(numbers) : image_sample(numbers);
  const std::vector<KernelRef> chain = chain_of(numbers, sample);
  const auto joined = run_kernels(chain, sample.fields, {.seed = seed, .roles = sample.roles});
  const auto alone = run_kernels(chain, sample.fields, {.seed = seed, .joined = false, .roles = sample.roles});
  if (joined.has_value() != alone.has_value()) __builtin_trap();
  if (!joined) return;
  for (size_t i = 0; i < joined->size(); ++i) {
    if (!same_field((*joined)[i], (*alone)[i])) __builtin_trap();
    if (sample.spec[i].dtype != (*joined)[i].dtype()) __builtin_trap();
    if (!sample.spec[i].shape.admits((*joined)[i].shape())) __builtin_trap();
  }
}

}  // namespace
}  // namespace headpond::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headpond::fuzz::check(headpond::fuzz::Numbers(data, size), size);
  return 0;
}
