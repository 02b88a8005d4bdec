// SPDX-License-Identifier: Apache-2.0
// A dataset with fields that torch has and lacks, and what calls throw.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/ops.h"

namespace headpond::internal {

/// "image" f32 [2, 3] and "label" i64 [2], of which number i is i; u16 "code", which torch lacks.
inline Dataset pairs(int64_t count) {
  return range(count) |
         map(
             [](const Element& e) -> Result<Element> {
               const int64_t i = e[0].item<int64_t>();
               const std::vector<float> image(3, static_cast<float>(i));
               return Element{Tensor::from(image, {3}), Tensor::scalar(i), Tensor::scalar(static_cast<uint16_t>(i))};
             },
             {.output = Spec{{"image", f32, {3}}, {"label", i64, {}}, {"code", u16, {}}}, .name = "pairs"}) |
         batch(2);
}

inline Error thrown(const std::function<void()>& call) {
  try {
    call();
  } catch (const Exception& e) {
    return e.error();
  }
  return {};
}

inline std::vector<int64_t> labels_of(const torch::Tensor& labels) {
  return {labels.data_ptr<int64_t>(), labels.data_ptr<int64_t>() + labels.numel()};
}

}  // namespace headpond::internal
