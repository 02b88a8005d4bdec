// SPDX-License-Identifier: Apache-2.0
// What both forms of map say about their function and its result.
#pragma once

#include <string>

#include "headpond/dataset/ops/element.h"

namespace headpond::internal {

/// "opaque", or the function's name and version.
std::string map_label(const MapOptions& options);
/// The result's fields: the options give names to what the function's type tells, or tell it themselves. Throws
/// Exception(InvalidArgument) if they contradict each other, or neither tells.
Spec map_result_spec(const std::string& op, const Function& function, const MapOptions& options);

}  // namespace headpond::internal
