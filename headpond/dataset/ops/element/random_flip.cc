// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/random.h"

namespace headpond {
namespace {

class RandomFlip final : public Pointwise {
 public:
  RandomFlip(Node::Facts facts, size_t index, int axis) : Pointwise(std::move(facts)), index_(index), axis_(axis) {}

  Got apply(Element& in, RandomKey random_key, Context& context, OutputSlots outputs, Element& out) const override {
    const auto flip_to = [this](const Tensor& from, std::byte* to) { flip(from, to); };
    if (is_turned(random_key, in.key)) return rewrite_field(in, index_, context, outputs, out, flip_to);
    out = std::move(in);
    return Got::value;
  }
  bool fill(const View& view, std::span<const int64_t> positions, RandomKey random_key, Context& context,
            OutputSlots columns, uint64_t* keys) const override {
    const FieldSpec& field = spec()[index_];
    const size_t size = internal::row_bytes(field);
    std::vector<std::byte> turned(size);
    const auto flip_some = [&](size_t first, std::span<const uint64_t> drawn) {
      std::byte* at = columns[index_].data + first * size;
      for (size_t r = 0; r < drawn.size(); ++r, at += size) {
        if (size == 0 || !is_turned(random_key, drawn[r])) continue;
        flip(Tensor::view(at, field.dtype, field.shape), turned.data());
        std::memcpy(at, turned.data(), size);
      }
    };
    return fill_with_keys(view, positions, context, columns, keys, flip_some);
  }

 private:
  static bool is_turned(RandomKey random_key, uint64_t key) { return (Random(random_key, key).u32() & 1) != 0; }

  // `from` as outer x length x inner bytes.
  void flip(const Tensor& from, std::byte* to) const {
    const auto length = static_cast<size_t>(from.dim(axis_));
    size_t inner = item_size(from.dtype());
    for (int axis = axis_ + 1; axis < from.rank(); ++axis) inner *= static_cast<size_t>(from.dim(axis));
    const size_t row = length * inner;
    for (size_t at = 0; row > 0 && at < from.byte_size(); at += row) {
      for (size_t i = 0; i < length; ++i) {
        std::memcpy(to + at + i * inner, from.data() + at + (length - 1 - i) * inner, inner);
      }
    }
  }

  const size_t index_;
  const int axis_;
};

}  // namespace

Step random_flip(int axis, RandomOptions options) {
  if (options.name.empty()) options.name = "random_flip";
  return [axis, options](const Dataset& input) {
    const size_t index = field_index("random_flip", input.spec(), options.field);
    const FieldSpec& field = input.spec()[index];
    const int counted = axis < 0 ? axis + field.shape.rank() : axis;
    if (field.dtype == DType::bytes || counted < 0 || counted >= field.shape.rank()) {
      refuse("random_flip", fmt::format("no axis {} to flip in {}", axis, to_string({field})));
    }
    Node::Facts facts =
        facts_over(input.node(), "random_flip", fmt::format("field={}, axis={}", index, counted), input.spec());
    facts.random_streams = {options.name};
    return Dataset(std::make_shared<RandomFlip>(std::move(facts), index, counted));
  };
}

}  // namespace headpond
