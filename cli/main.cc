// SPDX-License-Identifier: Apache-2.0
// headpond. Its verbs with libtorch are in headpond-torch, beside it: libtorch takes 0.4 s to load, the rest 10 ms.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "cli/flags.h"
#include "cli/program.h"

namespace {

bool is_with_torch(std::string_view verb) {
  return HEADPOND_WITH_TORCH && (verb == "train" || verb == "demo" || verb == "bench");
}

// Returns only if it fails.
int become_headpond_torch(char** argv) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto path = self.parent_path() / "headpond-torch";
  if (!error) {
    ::execv(path.c_str(), argv);
    error.assign(errno, std::system_category());
  }
  fmt::print(stderr, "headpond: the verbs with libtorch are in another program, {}: {}\n", path.string(),
             error.message());
  return headpond::cli::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  const auto* const verb = std::find_if(argv + 1, argv + argc, [](const char* word) { return word[0] != '-'; });
  if (verb != argv + argc && is_with_torch(*verb)) return become_headpond_torch(argv);
  return headpond::cli::run_program({argv + 1, argv + argc});
}
