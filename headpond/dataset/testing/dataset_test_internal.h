// SPDX-License-Identifier: Apache-2.0
// What every operator's tests use: elements as text, the contract that each dataset keeps.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/dataset/testing/columns_check_internal.h"
#include "headpond/dataset/testing/contract.h"
#include "headpond/dataset/testing/course.h"

namespace headpond::internal {

/// What the program that iterates sees: each element as text, with its key if wanted; "!kind: message" for an error.
inline std::vector<std::string> elements(const Dataset& dataset, const SequenceOptions& options = {},
                                         bool keys = false) {
  std::vector<std::string> all;
  Sequence sequence(dataset, options);
  for (int errors = 0; errors < 100;) {
    auto next = sequence.next();
    if (at_end(next)) break;
    if (!next) {
      all.push_back(fmt::format("!{}", next.error().to_string()));
      ++errors;
    } else {
      all.push_back(text_of(*next) + (keys ? fmt::format(" #{:x}", next->key) : ""));
    }
  }
  return all;
}

/// sequence_violation() finds nothing: the promises of every dataset (contract.h).
void check_contract(const Dataset& dataset, const SequenceOptions& options = {.seed = 7, .epochs = 2});

}  // namespace headpond::internal
