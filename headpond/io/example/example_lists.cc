// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "headpond/io/example/example_read_internal.h"

namespace headpond::internal {
namespace {

/// Passes on a feature list: goes through its steps once to measure, and once to copy.
class ListGiver {
 public:
  ListGiver(const ExampleMessage& message, const PlannedFeature& planned, std::string_view value)
      : message_(message), planned_(planned), value_(value) {
    fault_.key = planned.asked.key;
  }

  Result<void> give(const FieldTargets& targets, size_t field) {
    const ExampleFeature& asked = planned_.asked;
    const bool ragged = asked.kind == FeatureKind::Ragged;
    if (value_.data() == nullptr && !ragged && !asked.allow_missing) return fail(missing());
    if (!each_step([&](const FeatureList& list) { return measure_step(list); })) return fail(error());
    const auto steps = static_cast<int64_t>(steps_);
    auto values = copied(ragged ? Shape{static_cast<int64_t>(total_.count)} : asked.shape.stacked(steps));
    if (!values) return fail(std::move(values).error());
    HEADPOND_TRY(targets.give(field, std::move(*values)));
    if (asked.with_length) return give_int64(targets, field + 1, Tensor::scalar(steps));
    return ragged ? targets.give(field + 1, splits()) : Result<void>();
  }

 private:
  template <class Visit>
  bool each_step(Visit visit) {
    WireCursor cursor(value_, fault_);
    steps_ = 0;
    while (!cursor.at_end()) {
      if (!cursor.next()) return false;
      if (cursor.field() != 1) {
        if (!cursor.skip()) return false;
        continue;
      }
      std::string_view feature;
      FeatureList list;
      if (!cursor.view(feature) || !read_feature(feature, list, fault_) || !visit(list)) return false;
      ++steps_;
    }
    return true;
  }

  bool measure_step(const FeatureList& list) {
    ListSize size;
    if (!list.is_missing && !measure(list, size, fault_)) return false;
    const bool ragged = planned_.asked.kind == FeatureKind::Ragged;
    const bool raw = planned_.asked.dtype == DType::u8;
    const bool fits = raw      ? size.count == 1 && size.characters == planned_.values
                      : ragged ? true
                               : size.count == planned_.values;
    if (list.is_missing ? !ragged : list.dtype != planned_.listed || !fits) {
      wrong_ = wrong_values(message_, planned_, static_cast<int64_t>(steps_), list, size);
      return false;
    }
    total_.count += size.count;
    total_.characters += size.characters;
    return true;
  }

  Result<Tensor> copied(const Shape& shape) {
    if (planned_.asked.dtype == DType::bytes) return copied_bytes(shape);
    Tensor tensor = Tensor::empty(planned_.asked.dtype, shape);
    std::byte* to = tensor.mutable_data();
    const bool raw = planned_.asked.dtype == DType::u8;
    const bool read = each_step([&](const FeatureList& list) {
      if (list.is_missing) return true;
      ListSize size;
      if (!measure(list, size, fault_) || (!raw && !copy_numbers(list, size, to, fault_))) return false;
      if (raw) copy_characters(list, size, to);
      to += raw ? planned_.values : size.count * item_size(planned_.asked.dtype);
      return true;
    });
    if (!read) return fail(error());
    return tensor;
  }

  Tensor copied_bytes(const Shape& shape) {
    BytesMemory memory(total_);
    int64_t* ends = memory.ends();
    int64_t end = 0;
    each_step([&](const FeatureList& list) {
      ListSize size;
      measure(list, size, fault_);
      copy_characters(list, size, memory.characters() + end);
      end = copy_ends(list, end, ends);
      ends += size.count;
      return true;
    });
    return std::move(memory).tensor(shape);
  }

  Tensor splits() {
    Tensor tensor = Tensor::empty(DType::i64, Shape{static_cast<int64_t>(steps_ + 1)});
    int64_t* to = tensor.mutable_as<int64_t>().data();
    *to = 0;
    each_step([&](const FeatureList& list) {
      ListSize size;
      measure(list, size, fault_);
      to[1] = to[0] + static_cast<int64_t>(size.count);
      ++to;
      return true;
    });
    return tensor;
  }

  Error missing() const { return wrong_values(message_, planned_, -1, {}, {}); }
  Error error() const { return wrong_ ? wrong_ : message_.error(fault_); }

  const ExampleMessage& message_;
  const PlannedFeature& planned_;
  const std::string_view value_;
  WireFault fault_;
  Error wrong_;
  uint64_t steps_ = 0;
  ListSize total_;
};

}  // namespace

Result<void> give_lists(const ExampleMessage& message, const FeaturePlan& plan, const FoundValues& found,
                        const FieldTargets& targets, size_t first) {
  for (const PlannedFeature& planned : plan.features()) {
    HEADPOND_TRY(ListGiver(message, planned, found[planned.key]).give(targets, first + planned.field));
  }
  return {};
}

}  // namespace headpond::internal
