// SPDX-License-Identifier: Apache-2.0
// All that an operator of your own is made of; docs/add_an_operator.md shows two. Choose a base:
//
//   Pointwise   works on one element at a time, and gives one or none
//   Combining   makes an element of several elements of its input
//   Choosing    keeps or moves elements by their number
//   Batching    stacks elements
//   Node        all else: with a View if its elements have positions, an Iterator if they have only an order
//
// headpond/testing.h checks that the operator keeps the promises of all datasets.
#pragma once

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/choosing.h"
#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/bases/combining.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/bases/reread_input.h"
#include "headpond/dataset/bases/resumable_input.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/node.h"
#include "headpond/dataset/state.h"
#include "headpond/dataset/view.h"
