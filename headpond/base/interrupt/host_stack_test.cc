// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/interrupt/host_stack.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace headpond {
namespace {

TEST(HostStack, IsLoggedByTheHost) {
  std::vector<std::string> said;
  log_host_stack(17, "nobody listens");
  set_host_stack([&](uint64_t thread, const std::string& name) { said.push_back(name + std::to_string(thread)); });
  log_host_stack(17, "thread ");
  set_host_stack([&](uint64_t, const std::string&) {
    said.emplace_back("it throws");
    throw std::runtime_error("it is gone");
  });
  log_host_stack(18, "thread ");
  set_host_stack({});
  log_host_stack(19, "thread ");
  EXPECT_EQ(said, (std::vector<std::string>{"thread 17", "it throws"}));
}

}  // namespace
}  // namespace headpond
