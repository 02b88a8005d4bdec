// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/list_of_names.h"

#include <string>

namespace headpond::internal {
namespace {

struct Careful {
  static void open(const std::string& path);
  static void open(ListOfNames) = delete;
};
// The control: what the compiler makes of a list where nobody deletes it.
struct Careless {
  static void open(const std::string& path);
};

// Templates, so that a call that does not compile is false. Text: const char*.
template <class File, class Text>
constexpr bool kOpensTwo = requires(Text a) {
  File::open({a, a});
};
template <class File, class Text>
constexpr bool kOpensOne = requires(Text a) { File::open(a); };

static_assert(kOpensOne<Careful, const char*> && kOpensOne<Careful, std::string>);
static_assert(!kOpensTwo<Careful, const char*>);
static_assert(kOpensTwo<Careless, const char*>);

}  // namespace
}  // namespace headpond::internal
