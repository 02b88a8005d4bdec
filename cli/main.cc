// SPDX-License-Identifier: Apache-2.0
// headpond. Its verbs with libtorch are in headpond-torch, beside it: libtorch takes 0.4 s to load, the rest 10 ms.
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "cli/flags.h"
#include "cli/program.h"

namespace {

bool is_with_torch(std::string_view verb) {
  return HEADPOND_WITH_TORCH && (verb == "train" || verb == "demo" || verb == "bench");
}

// Returns only if it fails.
int become_headpond_torch(char** argv) {
  std::error_code unknown;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", unknown).replace_filename("headpond-torch");
  ::execv(path.c_str(), argv);
  fmt::print(stderr, "headpond: {} is in another program, {}: {}\n", argv[1], path.string(), std::strerror(errno));
  return headpond::cli::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && is_with_torch(argv[1])) return become_headpond_torch(argv);
  return headpond::cli::run_program({argv + 1, argv + argc});
}
