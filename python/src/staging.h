// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "headpond/monitor/queue_monitor.h"
#include "python/src/python.h"

namespace headpond::python {

/// A StagingArea or a MapStagingArea, for a monitor. REQUIRES: it is one.
QueueSource source_of_area(nb::handle area);

}  // namespace headpond::python
