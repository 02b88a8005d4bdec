// SPDX-License-Identifier: Apache-2.0
// A map that computes 2 ms an element, on one thread: a batch of 16 takes 32 ms, a step 10 ms.
#include <headpond/headpond.h>

#include <chrono>
#include <iostream>
#include <thread>

namespace hp = headpond;
using namespace std::chrono_literals;

namespace {

int64_t compute(int64_t x) {
  for (const int64_t end = hp::now_ns() + 2'000'000; hp::now_ns() < end;) {
  }
  return x;
}

}  // namespace

int main() {
  hp::Loader loader(hp::range(800) | hp::map(compute) | hp::batch(16), {.epochs = 2, .threads = 1});
  while (loader.next()) std::this_thread::sleep_for(10ms);
  std::cout << loader.diagnose();
}
