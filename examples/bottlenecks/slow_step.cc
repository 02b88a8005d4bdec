// SPDX-License-Identifier: Apache-2.0
// A step of 30 ms, for which a batch is made in 2 ms.
#include <headpond/headpond.h>

#include <chrono>
#include <iostream>
#include <thread>

namespace hp = headpond;
using namespace std::chrono_literals;

int main() {
  const auto wait_a_little = [](int64_t x) {
    std::this_thread::sleep_for(250us);
    return x;
  };
  hp::Loader loader(hp::range(800) | hp::map(wait_a_little) | hp::batch(8));
  while (loader.next()) std::this_thread::sleep_for(30ms);
  std::cout << loader.diagnose();
}
