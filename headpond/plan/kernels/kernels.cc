// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/kernels/kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/ops.h"
#include "headpond/plan/kernels/plan_kernel.h"
#include "headpond/plan/named_fields.h"
#include "headpond/plan/suggestion.h"

namespace headpond::plan {

const std::vector<PlanKernel>& plan_kernels() {
  static const std::vector<PlanKernel> all = [] {
    std::vector<PlanKernel> joined;
    for (const auto* const family : {&color_plan_kernels(), &decoder_plan_kernels(), &geometry_plan_kernels(),
                                     &sound_plan_kernels(), &spectrum_plan_kernels(), &image_plan_kernels()}) {
      joined.insert(joined.end(), family->begin(), family->end());
    }
    return joined;
  }();
  return all;
}

namespace {

const PlanKernel& find_kernel(const PlanArguments& args, const std::string& option, const std::string& name) {
  const auto& all = plan_kernels();
  const auto found = std::find_if(all.begin(), all.end(), [&](const PlanKernel& one) { return one.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const PlanKernel& one : all) names.push_back(one.name);
  args.refuse(option, fmt::format("has no kernel '{}'{}", name, suggestion(name, names)));
}

KernelRef kernel_of(const PlanArguments& args, const std::string& option, const PlanValue& value) {
  std::string name;
  if (const auto* const table = value.as<PlanTable>()) {
    for (const auto& [key, named] : *table) {
      if (key == "name") name = args.to_text(option, named);
    }
  }
  if (name.empty()) args.refuse(option, "must be a list of tables, each with a name");
  const PlanKernel& kernel = find_kernel(args, option, name);
  std::vector<std::string> known = kernel.options;
  known.emplace_back("name");
  return kernel.build(args.nested(option + ": " + name, value, known));
}

MapFields roles_of(const PlanStep& step) {
  if (!step.args.has("fields")) {
    return {.image = library_name(step.input().spec(), step.args.text("field", ""))};
  }
  if (step.args.has("field")) step.args.refuse("field", "cannot be given together with fields");
  const PlanArguments own =
      step.args.nested("fields", step.args.value("fields"), {"image", "mask", "boxes", "labels", "points"});
  return {.image = own.text("image"),
          .mask = own.text("mask", ""),
          .boxes = own.text("boxes", ""),
          .labels = own.text("labels", ""),
          .points = own.text("points", "")};
}

}  // namespace

std::vector<KernelRef> kernels_option(const PlanArguments& options, const std::string& name) {
  std::vector<KernelRef> kernels;
  for (const PlanValue& one : options.list(name)) kernels.push_back(kernel_of(options, name, one));
  return kernels;
}

Dataset build_map_kernels(const PlanStep& step) {
  const std::vector<KernelRef> kernels = kernels_option(step.args, "kernels");
  MapFields fields = roles_of(step);
  fields.name = step.name;
  if (!step.args.has("fields")) return step.input() | internal::map_kernels_step(fields.image, kernels, step.name);
  return step.input() | internal::map_kernels_step(fields, kernels);
}

}  // namespace headpond::plan
