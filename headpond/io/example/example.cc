// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/example/example.h"

#include <utility>

#include "headpond/io/example/example_read_internal.h"

namespace headpond {

using internal::ExampleMessage;
using internal::FeaturePlan;

namespace {

constexpr uint32_t kFeatures = 1;  // Field number of tensorflow.Example.

std::string_view characters_of(std::span<const std::byte> message) {
  return {reinterpret_cast<const char*>(message.data()), message.size()};
}

bool find_features(const ExampleMessage& message, const FeaturePlan& plan, internal::FoundValues& found,
                   internal::WireFault& fault) {
  uint64_t left = plan.limits().max_features;
  internal::WireCursor cursor(message.bytes, fault);
  while (!cursor.at_end()) {
    if (!cursor.next()) return false;
    std::string_view features;
    if (cursor.field() != kFeatures) {
      if (!cursor.skip()) return false;
    } else if (!cursor.view(features) || !internal::find_values(features, plan, left, found, fault)) {
      return false;
    }
  }
  return true;
}

}  // namespace

ExampleParser::ExampleParser(std::vector<ExampleFeature> features, ExampleLimits limits)
    : plan_(std::make_shared<const FeaturePlan>(std::move(features), FeaturePlan::Where::features, limits)) {}

const Spec& ExampleParser::fields() const { return plan_->fields(); }

std::string ExampleParser::describe() const { return plan_->describe(); }

Result<void> ExampleParser::parse(std::span<const std::byte> payload, std::span<std::byte* const> targets,
                                  std::span<Tensor> out) const try {
  const internal::FieldTargets field_targets = {targets, out};
  const ExampleMessage message = {characters_of(payload), "Example"};
  HEADPOND_TRY(field_targets.check(fields().size()));
  HEADPOND_TRY(message.check_length(plan_->limits()));
  internal::FoundValues& found = internal::found_values(internal::Scratch::features, plan_->keys().size());
  internal::WireFault fault;
  if (!find_features(message, *plan_, found, fault)) return fail(message.error(fault));
  return internal::give_features(message, *plan_, found, field_targets, fault);
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

Result<std::vector<Tensor>> ExampleParser::parse(std::span<const std::byte> message) const try {
  std::vector<Tensor> out(fields().size());
  HEADPOND_TRY(parse(message, {}, out));
  return out;
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

}  // namespace headpond
