// SPDX-License-Identifier: Apache-2.0
// The functions from which TensorFlow 1's input functions are built here: each call returns one example.
#pragma once

#include <functional>
#include <stop_token>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond::tf1 {

/// Returns the next example; for `enqueue_many` several, as rows. OutOfRange is the end of the data. The token asks it
/// to stop waiting. Functions that call a source from several threads say so.
using Source = std::function<Result<Element>(std::stop_token)>;

}  // namespace headpond::tf1
