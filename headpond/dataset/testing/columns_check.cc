// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/testing/columns_check_internal.h"
#include "headpond/dataset/testing/course.h"

namespace headpond::internal {
namespace {

constexpr std::byte kDirty{0xA5};

bool is_text(const FieldSpec& field) { return field.dtype == DType::bytes && field.shape == Shape(); }

// Columns of `count` elements with a byte after each that nobody may touch.
class DirtyColumns {
 public:
  DirtyColumns(const Spec& spec, size_t count) : spec_(spec), keys(count, 0xA5) {
    for (const FieldSpec& field : spec) {
      sizes_.push_back(row_bytes(field));
      columns_.emplace_back(count * sizes_.back() + 1, kDirty);
      outputs_.push_back({columns_.back().data(), &field});
    }
  }
  OutputSlots outputs() const { return outputs_; }

  // What differs in row `r` from `element`.
  std::string difference(size_t r, const Element& element) const {
    for (size_t f = 0; f < spec_.size(); ++f) {
      if (columns_[f].back() != kDirty) return fmt::format("field {}: written after its end", f);
      if (is_text(spec_[f])) {
        std::string_view text;
        std::memcpy(&text, &columns_[f][r * sizes_[f]], sizeof(std::string_view));
        if (text != element[f].bytes_at(0)) return fmt::format("field {} is '{}'", f, text);
      } else if (std::memcmp(&columns_[f][r * sizes_[f]], element[f].data(), sizes_[f]) != 0) {
        return fmt::format("field {} is {}", f,
                           text_of(Tensor::view(&columns_[f][r * sizes_[f]], spec_[f].dtype, spec_[f].shape)));
      }
    }
    return "";
  }

 private:
  const Spec& spec_;
  std::vector<size_t> sizes_;
  std::vector<std::vector<std::byte>> columns_;
  std::vector<OutputSlot> outputs_;

 public:
  std::vector<uint64_t> keys;
};

std::string columns_difference(const Spec& spec, const View& view, std::span<const int64_t> positions) {
  Context context;
  DirtyColumns columns(spec, positions.size()), without_keys(spec, positions.size());
  if (!view.fill(positions, context, columns.outputs(), columns.keys.data())) return "not filled";
  if (!view.fill(positions, context, without_keys.outputs(), nullptr)) return "not filled without keys";
  for (size_t r = 0; r < positions.size(); ++r) {
    Element element;
    if (view.at(positions[r], context, {}, element) != Got::value) return "filled where at() gives no value";
    std::string found = columns.difference(r, element);
    if (found.empty() && columns.keys[r] != element.key) found = fmt::format("the key is #{:x}", columns.keys[r]);
    if (found.empty()) found = without_keys.difference(r, element);
    if (!found.empty())
      return fmt::format("row {}, position {}: {}, at() gives {}", r, positions[r], found, text_with_key(element));
  }
  return "";
}

}  // namespace

bool fills(const Node& node, const Binding& binding) {
  const bool fixed = std::all_of(node.spec().begin(), node.spec().end(),
                                 [](const FieldSpec& field) { return is_fixed(field) || is_text(field); });
  if (node.kind() != Kind::indexed || !fixed) return false;
  Context context;
  return node.bind(binding)->fill({}, context, DirtyColumns(node.spec(), 0).outputs(), nullptr);
}

std::string fill_difference(const Node& node, const View& view, uint64_t seed) {
  Random random(RandomKey{seed});
  const auto slots = static_cast<uint64_t>(std::min<int64_t>(node.slots(), 2000));
  for (const size_t count : {1, 2, 7, 255, 256, 257, 700}) {
    std::vector<int64_t> positions;
    const uint64_t first = slots == 0 ? 0 : random.below(slots);
    for (uint64_t r = 0; slots > 0 && r < count; ++r) {
      positions.push_back(static_cast<int64_t>(count == 7 ? (first + r) % slots : random.below(slots)));
    }
    const std::string found = columns_difference(node.spec(), view, positions);
    if (!found.empty()) return fmt::format("{} positions: {}", count, found);
  }
  return "";
}

std::string output_difference(const View& view, const Spec& spec, int64_t i, Context& context, const Element& element) {
  std::vector<std::vector<std::byte>> memory;
  std::vector<OutputSlot> outputs;
  for (const FieldSpec& field : spec) {
    memory.emplace_back((is_fixed(field) ? row_bytes(field) : 0) + 1, kDirty);
    outputs.push_back({is_fixed(field) ? memory.back().data() : nullptr, &field});
  }
  Element written;
  if (ask(view, i, context, outputs, written) != Got::value) return "at() with output slots gives no value";
  for (const std::vector<std::byte>& field : memory) {
    if (field.back() != kDirty) return "at() writes after the end of an output slot";
  }
  if (bytes_of(written, 0, 0) == bytes_of(element, 0, 0)) return "";
  return fmt::format("at() gives '{}', and '{}' with output slots", text_with_key(element), text_with_key(written));
}

}  // namespace headpond::internal
