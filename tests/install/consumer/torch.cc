// SPDX-License-Identifier: Apache-2.0
#include <headpond/headpond.h>
#include <headpond/torch.h>

#include <array>
#include <iostream>

namespace hp = headpond;

int main() {
  const std::array<float, 2> values = {1.0f, 2.0f};
  const hp::Tensor batch = hp::Tensor::from(std::span<const float>(values), hp::Shape{2});
  const hp::Result<torch::Tensor> same = hp::as_torch(batch);
  if (!same || same->sum().item<float>() != 3.0f) return 1;
  std::cout << "headpond::torch works\n";
}
