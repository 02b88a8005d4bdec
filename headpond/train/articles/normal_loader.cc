// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <optional>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/dataset/ops.h"
#include "headpond/train/articles/normal_loader_internal.h"

namespace headpond::internal {
namespace {

// Adds the time of its scope.
class Stopwatch {
 public:
  explicit Stopwatch(std::atomic<int64_t>& to) : to_(to) {}
  ~Stopwatch() { to_ += now_ns() - began_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::atomic<int64_t>& to_;
  const int64_t began_ = now_ns();
};

Spec one_field(const Shape& shape) { return {{.name = "", .dtype = DType::f32, .shape = shape}}; }

}  // namespace

NormalLoader::NormalLoader(NormalBatches& batches, int64_t count, const std::stop_token& stop)
    : forwarded_(stop, [this] { ends_.request_stop(); }), loader_(described(batches, count)) {}

NormalLoader::~NormalLoader() { ends_.request_stop(); }

Result<Tensor> NormalLoader::next() {
  auto batch = loader_.next();
  if (!batch) return fail(batch.error());
  return (*batch)[size_t{0}];
}

Dataset NormalLoader::described(NormalBatches& batches, int64_t count) {
  if (batches.source() == NormalSource::headpond) return rows(batches, count);
  // Good for one epoch of one run: the generator continues where `batches` is.
  const auto make = [this, &batches, count](uint64_t) -> Generator {
    return [this, &batches, left = count]() mutable -> Result<std::optional<Element>> {
      if (left-- <= 0) return std::nullopt;
      const Stopwatch stopwatch(work_ns_);
      auto batch = batches.next(ends_.get_token());
      if (!batch) return fail(batch.error());
      return Element{std::move(*batch)};
    };
  };
  return from_generator(make, one_field(batches.shape()), {.name = "normals"});
}

Dataset NormalLoader::rows(NormalBatches& batches, int64_t count) {
  const Shape& shape = batches.shape();
  const bool apart = *shape.row().size() % NormalBatches::kFillFrom == 0;  // A row can be filled independently.
  const int64_t pieces = apart ? shape[0] : 1;
  const Shape piece = apart ? shape.row() : shape;
  const auto make = [this, from = batches, pieces, piece](int64_t i) -> Result<Tensor> {
    if (ends_.stop_requested()) return fail(ErrorKind::Cancelled, "a stop was requested");
    const Stopwatch stopwatch(work_ns_);
    Tensor values = Tensor::empty(DType::f32, piece);
    from.fill(i / pieces, static_cast<size_t>(i % pieces * *piece.size()), values.mutable_as<float>());
    return values;
  };
  const int64_t first = batches.count();
  batches.skip(count);
  const Dataset all =
      range(first * pieces, (first + count) * pieces) | map(make, {.output = one_field(piece), .name = "normals"});
  return apart ? all | batch(pieces, {.drop_remainder = true}) : all;
}

}  // namespace headpond::internal
