// SPDX-License-Identifier: Apache-2.0
// A program that ignores errors, which -Werror=unused-result refuses to compile. With HEADPOND_LOOKS it looks at them.
#include "headpond/queue/queue.h"

#ifdef HEADPOND_LOOKS
#define HEADPOND_RESULT_OF (void)
#else
#define HEADPOND_RESULT_OF
#endif

void run(const headpond::FIFOQueue& queue) {
  HEADPOND_RESULT_OF queue.enqueue(headpond::Element());
  const auto own = [] { return headpond::Result<void>(); };
  HEADPOND_RESULT_OF own();
}
