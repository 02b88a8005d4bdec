// SPDX-License-Identifier: Apache-2.0
// headpond. The verbs that need libtorch run in headpond-torch, in the same folder: loading libtorch takes 0.4 s, and
// the other verbs start in 10 ms without it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "cli/flags.h"
#include "cli/program.h"
#include "cli/session.h"

namespace {

bool needs_torch(std::string_view verb) {
  return HEADPOND_WITH_TORCH && (verb == "train" || verb == "demo" || verb == "bench");
}

// Returns only if it fails.
int become_headpond_torch(const char* verb, char** argv) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto path = self.parent_path() / "headpond-torch";
  if (!error) {
    ::execv(path.c_str(), argv);
    error.assign(errno, std::system_category());
  }
  headpond::cli::put_on_stderr(
      fmt::format("headpond: {} needs libtorch and runs in another program, which cannot be started: {}: {}\n", verb,
                  path.string(), error.message()));
  return headpond::cli::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  headpond::cli::prepare_process();
  const auto* const verb = std::find_if(argv + 1, argv + argc,
                                        [](std::string_view word) { return !word.starts_with("-") && word != "help"; });
  if (verb != argv + argc && needs_torch(*verb)) return become_headpond_torch(*verb, argv);
  return headpond::cli::run_program({argv + 1, argv + argc});
}
