// SPDX-License-Identifier: Apache-2.0
// The kernels of pipeline files, a table for each family: map's argument `kernels`, [{ name = "decode_png", channels =
// 3 }]. To add one:
//   1. in the source of its family, write a function from its options to the kernel, with the getters of PlanArguments
//      and those below;
//   2. add a row to the table there: name, options, function; unknown names and options are refused by the table;
//   3. add a row to docs/plan_files.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/plan/plan_arguments.h"
#include "headpond/tensor/kernel.h"

namespace headpond::plan {

struct PlanKernel {
  std::string name;
  std::vector<std::string> options;
  KernelRef (*build)(const PlanArguments& options);  ///< Throws PlanError, or Exception as the library does.
};

/// All of them.
const std::vector<PlanKernel>& plan_kernels();
const std::vector<PlanKernel>& color_plan_kernels();
const std::vector<PlanKernel>& decoder_plan_kernels();
const std::vector<PlanKernel>& geometry_plan_kernels();
const std::vector<PlanKernel>& sound_plan_kernels();
const std::vector<PlanKernel>& spectrum_plan_kernels();
const std::vector<PlanKernel>& image_plan_kernels();

/// Options: `fallback` if the option is missing. Throw PlanError at the option.
int32_t int32_option(const PlanArguments& options, const std::string& name, int32_t fallback);
double number_option(const PlanArguments& options, const std::string& name, double fallback);
/// A list of integers or of numbers; one alone is a list of one.
std::vector<int64_t> integers_option(const PlanArguments& options, const std::string& name,
                                     std::vector<int64_t> fallback = {});
std::vector<double> numbers_option(const PlanArguments& options, const std::string& name,
                                   std::vector<double> fallback = {});

/// A list of tables, each with the name of a kernel and its options, for a kernel that is made of kernels. Throws
/// PlanError.
std::vector<KernelRef> kernels_option(const PlanArguments& options, const std::string& name);

}  // namespace headpond::plan
