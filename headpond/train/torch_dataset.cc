// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/torch_dataset.h"

#include <utility>

#include "headpond/base/mutex.h"

namespace headpond {
namespace {

constexpr const char* kKey = "headpond.state";

}  // namespace

struct TorchDataset::Shared {
  Shared(Loader& with_loader, TorchDatasetOptions with_options)
      : loader(with_loader), options(std::move(with_options)) {}
  Loader& loader;
  const TorchDatasetOptions options;
  Mutex mu;
  bool is_inside HEADPOND_GUARDED_BY(mu) = false;  // An epoch that has begun in this pass, and has not ended.
  bool has_ended HEADPOND_GUARDED_BY(mu) = false;  // This pass.
};

TorchDataset::TorchDataset(Loader& loader, TorchDatasetOptions options)
    : shared_(std::make_shared<Shared>(loader, std::move(options))) {}

torch::optional<TorchExample> TorchDataset::get_batch(size_t) {
  MutexLock lock(shared_->mu);
  if (shared_->has_ended) return torch::nullopt;
  auto batch = shared_->loader.next_in_epoch();
  shared_->is_inside = batch || !batch.error().is_end();
  shared_->has_ended = !shared_->is_inside;
  if (shared_->has_ended) return torch::nullopt;
  TorchBatch fields = value_or_throw(as_torch(value_or_throw(std::move(batch))));
  const auto& [data, target] = shared_->options;
  torch::Tensor first = data.empty() ? fields[0] : fields[data];
  torch::Tensor second = !target.empty() ? fields[target] : fields.size() > 1 ? fields[1] : torch::Tensor();
  return TorchExample(std::move(first), std::move(second), std::move(fields));
}

void TorchDataset::reset() {
  MutexLock lock(shared_->mu);
  if (std::exchange(shared_->is_inside, false)) shared_->loader.next_epoch();
  shared_->has_ended = false;
}

void TorchDataset::save(torch::serialize::OutputArchive& archive) const {
  MutexLock lock(shared_->mu);
  archive.write(kKey, c10::IValue(shared_->loader.state()));
}

void TorchDataset::load(torch::serialize::InputArchive& archive) {
  c10::IValue state;
  archive.read(kKey, state);
  MutexLock lock(shared_->mu);
  if (auto restored = shared_->loader.restore(state.toStringRef()); !restored) throw Exception(restored.error());
  shared_->is_inside = shared_->has_ended = false;
}

TorchDataset torch_dataset(Loader& loader, const TorchDatasetOptions& options) { return {loader, options}; }

}  // namespace headpond
