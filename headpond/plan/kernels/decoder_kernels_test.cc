// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "headpond/codec/image/png.h"
#include "headpond/plan/plan_test_internal.h"
#include "tests/test_files.h"

namespace headpond::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DecoderPlanKernels, DecodeTheFilesOfAFolder) {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder.file("cat"));
  const auto png = encode_png(Tensor::from(std::vector<uint8_t>{7, 7, 7}, {1, 1, 3}));
  ASSERT_TRUE(png);
  test::put_file(folder.file("cat/a.png"), *png);
  test::put_file(folder.file("cat/a.txt"), {});
  const std::string text = step("folder", "path = '" + folder.path() + "', extensions = ['.png']") +
                           step("map", "field = 'file', kernels = [{ name = 'decode_png', channels = 1 }]");
  EXPECT_THAT(parse_plan(text, "f.toml").dataset.plan(), HasSubstr("map(file: decode_png(channels=1))"));
  EXPECT_THAT(delivered(text), ElementsAre(HasSubstr(R"("file":[[[7]]],"label":0)")));
}

}  // namespace
}  // namespace headpond::plan
