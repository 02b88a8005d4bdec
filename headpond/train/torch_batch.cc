// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/torch_batch.h"

#include "headpond/train/tensors.h"

namespace headpond {

const torch::Tensor& TorchBatch::operator[](std::string_view name) const {
  const Element::Names& all = batch_.element().names();
  for (size_t i = 0; all && i < all->size(); ++i) {
    if ((*all)[i] == name) return (*this)[i];
  }
  (void)batch_[name];  // Says which there are.
  throw Exception(Error(ErrorKind::Unknown, "TorchBatch: internal error: a field without its name"));
}

const torch::Tensor& TorchBatch::operator[](size_t i) const {
  if (i >= tensors_.size()) {
    throw Exception(Error(ErrorKind::InvalidArgument, "TorchBatch: no field " + std::to_string(i) + "; there are " +
                                                          std::to_string(tensors_.size())));
  }
  if (!tensors_[i].defined()) {
    const Element::Names& all = batch_.element().names();
    const Error error = torch_dtype(batch_[i].dtype()).error();
    throw Exception(
        Error(error.kind(), "field " + (all ? (*all)[i] : std::to_string(i)) + ": " + std::string(error.message())));
  }
  return tensors_[i];
}

std::vector<std::string> TorchBatch::names() const {
  const Element::Names& all = batch_.element().names();
  return all ? *all : std::vector<std::string>();
}

Result<TorchBatch> as_torch(const Batch& batch) {
  std::vector<torch::Tensor> tensors(batch.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!torch_dtype(batch[i].dtype())) continue;
    auto tensor = as_torch(batch[i]);
    if (!tensor) return fail(tensor.error());
    tensors[i] = std::move(*tensor);
  }
  return TorchBatch(batch, std::move(tensors));
}

TorchBatches::Iterator& TorchBatches::Iterator::operator++() {
  batch_.reset();  // Its memory is for the next one.
  ++batches_;
  take();
  return *this;
}

void TorchBatches::Iterator::take() {
  if (batches_ != std::default_sentinel) batch_ = value_or_throw(as_torch(Batch(std::move(*batches_))));
}

TorchBatches::Iterator TorchBatches::begin() const {
  if (Loader* const* loader = std::get_if<Loader*>(&source_)) return Iterator((*loader)->begin());
  return Iterator(std::get<Loader::Epoch>(source_).begin());
}

TorchBatches torch_batches(Loader& loader) { return TorchBatches(&loader); }
TorchBatches torch_batches(Loader::Epoch epoch) { return TorchBatches(epoch); }

}  // namespace headpond
