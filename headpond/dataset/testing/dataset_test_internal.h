// SPDX-License-Identifier: Apache-2.0
// What every operator's tests use: elements as text, the contract that each dataset keeps, a stream made of positions.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"

namespace headpond::internal {

inline std::string text_of(const Tensor& tensor) {
  const auto value = [&](int64_t i) -> std::string {
    const auto at = static_cast<size_t>(i);
    switch (tensor.dtype()) {
      case DType::i64:
        return fmt::format("{}", tensor.as<int64_t>()[at]);
      case DType::i32:
        return fmt::format("{}", tensor.as<int32_t>()[at]);
      case DType::f32:
        return fmt::format("{}", tensor.as<float>()[at]);
      case DType::f64:
        return fmt::format("{}", tensor.as<double>()[at]);
      case DType::boolean:
        return fmt::format("{}", tensor.as<bool>()[at]);
      case DType::u32:
        return fmt::format("{}", tensor.as<uint32_t>()[at]);
      case DType::bytes:
        return "'" + std::string(tensor.bytes_at(i)) + "'";
      default:
        return fmt::format("{}", tensor.as<uint8_t>()[at]);
    }
  };
  std::string text;
  for (int64_t i = 0; i < tensor.size(); ++i) text += (i > 0 ? " " : "") + value(i);
  if (tensor.rank() == 0) return text;
  return (tensor.rank() > 1 ? tensor.shape().to_string() : "") + "[" + text + "]";
}

/// "5", or "5, [1 2]" for two fields.
inline std::string text_of(const Element& element) {
  std::string text;
  for (size_t i = 0; i < element.size(); ++i) text += (i > 0 ? ", " : "") + text_of(element[i]);
  return text;
}

/// What the program that iterates sees: each element as text, with its key if wanted; "!kind: message" for an error.
inline std::vector<std::string> elements(const Dataset& dataset, SequenceOptions options = {}, bool keys = false) {
  std::vector<std::string> all;
  Sequence sequence(dataset, options);
  for (int errors = 0; errors < 100;) {
    auto next = sequence.next();
    if (at_end(next)) break;
    if (!next) {
      all.push_back(fmt::format("!{}", next.error().to_string()));
      ++errors;
    } else {
      all.push_back(text_of(*next) + (keys ? fmt::format(" #{:x}", next->key) : ""));
    }
  }
  return all;
}

/// A step that forgets positions: its elements have an order only, as those of a generator.
Step as_stream();

/// Whether a view of this node fills columns.
bool fills(const Node& node, const Binding& binding = {});
/// What first differs between the columns that `view`, of `node`, fills and what at() gives there: random positions in
/// any order, some twice, in numbers about the blocks that operators work in. "": nothing. REQUIRES: the view fills;
/// no errors.
std::string fill_difference(const Node& node, const View& view, uint64_t seed = 1);

/// The promises that hold for every dataset with an end and without errors: the same twice; the end stays; from each
/// place a restored run gives the same rest and the same last state, also when saved at once after the restore;
/// positions give what iteration gives, with and without output slots; columns are filled with the same.
void check_contract(const Dataset& dataset, SequenceOptions options = {.seed = 7, .epochs = 2});

}  // namespace headpond::internal
