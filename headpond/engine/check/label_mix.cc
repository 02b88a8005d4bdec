// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "headpond/dataset/sequence.h"
#include "headpond/engine/check/label_mix_internal.h"
#include "headpond/engine/check/tried_internal.h"

namespace headpond::internal {
namespace {

constexpr std::string_view kUnnamed = "x";  // As pipeline files and views call a field without a name.

size_t index_of(const Spec& spec, const std::string& field) {
  const auto is_it = [&](const FieldSpec& one) { return one.name.empty() ? field == kUnnamed : one.name == field; };
  const auto found = std::find_if(spec.begin(), spec.end(), is_it);
  if (found == spec.end()) {
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("check: elements have no field '{}': {}", field, to_string(spec))));
  }
  if (found->shape.rank() != 0) {
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("check: the field '{}' is no single value: {}", field, to_string(spec))));
  }
  return static_cast<size_t>(found - spec.begin());
}

std::string class_of(const Tensor& label) {
  if (label.dtype() == bytes) return std::string(label.bytes_at(0));
  return {reinterpret_cast<const char*>(label.data()), label.byte_size()};
}

std::vector<ClassCounts> evenly_spread(const Node& node, size_t field, uint64_t seed, int64_t batch, int64_t most) {
  const int64_t slots = node.slots(), rows = std::min(batch, std::max<int64_t>(most / 2, 1));
  const bool is_last_large = slots % batch >= rows;  // The last batch has as many of its own.
  const int64_t all = slots == kEndless ? most / rows : slots / batch + (is_last_large ? 1 : 0);
  const int64_t looked_at = std::clamp<int64_t>(most / rows, 1, std::max<int64_t>(all, 1));
  const auto view = view_of(node, {.seed = seed, .epoch = 0});
  Context context;
  std::vector<ClassCounts> batches(static_cast<size_t>(looked_at));
  for (int64_t k = 0; k < looked_at; ++k) {
    const int64_t first = k * std::max<int64_t>(all, 1) / looked_at * batch;
    for (int64_t i = first; i < std::min(first + rows, slots); ++i) {
      stop_if_interrupted();
      Element element;
      if (ask(*view, i, context, {}, element) != Got::value) continue;
      ++batches[static_cast<size_t>(k)][class_of(element[field])];
    }
  }
  return batches;
}

std::vector<ClassCounts> first_ones(const Node::Ref& node, size_t field, uint64_t seed, int64_t batch, int64_t most) {
  std::vector<ClassCounts> batches;
  Sequence sequence(Dataset(node), {.seed = seed});
  for (int64_t i = 0, rows = 0; i < most; ++i) {
    stop_if_interrupted();
    const auto element = sequence.next();
    if (at_end(element)) break;
    if (!element) continue;
    if (rows++ % batch == 0) batches.emplace_back();
    ++batches.back()[class_of((*element)[field])];
  }
  return batches;
}

double sum(const ClassCounts& counts) {
  double all = 0;
  for (const auto& [name, count] : counts) all += static_cast<double>(count);
  return all;
}

ClassCounts together(const std::vector<ClassCounts>& batches) {
  ClassCounts all;
  for (const ClassCounts& batch : batches) {
    for (const auto& [name, count] : batch) all[name] += count;
  }
  return all;
}

}  // namespace

std::optional<double> mix_of(const std::vector<ClassCounts>& batches, int64_t population) {
  if (batches.size() < 2) return std::nullopt;
  const ClassCounts classes = together(batches);
  const double all = sum(classes), without_one = static_cast<double>(std::max<int64_t>(population - 1, 1));
  double spread = 0, even = 0;
  for (const ClassCounts& batch : batches) {
    const double rows = sum(batch);
    const double left = std::max(static_cast<double>(population) - rows, 0.0) / without_one;
    for (const auto& [name, count] : classes) {
      const double share = static_cast<double>(count) / all;
      const auto found = batch.find(name);
      const double here = found == batch.end() ? 0 : static_cast<double>(found->second);
      spread += std::pow(here - share * rows, 2);
      // What a batch has is in the shares, too.
      even += rows * share * (1 - share) * left * (1 - rows / all);
    }
  }
  return even > 0 ? spread / even : 1;
}

LabelMix label_mix(const Node::Ref& node, const std::string& field, uint64_t seed, int64_t batch, int64_t most) {
  const size_t index = index_of(node->spec(), field);
  const bool has_positions = node->kind() != Kind::stream && !node->iterates();
  const auto batches =
      has_positions ? evenly_spread(*node, index, seed, batch, most) : first_ones(node, index, seed, batch, most);
  const ClassCounts classes = together(batches);
  const bool is_counted = has_positions && node->slots() != kEndless;
  return {.field = field,
          .batches = std::ssize(batches),
          .classes = std::ssize(classes),
          .mix = mix_of(batches, is_counted ? node->slots() : INT64_MAX)};
}

}  // namespace headpond::internal
