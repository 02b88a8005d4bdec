// SPDX-License-Identifier: Apache-2.0
// What a program without libtorch has instead of its verbs: verbs of the same names that say why they cannot run.
#include "cli/bench/benches.h"
#include "cli/bench/peers/loader_peers.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"

namespace headpond::cli {
namespace {

Verb needs_torch(const char* path, const char* what) {
  return {.path = path,
          .what = HEADPOND_WITH_TORCH ? what : "(this build has no libtorch)",
          .declare = [](Flags& flags) { flags.anything(); },
          .run = [path](Session&) -> Result<Report> {
            return fail(ErrorKind::Unimplemented,
                        std::string(path) + ": needs libtorch, which this build does not have");
          }};
}

}  // namespace

TorchInfo torch_info() { return {}; }
std::vector<LoaderPeer> torch_data_peers(const Tensor&, const Tensor&, int64_t) { return {}; }
TorchBenches torch_benches() { return {}; }

Verb demo_verb() { return needs_torch("demo", kDemoWhat); }
Verb train_blstm_verb() { return needs_torch("train blstm", kTrainBlstmWhat); }
Verb train_mnist_verb() { return needs_torch("train mnist", kTrainMnistWhat); }
Verb train_nuclei_verb() { return needs_torch("train nuclei", kTrainNucleiWhat); }
Verb train_spoken_verb() { return needs_torch("train spoken", kTrainSpokenWhat); }

}  // namespace headpond::cli
