// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "headpond/base/normal.h"
#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/random.h"

namespace headpond {
namespace {

class AddNoise final : public Pointwise {
 public:
  AddNoise(Node::Facts facts, size_t index, float stddev)
      : Pointwise(std::move(facts)), index_(index), stddev_(stddev) {}

  Got apply(Element& in, RandomKey random_key, Context& context, OutputSlots outputs, Element& out) const override {
    const auto add_to = [&](const Tensor& from, std::byte* to) {
      add(from.as<float>(), reinterpret_cast<float*>(to), random_key, in.key);
    };
    return rewrite_field(in, index_, context, outputs, out, add_to);
  }
  bool fill(const View& view, std::span<const int64_t> positions, RandomKey random_key, Context& context,
            OutputSlots columns, uint64_t* keys) const override {
    const auto values = static_cast<size_t>(spec()[index_].shape.size().value_or(0));
    const auto add_each = [&](size_t first, std::span<const uint64_t> drawn) {
      float* at = reinterpret_cast<float*>(columns[index_].data) + first * values;
      for (const uint64_t key : drawn) {
        add({at, values}, at, random_key, key);
        at += values;
      }
    };
    return fill_with_keys(view, positions, context, columns, keys, add_each);
  }

 private:
  void add(std::span<const float> from, float* to, RandomKey random_key, uint64_t key) const {
    std::array<float, 16 * kNormalBlock> normals;
    for (size_t at = 0; at < from.size(); at += normals.size()) {
      const size_t count = std::min(normals.size(), from.size() - at);
      fill_normal({normals.data(), count}, random_key, key, at / kNormalBlock);
      for (size_t i = 0; i < count; ++i) to[at + i] = from[at + i] + stddev_ * normals[i];
    }
  }

  const size_t index_;
  const float stddev_;
};

}  // namespace

Step add_noise(float stddev, RandomOptions options) {
  if (!(stddev >= 0) || std::isinf(stddev)) refuse("add_noise", fmt::format("a standard deviation of {}", stddev));
  if (options.name.empty()) options.name = "add_noise";
  return [stddev, options](const Dataset& input) {
    const size_t index = field_index("add_noise", input.spec(), options.field);
    if (input.spec()[index].dtype != DType::f32) {
      refuse("add_noise", fmt::format("needs f32, the field is {}", to_string({input.spec()[index]})));
    }
    Node::Facts facts =
        facts_over(input.node(), "add_noise", fmt::format("field={}, stddev={}", index, stddev), input.spec());
    facts.random_streams = {options.name};
    return Dataset(std::make_shared<AddNoise>(std::move(facts), index, stddev));
  };
}

}  // namespace headpond
