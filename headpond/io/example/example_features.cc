// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/io/example/example_read_internal.h"
#include "headpond/io/quoted_name_internal.h"

namespace headpond::internal {
namespace {

class FeatureGiver {
 public:
  FeatureGiver(const ExampleMessage& message, const FoundValues& found, const FieldTargets& targets, WireFault& fault)
      : message_(message), found_(found), targets_(targets), fault_(fault) {}

  Result<void> give(const PlannedFeature& planned) const {
    FeatureList list;
    ListSize size;
    const bool is_sparse = planned.asked.kind == FeatureKind::Sparse;
    const std::string& key =
        is_sparse && !planned.asked.value_key.empty() ? planned.asked.value_key : planned.asked.key;
    if (!measure_value(key, found_[planned.key], list, size, fault_)) return fail(message_.error(fault_));
    if (!list.is_missing && list.dtype != planned.listed) {
      return fail(wrong_values(message_, planned, -1, list, size));
    }
    switch (planned.asked.kind) {
      case FeatureKind::FixedLen:
        return give_fixed(planned, list, size);
      case FeatureKind::FixedLenSequence:
        return give_sequence(planned, list, size);
      case FeatureKind::Ragged:
        HEADPOND_TRY(give_splits(planned, size.count));
        fault_.key = planned.asked.key;
        break;
      case FeatureKind::Sparse:
        if (list.is_missing) list.dtype = planned.listed;
        return give_sparse(message_, planned, found_, {list, size}, targets_, fault_);
      case FeatureKind::VarLen:
        break;
    }
    return give_list(planned, list, size, Shape{static_cast<int64_t>(size.count)});
  }

 private:
  Result<void> give_fixed(const PlannedFeature& planned, const FeatureList& list, const ListSize& size) const {
    std::byte* target = planned.can_have_target() ? targets_.target(planned.field) : nullptr;
    if (list.is_missing && planned.default_value) return planned.default_value->give(planned.field, target, targets_);
    const bool is_raw = planned.asked.dtype == DType::u8;
    const bool fits = is_raw ? size.count == 1 && size.characters == planned.values : size.count == planned.values;
    if (list.is_missing || !fits) return fail(wrong_values(message_, planned, -1, list, size));
    if (target == nullptr && !is_raw) return give_list(planned, list, size, planned.asked.shape);
    Tensor tensor;
    if (target == nullptr) {
      tensor = Tensor::empty(DType::u8, planned.asked.shape);
      target = tensor.mutable_data();
    }
    if (is_raw) {
      copy_characters(list, size, target);
    } else if (!copy_numbers(list, size, target, fault_)) {
      return fail(message_.error(fault_));
    }
    return target == tensor.data() ? targets_.give(planned.field, std::move(tensor)) : Result<void>();
  }

  Result<void> give_sequence(const PlannedFeature& planned, const FeatureList& list, const ListSize& size) const {
    if ((list.is_missing && !planned.asked.allow_missing) || size.count % planned.values != 0) {
      return fail(wrong_values(message_, planned, -1, list, size));
    }
    const auto steps = static_cast<int64_t>(size.count / planned.values);
    HEADPOND_TRY(give_list(planned, list, size, planned.asked.shape.stacked(steps)));
    return planned.asked.with_length ? give_int64(targets_, planned.field + 1, Tensor::scalar(steps)) : Result<void>();
  }

  Result<void> give_list(const PlannedFeature& planned, FeatureList list, const ListSize& size,
                         const Shape& shape) const {
    if (list.is_missing) list.dtype = planned.listed;
    auto tensor = tensor_of(message_, list, size, shape, fault_);
    if (!tensor) return fail(std::move(tensor).error());
    return targets_.give(planned.field, std::move(*tensor));
  }

  Result<void> give_splits(const PlannedFeature& planned, uint64_t values) const {
    const size_t field = planned.field + 1;
    if (planned.splits_field == field) {
      auto splits = splits_of(planned, values);
      if (!splits) return fail(std::move(splits).error());
      HEADPOND_TRY(targets_.give(field, std::move(*splits)));
    } else {
      HEADPOND_TRY(targets_.give(field, targets_.out[planned.splits_field]));
    }
    const int64_t sum = targets_.out[field].as<int64_t>().back();
    if (static_cast<uint64_t>(sum) == values) return {};
    return fail(wrong_lengths(planned, values, fmt::format("a sum of {}", sum)));
  }

  Result<Tensor> splits_of(const PlannedFeature& planned, uint64_t values) const {
    FeatureList list;
    ListSize size;
    if (!measure_value(planned.asked.row_lengths, found_[planned.row_lengths_key], list, size, fault_)) {
      return fail(message_.error(fault_));
    }
    if (!list.is_missing && list.dtype != DType::i64) {
      return fail(wrong_lengths(planned, values, fmt::format("values of {}", name(list.dtype))));
    }
    Tensor splits = Tensor::empty(DType::i64, Shape{static_cast<int64_t>(size.count + 1)});
    const auto numbers = splits.mutable_as<int64_t>();
    if (!copy_numbers(list, size, splits.mutable_data() + sizeof(int64_t), fault_)) return fail(message_.error(fault_));
    numbers[0] = 0;
    for (size_t row = 1; row < numbers.size(); ++row) {
      const int64_t length = numbers[row];
      if (length < 0) return fail(wrong_lengths(planned, values, fmt::format("a length of {}", length)));
      if (__builtin_add_overflow(length, numbers[row - 1], &numbers[row])) {
        return fail(
            wrong_lengths(planned, values, fmt::format("a length of {} after a sum of {}", length, numbers[row - 1])));
      }
    }
    return splits;
  }

  Error wrong_lengths(const PlannedFeature& planned, uint64_t values, const std::string& what) const {
    return {ErrorKind::InvalidArgument,
            fmt::format("{}, feature {}: {}, as row lengths of {} values of feature {}", message_.type,
                        quoted_name(planned.asked.row_lengths), what, values, quoted_name(planned.asked.key))};
  }

  const ExampleMessage& message_;
  const FoundValues& found_;
  const FieldTargets& targets_;
  WireFault& fault_;
};

}  // namespace

Result<void> give_features(const ExampleMessage& message, const FeaturePlan& plan, const FoundValues& found,
                           const FieldTargets& targets, WireFault& fault) {
  const FeatureGiver giver(message, found, targets, fault);
  for (const PlannedFeature& planned : plan.features()) HEADPOND_TRY(giver.give(planned));
  return {};
}

}  // namespace headpond::internal
