// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "headpond/train/articles/blstm_trainer_internal.h"
#include "headpond/train/tensors.h"
#include "headpond/train/torch_error_internal.h"

namespace headpond::internal {

Result<float> BlstmTrainer::step(const Tensor& batch, const std::stop_token& stop) {
  const auto stopped = [&] { return stop.stop_requested(); };
  try {
    const auto samples = as_torch(batch);
    if (!samples) return fail(samples.error());
    const torch::Tensor labels = samples->sum(torch::IntArrayRef({0, 2})).gt(0).to(torch::kF32);
    const torch::Tensor loss = torch::binary_cross_entropy_with_logits(net_.forward(*samples), labels);
    if (stopped()) return fail(ErrorKind::Cancelled, "a stop was requested");
    adam_.zero_grad();
    loss.backward();
    adam_.step();
    return loss.item<float>();
  } catch (...) {
    return fail(torch_exception_error());
  }
}

BlstmMode BlstmLog::mode(size_t first_step, size_t first_batch) const {
  BlstmMode mode;
  int64_t counted = 0, blocks = 0;
  const bool only_firsts = std::all_of(steps.begin() + static_cast<std::ptrdiff_t>(first_step), steps.end(),
                                       [](const BlstmStep& step) { return step.first_of_block; });
  for (size_t i = first_step; i < steps.size(); ++i) {
    const BlstmStep& step = steps[i];
    if (step.first_of_block) {
      mode.first_wait_s += static_cast<double>(step.wait_ns) * 1e-9;
      ++blocks;
      if (!only_firsts) continue;
    }
    mode.step_s += static_cast<double>(step.step_ns) * 1e-9;
    mode.wait_s += static_cast<double>(step.wait_ns) * 1e-9;
    mode.stopwatch_wait_s += static_cast<double>(step.stopwatch_ns) * 1e-9;
    ++counted;
  }
  const double count = static_cast<double>(std::max<int64_t>(counted, 1));
  mode.step_s /= count;
  mode.wait_s /= count;
  mode.stopwatch_wait_s /= count;
  mode.train_s = mode.step_s - mode.wait_s;
  mode.wait_share = mode.step_s > 0 ? mode.wait_s / mode.step_s : 0;
  mode.first_wait_s /= static_cast<double>(std::max<int64_t>(blocks, 1));
  const auto begin = generated.begin() + static_cast<std::ptrdiff_t>(first_batch);
  mode.generate_s = static_cast<double>(std::accumulate(begin, generated.end(), int64_t{0})) * 1e-9 /
                    static_cast<double>(std::max<std::ptrdiff_t>(generated.end() - begin, 1));
  return mode;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace headpond::internal
