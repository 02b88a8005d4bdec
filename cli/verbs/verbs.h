// SPDX-License-Identifier: Apache-2.0
// The verbs of this program, one file each.
#pragma once

#include <string>
#include <vector>

#include "cli/flags.h"

namespace headpond::cli {

// Of the next three there are two kinds, by what is linked: those of headpond-torch, and those that only give their
// name.
Verb demo_verb();
Verb train_blstm_verb();
Verb train_mnist_verb();
inline constexpr const char* kDemoWhat =
    "three published examples of feeding a training, and data prepared once; in two to three minutes";
inline constexpr const char* kTrainBlstmWhat =
    "a bidirectional LSTM on random batches: fed in turn, by a queue, by a Loader";
inline constexpr const char* kTrainMnistWhat =
    "the article's digit network, fed by sleeping producers through a shuffle queue, or by a Loader";

Verb bench_verb();
Verb run_verb();
Verb explain_verb();
Verb inspect_verb();
Verb verify_verb();
Verb convert_verb();
/// --version
Verb version_verb();

/// What a later version of this program has: exit code 2, and these words.
Error not_in_this_version(const std::string& what);

/// The one word of a verb that takes a pipeline file. Throws Exception(InvalidArgument) for none or several.
const std::string& only_file(const std::string& verb, const std::vector<std::string>& words);

/// Throws Exception(InvalidArgument) for none.
void check_files_given(const std::string& verb, const std::vector<std::string>& files);

/// Makes sure that the program's own digits are in the cache, and says so when it draws them.
Result<void> draw_digits_once(Session& session);

/// Words that follow `bench`.
std::vector<std::string> bench_names();

}  // namespace headpond::cli
