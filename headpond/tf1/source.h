// SPDX-License-Identifier: Apache-2.0
// What the input functions of TensorFlow 1 are made of here: functions that give one example a call.
#pragma once

#include <functional>
#include <stop_token>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond::tf1 {

/// Gives the next example; for `enqueue_many` several, as rows. OutOfRange is the end of the data. The token asks it to
/// stop waiting. Who calls it from several threads says so.
using Source = std::function<Result<Element>(std::stop_token)>;

}  // namespace headpond::tf1
