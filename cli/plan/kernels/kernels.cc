// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/kernels/kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/plan/kernels/plan_kernel.h"
#include "cli/plan/named_fields.h"
#include "cli/plan/suggestion.h"
#include "headpond/dataset/ops.h"

namespace headpond::cli {
namespace {

const std::vector<PlanKernel>& plan_kernels() {
  static const std::vector<PlanKernel> all = [] {
    std::vector<PlanKernel> joined;
    for (const auto* const family : {&decoder_plan_kernels(), &geometry_plan_kernels()}) {
      joined.insert(joined.end(), family->begin(), family->end());
    }
    return joined;
  }();
  return all;
}

const PlanKernel& find_kernel(const PlanArguments& args, const std::string& name) {
  const auto& all = plan_kernels();
  const auto found = std::find_if(all.begin(), all.end(), [&](const PlanKernel& one) { return one.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const PlanKernel& one : all) names.push_back(one.name);
  args.refuse("kernels", fmt::format("has no kernel '{}'{}", name, suggestion(name, names)));
}

KernelRef kernel_of(const PlanArguments& args, const PlanValue& value) {
  std::string name;
  if (const auto* const table = value.as<PlanTable>()) {
    for (const auto& [key, named] : *table) {
      if (key == "name") name = args.to_text("kernels", named);
    }
  }
  if (name.empty()) args.refuse("kernels", "must be a list of tables, each with a name");
  const PlanKernel& kernel = find_kernel(args, name);
  std::vector<std::string> known = kernel.options;
  known.emplace_back("name");
  return kernel.build(args.nested("kernels: " + name, value, known));
}

MapFields roles_of(const PlanStep& step) {
  if (!step.args.has("fields")) {
    return {.image = library_name(step.input().spec(), step.args.text("field", ""))};
  }
  if (step.args.has("field")) step.args.refuse("field", "stands beside fields: one of them is needed");
  const PlanArguments own =
      step.args.nested("fields", step.args.value("fields"), {"image", "mask", "boxes", "labels", "points"});
  return {.image = own.text("image"),
          .mask = own.text("mask", ""),
          .boxes = own.text("boxes", ""),
          .labels = own.text("labels", ""),
          .points = own.text("points", "")};
}

}  // namespace

Dataset build_map_kernels(const PlanStep& step) {
  std::vector<KernelRef> kernels;
  for (const PlanValue& one : step.args.list("kernels")) kernels.push_back(kernel_of(step.args, one));
  const MapFields fields = roles_of(step);
  if (!step.args.has("fields")) return step.input() | internal::map_kernels_step(fields.image, kernels);
  return step.input() | internal::map_kernels_step(fields, kernels);
}

}  // namespace headpond::cli
