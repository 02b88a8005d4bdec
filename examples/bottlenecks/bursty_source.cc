// SPDX-License-Identifier: Apache-2.0
// A source of which each eighth batch takes 100 ms and the others nothing. A step takes 20 ms, so that there is time
// enough; but only one batch is made ahead.
#include <headpond/headpond.h>

#include <chrono>
#include <iostream>
#include <thread>

namespace hp = headpond;
using namespace std::chrono_literals;

int main() {
  const auto read = [](int64_t x) {
    if (x % 64 == 0) std::this_thread::sleep_for(100ms);
    return x;
  };
  hp::Loader loader(hp::range(1200) | hp::map(read) | hp::batch(8), {.run_ahead = 1});
  while (loader.next()) std::this_thread::sleep_for(20ms);
  std::cout << loader.diagnose();
}
