// SPDX-License-Identifier: Apache-2.0
// For tests of your own operators and pipelines: do they keep the promises of all datasets? Independent of a test
// framework: a violation is a text, and "" says that none was found.
//
//   EXPECT_EQ(headpond::contract_violation(sliding_window(3), headpond::range(20)), "");
//
//   EXPECT_EQ(headpond::kernel_violation(my_kernel(), {{image}, {other_image}}), "");
//
// docs/add_an_operator.md shows two operators and a kernel that are checked so.
#pragma once

#include "headpond/dataset/testing/contract.h"
#include "headpond/engine/testing/contract.h"
#include "headpond/engine/testing/kernel_contract.h"
