// SPDX-License-Identifier: Apache-2.0
// A Loader's batches as libtorch tensors, without a copy:
//
//   for (TorchBatch& batch : torch_batches(loader)) step(batch["image"], batch["label"]);
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/engine/loader.h"

namespace headpond {

/// The fields of a Batch as torch tensors over its bytes, of the same shapes and types (tensors.h); up to 16 bytes are
/// copied. Tensors may be kept, also after the Loader, on any threads; the Loader uses the memory again when this and
/// all copies of its tensors are gone. Several threads may read it at once.
class TorchBatch {
 public:
  /// For as_torch().
  TorchBatch(Batch batch, std::vector<torch::Tensor> tensors)
      : batch_(std::move(batch)), tensors_(std::move(tensors)) {}

  /// The reference lives as long as this, and copies of the tensor as long as they like. Throws Exception:
  /// InvalidArgument for a field that is not there, which names those that are; Unimplemented, with the field, for
  /// dtypes that torch lacks (u16, u32, u64, bytes).
  const torch::Tensor& operator[](std::string_view name) const;
  const torch::Tensor& operator[](size_t i) const;
  void operator[](internal::ListOfNames) const = delete;
  size_t size() const { return tensors_.size(); }  ///< The number of fields.
  std::vector<std::string> names() const;          ///< Names of the fields; empty iff they have none.
  int64_t epoch() const { return batch_.epoch(); }
  int64_t index() const { return batch_.index(); }
  const Batch& batch() const { return batch_; }  ///< Also has the fields that torch has no type for.

 private:
  Batch batch_;
  std::vector<torch::Tensor> tensors_;  // Undefined where torch has no type.
};

/// Never fails for a field that nobody asks for.
Result<TorchBatch> as_torch(const Batch& batch);

/// The batches that are left of a Loader or of one of its epochs, as Loader::begin() and Loader::Epoch give them.
/// Single pass; the Loader outlives it.
class TorchBatches {
 public:
  class Iterator {
   public:
    using value_type = TorchBatch;
    using difference_type = std::ptrdiff_t;
    TorchBatch& operator*() const { return *batch_; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !batch_; }

   private:
    friend class TorchBatches;
    explicit Iterator(Loader::BatchIterator batches) : batches_(std::move(batches)) { take(); }
    void take();
    Loader::BatchIterator batches_;
    mutable std::optional<TorchBatch> batch_;
  };
  /// Throws Exception for the Loader's errors, as its own iterators do.
  Iterator begin() const;
  std::default_sentinel_t end() const { return {}; }

 private:
  friend TorchBatches torch_batches(Loader& loader);
  friend TorchBatches torch_batches(Loader::Epoch epoch);
  explicit TorchBatches(std::variant<Loader*, Loader::Epoch> source) : source_(source) {}
  std::variant<Loader*, Loader::Epoch> source_;
};

TorchBatches torch_batches(Loader& loader);
TorchBatches torch_batches(Loader::Epoch epoch);
void torch_batches(Loader&& temporary) = delete;

}  // namespace headpond
