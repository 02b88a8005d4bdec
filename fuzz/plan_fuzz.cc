// SPDX-License-Identifier: Apache-2.0
// Pipeline files and their expressions, from any bytes: a dataset, or an error with a place in the file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "headpond/plan/plan_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto has = [&](const char* any) { return text.find(any) != std::string_view::npos; };
  // Files of the machine must not be read: "/dev/..." may be anything, and "folder" would search all of them.
  if (has("folder") || has("\\u") || has("\\U") || (has("path") && has("/"))) return 0;
  try {
    const auto plan = headpond::plan::parse_plan(text, "fuzz.toml");
    if (plan.dataset.plan().empty()) __builtin_trap();
  } catch (const headpond::plan::PlanError& error) {
    if (!error.error().message().starts_with("fuzz.toml:")) __builtin_trap();
  }
  return 0;
}
