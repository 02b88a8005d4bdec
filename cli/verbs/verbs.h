// SPDX-License-Identifier: Apache-2.0
// The verbs of this program, one file each.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"

namespace headpond::cli {

// headpond-torch links these five; headpond links verbs of the same names that only refuse (without_torch.cc).
Verb demo_verb();
Verb train_blstm_verb();
Verb train_mnist_verb();
Verb train_nuclei_verb();
Verb train_spoken_verb();
inline constexpr const char* kDemoWhat =
    "repeat the measurements and trainings of four published examples, in about 5 minutes";
inline constexpr const char* kTrainBlstmWhat =
    "train a bidirectional LSTM on random batches: fed in turn, by a queue, by a Loader";
inline constexpr const char* kTrainMnistWhat =
    "train a digit network, fed by sleeping producers through a shuffle queue or by a Loader";
inline constexpr const char* kTrainNucleiWhat =
    "train interactive segmentation on pictures that are prepared once, with clicks and without";
inline constexpr const char* kTrainSpokenWhat =
    "train a network on spoken digits, evaluate it while inputs stay warm, go on from checkpoints";

Verb bench_verb();
Verb run_verb();
Verb explain_verb();
Verb check_verb();
Verb diagnose_verb();
Verb profile_verb();
Verb stalls_verb();
Verb top_verb();
Verb inspect_verb();
Verb verify_verb();
Verb view_verb();
Verb convert_verb();
Verb cache_ls_verb();
Verb cache_rm_verb();
/// --version
Verb version_verb();

/// The only word of `words`, a pipeline file. Throws Exception(InvalidArgument) for none or several.
const std::string& only_file(const std::string& verb, const std::vector<std::string>& words);

/// Throws Exception(InvalidArgument) for none.
void check_files_given(const std::string& verb, const std::vector<std::string>& files);

/// Draws the program's own digits into the cache, with a message, unless they are there.
Result<void> draw_digits_once(Session& session);

/// The names of all benches, and of groups of them.
std::vector<std::string> bench_names();

}  // namespace headpond::cli
