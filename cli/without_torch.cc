// SPDX-License-Identifier: Apache-2.0
// The verbs that train, in a build without libtorch: they are known and say why they cannot run.
#include "cli/loader_peers.h"
#include "cli/session.h"
#include "cli/verbs.h"

namespace headpond::cli {
namespace {

Verb needs_torch(const char* path) {
  return {.path = path,
          .what = "(this build has no libtorch)",
          .declare = [](Flags& flags) { flags.anything(); },
          .run = [path](Session&) -> Result<Report> {
            return fail(ErrorKind::Unimplemented, std::string(path) + ": needs libtorch, which this build is without");
          }};
}

}  // namespace

TorchInfo torch_info() { return {}; }
std::vector<LoaderPeer> torch_data_peers(const Tensor&, const Tensor&, int64_t) { return {}; }

Verb demo_verb() { return needs_torch("demo"); }
Verb train_blstm_verb() { return needs_torch("train blstm"); }
Verb train_mnist_verb() { return needs_torch("train mnist"); }

}  // namespace headpond::cli
