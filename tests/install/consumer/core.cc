// SPDX-License-Identifier: Apache-2.0
#include <headpond/headpond.h>

#include <array>
#include <cstdint>
#include <iostream>

namespace hp = headpond;

int main() {
  hp::FIFOQueue queue({.capacity = 2, .dtypes = {hp::i64}, .shapes = {hp::Shape{}}});
  const std::array<int64_t, 1> value = {7};
  if (!queue.enqueue(hp::Element{{hp::Tensor::from(std::span<const int64_t>(value), hp::Shape{})}})) return 1;
  const hp::Result<hp::Element> element = queue.dequeue();
  if (!element || (*element)[0].as<int64_t>()[0] != 7) return 1;
  std::cout << "headpond::headpond works\n";
}
