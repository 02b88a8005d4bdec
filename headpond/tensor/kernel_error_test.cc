// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/kernel_error.h"

#include <gtest/gtest.h>

namespace headpond {
namespace {

class TitledKernel final : public Kernel {
 public:
  explicit TitledKernel(std::string title) : Kernel({.title = std::move(title)}) {}
  Result<void> run(KernelCall&) const override { return {}; }
};

TEST(KernelError, HasTheTitleAndTheNameOnce) {
  EXPECT_EQ(with_title(TitledKernel("rotate(angle=1)"), "takes uint8"), "rotate(angle=1): takes uint8");
  EXPECT_EQ(with_title(TitledKernel("rotate(angle=1)"), "rotate: takes uint8"), "rotate(angle=1): takes uint8");
  EXPECT_EQ(with_title(TitledKernel("mono"), "mono: takes float32"), "mono: takes float32");
  EXPECT_EQ(with_title(TitledKernel("mono"), "monolith: no"), "mono: monolith: no");
  EXPECT_EQ(with_title(TitledKernel("random_apply(rotate(angle=1), p=1)"), "rotate: takes uint8"),
            "random_apply(rotate(angle=1), p=1): rotate: takes uint8");
  EXPECT_EQ(with_title(TitledKernel("mono"), ""), "mono: ");
}

}  // namespace
}  // namespace headpond
