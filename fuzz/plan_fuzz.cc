// SPDX-License-Identifier: Apache-2.0
// Pipeline files and the expressions in them, from any bytes: a dataset or an error with a place in the file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/plan_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto plan = headpond::cli::parse_plan({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
    if (plan.dataset.plan().empty()) __builtin_trap();
  } catch (const headpond::cli::PlanError& error) {
    if (!error.error().message().starts_with("fuzz.toml:")) __builtin_trap();
  }
  return 0;
}
