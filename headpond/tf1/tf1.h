// SPDX-License-Identifier: Apache-2.0
// TensorFlow 1's input functions, on queues: readers, input producers, batchers. For programs that come from
// TensorFlow 1. A new program uses a dataset (ops.h) and a Loader, which need no queues, threads and capacities to set.
#pragma once

#include "headpond/tf1/batchers.h"
#include "headpond/tf1/filenames.h"
#include "headpond/tf1/input_producers.h"
#include "headpond/tf1/readers.h"
#include "headpond/tf1/record_input.h"
#include "headpond/tf1/source.h"
