// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/normals.h"

#include <algorithm>

#include "headpond/base/random.h"

namespace headpond {
namespace {
constexpr size_t kPiece = size_t{1} << 18;  // Values between two checks of the stop token: a few milliseconds.
static_assert(kPiece % kNormalBlock == 0);
}  // namespace

void NormalBatches::fill(int64_t number, size_t first, std::span<float> values) const {
  fill_normal(values, random_key(seed_, "normals", 0, 0), static_cast<uint64_t>(number), first / kNormalBlock);
}

Result<Tensor> NormalBatches::next(const std::stop_token& stop) {
  Tensor batch = Tensor::empty(DType::f32, shape_, pool_);
  const std::span<float> values = batch.mutable_as<float>();
  for (size_t at = 0; at < values.size(); at += kPiece) {
    if (stop.stop_requested()) return fail(ErrorKind::Cancelled, "a stop was requested");
    const auto piece = values.subspan(at, std::min(kPiece, values.size() - at));
    if (source_ == NormalSource::headpond) {
      fill(count_, at, piece);
    } else {
      for (float& value : piece) value = distribution_(engine_);
    }
  }
  ++count_;
  return batch;
}

}  // namespace headpond
