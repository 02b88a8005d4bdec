// SPDX-License-Identifier: Apache-2.0
// headpond-torch: headpond with libtorch. headpond runs it for the verbs that need it.
#include "cli/program.h"

int main(int argc, char** argv) {
  headpond::cli::prepare_process();
  return headpond::cli::run_program({argv + 1, argv + argc});
}
