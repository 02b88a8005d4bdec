// SPDX-License-Identifier: Apache-2.0
// How the language of a host program says in the log where one of its threads is. (Native frames are nothing that
// another thread can read without harm: a signal would end the calls that the thread waits in.)
// Not for users.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace headpond {

/// Logs where a thread of this process is, by its pthread_self(), if one of the language's functions runs there. `name`
/// is what people call it. It may wait for the language's lock.
using HostStack = std::function<void(uint64_t thread, const std::string& name)>;

/// Replaces it; an empty one: there is no such language. Thread-safe.
void set_host_stack(HostStack stack);
/// Calls it, if there is one; what it throws is dropped. REQUIRES: no lock that such functions may need.
void log_host_stack(uint64_t thread, const std::string& name);

}  // namespace headpond
