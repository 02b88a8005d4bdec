// SPDX-License-Identifier: Apache-2.0
// A training stops in the middle of an epoch, and goes on with another data set, other weights and a larger batch.
#include <headpond/headpond.h>

#include <iostream>
#include <string>
#include <vector>

namespace hp = headpond;

namespace {

void train(hp::Loader& loader, int batches) {
  for (; batches != 0; --batches) {
    const auto batch = loader.next();
    if (!batch) return;
    for (const int64_t sample : (*batch)[0].as<int64_t>()) std::cout << sample << ' ';
    std::cout << "| ";
  }
}

}  // namespace

int main() {
  const hp::Dataset street = hp::range(0, 8), night = hp::range(100, 108), rain = hp::range(200, 204);
  const hp::LoaderOptions options = {.seed = 7};

  const hp::Dataset monday = hp::mix({street, night}) | hp::batch(2);
  hp::Loader first(monday, options);
  train(first, 3);
  const std::string state = first.state();
  std::cout << "\n\n";

  const hp::Dataset tuesday = hp::mix({street, night, rain}, {2, 1, 1}) | hp::batch(4);
  const auto migrated = hp::migrate(state, monday, tuesday);
  if (!migrated) throw hp::Exception(migrated.error());
  std::cout << *migrated << '\n';

  auto second = hp::Loader::restored(tuesday, options, migrated->state);
  if (!second) throw hp::Exception(second.error());
  train(*second, -1);
  std::cout << '\n';
}
