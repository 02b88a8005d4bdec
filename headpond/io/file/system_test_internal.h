// SPDX-License-Identifier: Apache-2.0
// For tests of rooms above: system calls that fail (internal::FaultInjection).
#pragma once

#include "headpond/io/file/system_internal.h"  // IWYU pragma: export
