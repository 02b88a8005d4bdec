// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "headpond/io/example/example_read_internal.h"
#include "headpond/io/quoted_name_internal.h"

namespace headpond {

using internal::ExampleMessage;
using internal::FeaturePlan;
using internal::FoundValues;
using internal::Scratch;

namespace {

constexpr uint32_t kContext = 1, kFeatureLists = 2;  // Field numbers of tensorflow.SequenceExample.

struct Found {
  const FeaturePlan& plan;
  FoundValues& values;
};

bool find_both(const ExampleMessage& message, const Found& context, const Found& lists, internal::WireFault& fault) {
  uint64_t left = context.plan.limits().max_features;
  internal::WireCursor cursor(message.bytes, fault);
  while (!cursor.at_end()) {
    if (!cursor.next()) return false;
    if (cursor.field() != kContext && cursor.field() != kFeatureLists) {
      if (!cursor.skip()) return false;
      continue;
    }
    const Found& into = cursor.field() == kContext ? context : lists;
    std::string_view map;
    if (!cursor.view(map) || !internal::find_values(map, into.plan, left, into.values, fault)) return false;
  }
  return true;
}

}  // namespace

SequenceExampleParser::SequenceExampleParser(std::vector<ExampleFeature> context, std::vector<ExampleFeature> lists,
                                             ExampleLimits limits)
    : context_(std::make_shared<const FeaturePlan>(std::move(context), FeaturePlan::Where::features, limits)),
      lists_(std::make_shared<const FeaturePlan>(std::move(lists), FeaturePlan::Where::lists, limits)),
      fields_(context_->fields()) {
  std::unordered_set<std::string_view> names;
  for (const FieldSpec& field : context_->fields()) names.insert(field.name);
  for (const FieldSpec& field : lists_->fields()) {
    if (names.contains(field.name)) {
      throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("field {} of the context and of the lists",
                                                                    internal::quoted_name(field.name))));
    }
    fields_.push_back(field);
  }
}

std::string SequenceExampleParser::describe() const {
  return fmt::format("context {{{}}}, lists {{{}}}", context_->describe(), lists_->describe());
}

Result<void> SequenceExampleParser::parse(std::span<const std::byte> payload, std::span<std::byte* const> targets,
                                          std::span<Tensor> out) const try {
  const internal::FieldTargets field_targets = {targets, out};
  const ExampleMessage message = {{reinterpret_cast<const char*>(payload.data()), payload.size()}, "SequenceExample"};
  HEADPOND_TRY(field_targets.check(fields_.size()));
  HEADPOND_TRY(message.check_length(context_->limits()));
  const Found context = {*context_, internal::found_values(Scratch::features, context_->keys().size())};
  const Found lists = {*lists_, internal::found_values(Scratch::lists, lists_->keys().size())};
  internal::WireFault fault;
  if (!find_both(message, context, lists, fault)) return fail(message.error(fault));
  HEADPOND_TRY(internal::give_features(message, *context_, context.values, field_targets, fault));
  return internal::give_lists(message, *lists_, lists.values, field_targets, context_->fields().size());
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

Result<std::vector<Tensor>> SequenceExampleParser::parse(std::span<const std::byte> message) const try {
  std::vector<Tensor> out(fields_.size());
  HEADPOND_TRY(parse(message, {}, out));
  return out;
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

}  // namespace headpond
