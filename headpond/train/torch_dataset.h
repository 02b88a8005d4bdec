// SPDX-License-Identifier: Apache-2.0
// A Loader as a dataset of torch::data, so that loops over torch's DataLoader stay as they are:
//
//   auto data_loader = torch::data::make_data_loader(torch_dataset(loader, {.data = "image", .target = "label"}));
//   for (int epoch = 0; epoch < 3; ++epoch) {
//     for (auto& batch : *data_loader) step(batch.data, batch.target);
//   }
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>

#include "headpond/engine/loader.h"
#include "headpond/train/torch_batch.h"

namespace headpond {

/// A batch as torch::data's examples are: both tensors have a row for each sample. All fields are in `fields`.
struct TorchExample : torch::data::Example<> {
  TorchExample(torch::Tensor with_data, torch::Tensor with_target, TorchBatch with_fields)
      : torch::data::Example<>(std::move(with_data), std::move(with_target)), fields(std::move(with_fields)) {}
  TorchBatch fields;
};

struct TorchDatasetOptions {
  std::string data = "";    ///< The field that is `data`; "": the first one.
  std::string target = "";  ///< The field that is `target`; "": the second one, or none if there is no second one.
};

/// One pass of a torch loop is an epoch of the Loader; a pass that is left early leaves out the rest of its epoch.
/// After the last epoch a pass is empty. The batches are the Loader's: torch's batch size is ignored. Copies share the
/// Loader. Any number of torch's workers may call get_batch(), one after the other; they only hand batches over,
/// several of them not always in order, so 0, torch's default, is right.
class TorchDataset : public torch::data::datasets::StatefulDataset<TorchDataset, TorchExample, size_t> {
 public:
  /// For torch_dataset().
  TorchDataset(Loader& loader, TorchDatasetOptions options);

  /// Nothing at the end of an epoch. Throws Exception for the Loader's errors and for a wrong field.
  torch::optional<TorchExample> get_batch(size_t ignored_size) override;
  torch::optional<size_t> size() const override { return torch::nullopt; }
  /// A pass begins: torch's loaders call it.
  void reset() override;
  /// Loader::state(), as "headpond.state". REQUIRES: no worker is in get_batch().
  void save(torch::serialize::OutputArchive& archive) const override;
  /// Goes on where save() was called: with the rest of that epoch in the next pass. Throws Exception as
  /// Loader::restore() returns errors.
  void load(torch::serialize::InputArchive& archive) override;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

/// The Loader outlives what is returned and all copies.
TorchDataset torch_dataset(Loader& loader, const TorchDatasetOptions& options = {});
void torch_dataset(Loader&& temporary, const TorchDatasetOptions& options = {}) = delete;

}  // namespace headpond
