// SPDX-License-Identifier: Apache-2.0
// MapStagingArea: a staging area whose elements have keys. Use it to take results in your own order although threads
// finish them in any order, and when an element's components come from different threads.
#include <headpond/headpond.h>

#include <cstdio>

namespace hp = headpond;

int main() {
  constexpr int64_t kSteps = 12;
  // No capacity: the area could be full of later keys while the program waits for an earlier one.
  hp::MapStagingArea area({.dtypes = {hp::i64, hp::i64}, .shapes = {{}, {}}, .name = "parts"});
  // Each component comes from its own thread; a key can be taken when it has both.
  const auto put = [area](int64_t component, int64_t factor, bool backwards) {
    return [=](std::stop_token stop) -> hp::Result<void> {
      for (int64_t i = 0; i < kSteps; ++i) {
        const int64_t key = backwards ? kSteps - 1 - i : i;
        HEADPOND_TRY(area.put(key, {hp::Tensor::scalar(key * factor)}, {component}, {.stop = stop}));
      }
      return {};
    };
  };
  hp::Coordinator coordinator;
  coordinator.start("tens", put(0, 10, /*backwards=*/false));
  coordinator.start("hundreds", put(1, 100, /*backwards=*/true));

  bool right = true;
  for (int64_t key = 0; key < kSteps; ++key) {
    // Waits for this key, or until a thread fails: an area is never closed.
    const hp::Result<hp::Keyed> taken = area.get(key, {}, {.stop = coordinator.stop_token()});
    if (!taken) break;  // The error that stopped the threads comes from join().
    const int64_t tens = taken->element[0].as<int64_t>()[0], hundreds = taken->element[1].as<int64_t>()[0];
    std::printf("key %2d: %3d and %4d\n", static_cast<int>(key), static_cast<int>(tens), static_cast<int>(hundreds));
    right &= tens == 10 * key && hundreds == 100 * key;
  }
  const hp::Result<void> ended = coordinator.join();
  if (!ended) std::fprintf(stderr, "%s\n", ended.error().to_string().c_str());
  return ended && right ? 0 : 1;
}
