// SPDX-License-Identifier: Apache-2.0
// A program that includes the one header and nothing else.
#include <headpond/headpond.h>

int main() {
  int64_t sum = 0;
  headpond::Loader loader(headpond::range(4) | headpond::batch(2), {.epochs = 1});
  for (const headpond::Batch& batch : loader) {
    for (const int64_t value : batch[0].as<int64_t>()) sum += value;
  }
  return sum == 6 ? 0 : 1;
}
