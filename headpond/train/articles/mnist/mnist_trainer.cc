// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/mnist/mnist_trainer.h"

#include <algorithm>

#include "headpond/base/trace.h"
#include "headpond/train/tensors.h"
#include "headpond/train/torch_error_internal.h"

namespace headpond {
namespace {

namespace F = torch::nn::functional;

torch::Tensor cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels, LossReduction reduction) {
  auto options = F::CrossEntropyFuncOptions();
  if (reduction == LossReduction::sum) options.reduction(torch::kSum);
  return F::cross_entropy(logits, labels, options);
}

int64_t count_correct(const torch::Tensor& logits, const torch::Tensor& labels) {
  return logits.argmax(1).eq(labels).sum().item<int64_t>();
}

// The network is in evaluation mode as long as this lives.
class Evaluating {
 public:
  Evaluating(MnistNet& net, bool train_after) : net_(net), train_after_(train_after) { net_.eval(); }
  ~Evaluating() { net_.train(train_after_); }
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  MnistNet& net_;
  const bool train_after_;
};

}  // namespace

MnistTrainer::MnistTrainer(const MnistRecipe& recipe)
    : recipe_(recipe), net_(recipe.seed), adam_(net_.parameters(), adam_options(recipe.lr)) {
  net_.train(recipe.train_batch_norm);
}

Result<MnistTrainer::Step> MnistTrainer::step(const Element& batch) {
  try {
    const auto fields = as_torch(batch);
    if (!fields) return fail(fields.error());
    const torch::Tensor &images = fields->at(0), &labels = fields->at(1);
    const torch::Tensor logits = net_.forward(images.unsqueeze(1));
    const torch::Tensor loss = cross_entropy(logits, labels, recipe_.loss);
    adam_.zero_grad();
    loss.backward();
    adam_.step();
    return Step{loss.item<float>(), count_correct(logits, labels)};
  } catch (...) {
    return fail(internal::torch_exception_error());
  }
}

Result<MnistTrainer::Score> MnistTrainer::validate(const MnistData& data, const std::stop_token& stop) {
  constexpr int64_t kAtOnce = 500;
  trace::Span span("validate", trace::Category::step);
  try {
    const auto images = as_torch(data.test_images), labels = as_torch(data.test_labels);
    if (!images || !labels) return fail(images ? labels.error() : images.error());
    const int64_t n = images->size(0);
    Score sums{0, 0};
    torch::NoGradGuard no_grad;
    const Evaluating evaluating(net_, recipe_.train_batch_norm);
    for (int64_t at = 0; at < n; at += kAtOnce) {
      if (stop.stop_requested()) return fail(ErrorKind::Cancelled, "a stop was requested");
      const int64_t end = std::min(at + kAtOnce, n);
      const torch::Tensor x = images->slice(0, at, end).to(torch::kF32).div(255.0F).unsqueeze(1);
      const torch::Tensor y = labels->slice(0, at, end).to(torch::kI64);
      const torch::Tensor logits = net_.forward(x);
      sums.accuracy += static_cast<double>(count_correct(logits, y));
      sums.loss += cross_entropy(logits, y, LossReduction::sum).item<double>();
    }
    return Score{sums.accuracy / static_cast<double>(n), sums.loss / static_cast<double>(n)};
  } catch (...) {
    return fail(internal::torch_exception_error());
  }
}

}  // namespace headpond
