// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "cli/plan/plan_test_internal.h"
#include "headpond/codec/image/png.h"

namespace headpond::cli {
namespace {

using testing::HasSubstr;

TEST(DecoderPlanKernels, DecodeTheFilesOfAFolder) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "plan_kernels";
  std::filesystem::create_directories(folder / "cat");
  const auto png = encode_png(Tensor::from(std::vector<uint8_t>{1, 2, 3}, {1, 1, 3}));
  ASSERT_TRUE(png);
  std::ofstream file(folder / "cat" / "a.png", std::ios::binary);
  file.write(reinterpret_cast<const char*>(png->data()), static_cast<std::streamsize>(png->size()));
  file.close();
  const std::string text = step("folder", "path = '" + folder.string() + "', extensions = ['.png']") +
                           step("map", "field = 'FIELD', kernels = [{ name = 'decode_png', channels = 1 }]");
  const Spec before = parse_plan(text.substr(0, text.find("[[step]]", 1)), "f.toml").dataset.spec();
  std::string field;
  for (const FieldSpec& one : before) {
    if (one.dtype == DType::bytes && field.empty()) field = one.name;
  }
  std::string whole = text;
  whole.replace(whole.find("FIELD"), 5, field);
  const PlanFile plan = parse_plan(whole, "f.toml");
  EXPECT_THAT(plan.dataset.plan(), HasSubstr("map(" + field + ": decode_png(channels=1))"));
}

}  // namespace
}  // namespace headpond::cli
