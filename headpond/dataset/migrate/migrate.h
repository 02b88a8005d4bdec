// SPDX-License-Identifier: Apache-2.0
// A run goes on with another plan: more data sets, other weights, another batch size, other augmentations.
//
//   const auto migrated = migrate(state, old_plan, new_plan);
//   if (!migrated) stop(migrated.error());  // What cannot be said exactly is refused, with the operator and why.
//   std::cout << *migrated;                 // What goes on, what begins, what comes twice or never.
//   auto loader = Loader::restored(new_plan, {.epochs = 90, .seed = 7}, migrated->state);
//
// What both plans have in common goes on where it was, each source at its own position; what is above it works on the
// samples that are left. docs/changing_a_plan.md has the cases.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"

namespace headpond {

/// carried: goes on at its position. anew: begins here. dropped: was applied until here. twice, never: samples that the
/// rest of the epoch delivers again, or that this epoch does not deliver.
enum class MigrationKind : uint8_t { carried, anew, dropped, twice, never };

struct MigrationStep {
  MigrationKind kind;
  std::string step;       ///< An operator, or a source with the operators that are carried with it.
  std::string what;       ///< "goes on at position 640 of 50000".
  int64_t elements = -1;  ///< For twice and never: how many samples, not batches. -1: unknown.
  bool operator==(const MigrationStep&) const = default;
};

struct Migration {
  std::string state;                 ///< A state of the new plan, with the old one's seed.
  std::vector<MigrationStep> steps;  ///< Sources first, then operators.
};

/// "carried  range(...): goes on at position 640 of 50000", a line for each step.
std::string to_string(const Migration& migration);
std::ostream& operator<<(std::ostream& out, const Migration& migration);

/// How to treat an epoch that cannot go on exactly: an error; or it begins again, and what it delivered comes twice;
/// or the next one begins, without the remaining samples.
enum class IfRefused : uint8_t { fail, restart_epoch, next_epoch };

/// Converts `state`, saved by a run of `old_plan`, to a state of `new_plan` from which that run continues. Each sample
/// that the epoch has not delivered is delivered once, but for those that a step names as twice or never; draws of
/// operators with equal names and numbers stay the same. Opens the files of both plans, and holds for the state of a
/// Loader or a Sequence.
///
/// FailedPrecondition, which names an operator and the reason, where that cannot be; and for a state of another plan.
/// DataLoss for a damaged state. The error of a file that cannot be opened.
Result<Migration> migrate(std::string_view state, const Dataset& old_plan, const Dataset& new_plan,
                          IfRefused if_refused = IfRefused::fail);
/// The same without the old plan, of which a state has only the text: for a state between two epochs.
/// FailedPrecondition if another plan saved it inside an epoch.
Result<Migration> migrate(std::string_view state, const Dataset& new_plan);

}  // namespace headpond
