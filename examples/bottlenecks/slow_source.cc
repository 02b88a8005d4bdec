// SPDX-License-Identifier: Apache-2.0
// A source that gives one element after the other, 5 ms each: a batch of 8 takes 40 ms, a step 10 ms.
#include <headpond/headpond.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <thread>

namespace hp = headpond;
using namespace std::chrono_literals;

namespace {

hp::Generator numbers(uint64_t /*epoch*/) {
  return [next = int64_t{0}]() mutable -> hp::Result<std::optional<hp::Element>> {
    std::this_thread::sleep_for(5ms);
    return hp::Element{hp::Tensor::scalar(next++)};
  };
}

}  // namespace

int main() {
  hp::Loader loader(hp::from_generator(numbers, {{"", hp::i64, {}}}) | hp::batch(8));
  for (int step = 0; step < 70 && loader.next(); ++step) std::this_thread::sleep_for(10ms);
  std::cout << loader.diagnose();
}
