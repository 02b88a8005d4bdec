// SPDX-License-Identifier: Apache-2.0
// TensorFlow 1's input functions on the queues: readers, input producers, batchers. For programs that are moved from
// there; a dataset (ops.h) and a Loader need no queue, no runner, and none of their numbers.
#pragma once

#include "headpond/tf1/batchers.h"
#include "headpond/tf1/filenames.h"
#include "headpond/tf1/input_producers.h"
#include "headpond/tf1/readers.h"
#include "headpond/tf1/record_input.h"
#include "headpond/tf1/source.h"
