// SPDX-License-Identifier: Apache-2.0
#include <headpond/headpond.h>
#include <headpond/testing.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <vector>

namespace hp = headpond;

// Puts the three colours of an image in another order, one of six. Masks, boxes and points stay where they are.
class ChannelPermutation final : public hp::Kernel {
 public:
  ChannelPermutation()
      : Kernel(
            {.title = "random_channel_permutation", .draws = "random_channel_permutation", .result = &fields_after}) {}

  hp::Result<void> run(hp::KernelCall& call) const override {
    const hp::Tensor& image = call.in();
    if (image.dtype() != hp::u8 || image.rank() != 3 || image.dim(2) != 3) {
      return hp::fail(hp::ErrorKind::InvalidArgument, "uint8 [height,width,3] was expected");
    }
    std::array<size_t, 3> from = {0, 1, 2};
    hp::Random random = call.random();
    std::swap(from[0], from[random.below(3)]);
    std::swap(from[1], from[1 + random.below(2)]);
    const std::span<const uint8_t> pixels = image.as<uint8_t>();
    const std::span<uint8_t> made = call.make<uint8_t>(0, image.shape());  // The row of the batch, if it is the last.
    for (size_t i = 0; i < pixels.size(); i += 3) {
      for (size_t c = 0; c < 3; ++c) made[i + c] = pixels[i + from[c]];
    }
    return {};
  }

 private:
  static hp::Spec fields_after(const hp::Spec& fields) {
    const hp::FieldSpec& image = fields[0];
    const bool is_image = image.dtype == hp::u8 && image.shape.rank() == 3;
    if (is_image && (image.shape[2] == 3 || image.shape[2] == hp::kUnknown)) return fields;
    throw hp::Exception(hp::Error(hp::ErrorKind::InvalidArgument, "takes uint8 [height,width,3]"));
  }
};

hp::KernelRef random_channel_permutation() { return std::make_shared<ChannelPermutation>(); }

hp::Tensor picture(int64_t number) {
  const auto value = static_cast<uint8_t>(10 * number);
  return hp::Tensor::from(std::vector<uint8_t>{value, 1, 2, value, 1, 2}, {1, 2, 3});
}

int main() {
  const std::string violation =
      hp::kernel_violation(random_channel_permutation(), {{picture(1)}, {picture(2)}, {picture(3)}},
                           {.before = {hp::random_horizontal_flip()}, .after = {hp::normalize()}});
  if (!violation.empty()) {
    std::cout << violation << "\n";
    return 1;
  }

  hp::Loader loader(hp::range(6) | hp::map(&picture, {.output = {{"image", hp::u8, {1, 2, 3}}}, .name = "picture"}) |
                        hp::map("image", random_channel_permutation()) | hp::batch(3),
                    {.seed = 7, .threads = 4});
  while (auto batch = loader.next()) std::cout << (*batch)["image"] << "\n";
}
