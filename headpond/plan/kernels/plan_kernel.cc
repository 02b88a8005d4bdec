// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/kernels/plan_kernel.h"

#include <fmt/format.h>

#include <utility>

namespace headpond::plan {
namespace {

// The values of the option, one after the other, by `get(value)`.
template <class T, class Get>
std::vector<T> values_of(const PlanArguments& options, const std::string& name, std::vector<T> fallback, Get get) {
  if (!options.has(name)) return fallback;
  const PlanValue& value = options.value(name);
  if (value.as<PlanList>() == nullptr) return {get(value)};
  std::vector<T> all;
  for (const PlanValue& one : options.list(name)) all.push_back(get(one));
  return all;
}

}  // namespace

int32_t int32_option(const PlanArguments& options, const std::string& name, int32_t fallback) {
  const int64_t value = options.integer(name, fallback);
  if (!std::in_range<int32_t>(value)) options.refuse(name, fmt::format("is {}: out of range", value));
  return static_cast<int32_t>(value);
}

double number_option(const PlanArguments& options, const std::string& name, double fallback) {
  return options.has(name) ? options.number(name) : fallback;
}

std::vector<int64_t> integers_option(const PlanArguments& options, const std::string& name,
                                     std::vector<int64_t> fallback) {
  return values_of<int64_t>(options, name, std::move(fallback),
                            [&](const PlanValue& value) { return options.to_integer(name, value); });
}

std::vector<double> numbers_option(const PlanArguments& options, const std::string& name,
                                   std::vector<double> fallback) {
  return values_of<double>(options, name, std::move(fallback),
                           [&](const PlanValue& value) { return options.to_number(name, value); });
}

}  // namespace headpond::plan
