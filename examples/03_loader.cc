// SPDX-License-Identifier: Apache-2.0
#include <headpond/headpond.h>

#include <iostream>

namespace hp = headpond;

int main() {
  const auto squares = hp::range(30)                                      // what is delivered
                       | hp::filter([](int64_t x) { return x % 3 > 0; })  //
                       | hp::shuffle()                                    // the whole epoch, without a buffer
                       | hp::map([](int64_t x) { return x * x; })         //
                       | hp::batch(8);
  hp::Loader loader(squares, {.epochs = 2, .seed = 7});  // no thread counts, no buffer sizes
  for (auto epoch : loader.epochs()) {
    for (const hp::Batch& batch : epoch) {
      for (const int64_t square : batch[0].as<int64_t>()) std::cout << ' ' << square;
      std::cout << " |";  // the training step goes here
    }
    std::cout << '\n';
  }
}
