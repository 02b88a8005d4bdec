// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/policy/policies.h"

#include <gmock/gmock.h>

#include <set>

#include "headpond/codec/image/geometry/geometry_test_internal.h"

namespace headpond {
namespace {

using test::noise_picture;
using test::same_bytes;

std::vector<KernelRef> all_policies() {
  return {rand_augment(), trivial_augment_wide(), auto_augment(), auto_augment("cifar10"), auto_augment("svhn")};
}

Tensor policy_image(const KernelRef& kernel, const Tensor& image, const KernelRun& run) {
  const std::vector<KernelRef> chain = {kernel};
  auto made = run_kernels(chain, image, run);
  EXPECT_TRUE(made) << made.error();
  return made ? *made : Tensor();
}

TEST(Policies, DependOnSeedEpochAndSampleAlone) {
  const Tensor image = noise_picture(20, 24, 3);
  for (const KernelRef& policy : all_policies()) {
    // The controls: a key without the epoch, or without the sample, would give one image.
    std::set<std::string> of_epochs, of_samples;
    const auto bytes_of = [&](const KernelRun& run) {
      const Tensor made = policy_image(policy, image, run);
      EXPECT_TRUE(same_bytes(policy_image(policy, image, run), made));
      EXPECT_EQ(made.shape(), image.shape());
      return std::string(reinterpret_cast<const char*>(made.data()), made.byte_size());
    };
    for (uint64_t i = 0; i < 20; ++i) {
      of_epochs.insert(bytes_of({.epoch = i}));
      of_samples.insert(bytes_of({.key = i}));
    }
    EXPECT_GT(of_epochs.size(), 4U) << policy->facts().title;
    EXPECT_GT(of_samples.size(), 4U) << policy->facts().title;
  }
}

TEST(Policies, TakeEverySizeAndDType) {
  for (const KernelRef& policy : all_policies()) {
    for (const auto& [height, width] : {std::pair(1, 1), std::pair(1, 5), std::pair(9, 2)}) {
      for (const int64_t channels : {1, 3}) {
        const Tensor image = noise_picture(height, width, channels);
        for (uint64_t key = 0; key < 20; ++key) {
          EXPECT_EQ(policy_image(policy, image, {.key = key}).shape(), image.shape());
          EXPECT_EQ(policy_image(policy, test::as_float_picture(image), {.key = key}).dtype(), DType::f32);
        }
      }
    }
  }
}

// About two in five operations move pixels.
TEST(Policies, MoveMasksAndPointsWithThePixelsAlone) {
  Tensor image = Tensor::empty(DType::u8, {40, 40, 3}), mask = Tensor::empty(DType::u8, {40, 40});
  for (uint8_t& value : image.mutable_as<uint8_t>()) value = 0;
  for (uint8_t& value : mask.mutable_as<uint8_t>()) value = 0;
  for (size_t y = 18; y < 23; ++y) {
    for (size_t x = 18; x < 23; ++x) mask.mutable_as<uint8_t>()[y * 40 + x] = 1;
  }
  const Tensor points = Tensor::from(std::vector<float>{20.5F, 20.5F}, {1, 2});
  const std::vector<KernelRef> chain = {trivial_augment_wide()};
  int moved = 0;
  for (uint64_t key = 0; key < 60; ++key) {
    const auto made = run_kernels(chain, {image, mask, points},
                                  {.key = key, .roles = {FieldRole::image, FieldRole::mask, FieldRole::points}});
    ASSERT_TRUE(made);
    const auto at = (*made)[2].as<float>();
    moved += same_bytes((*made)[2], points) ? 0 : 1;
    if (at[0] < 0 || at[0] >= 40 || at[1] < 0 || at[1] >= 40) continue;
    const size_t pixel = static_cast<size_t>(at[1]) * 40 + static_cast<size_t>(at[0]);
    EXPECT_EQ((*made)[1].as<uint8_t>()[pixel], 1) << key;
  }
  EXPECT_GT(moved, 5);
  EXPECT_LT(moved, 50);
}

TEST(Policies, OfNoOperationsChangeNothing) {
  const Tensor image = noise_picture(5, 5, 3);
  EXPECT_TRUE(same_bytes(policy_image(rand_augment({.num_ops = 0}), image, {}), image));
}

TEST(Policies, SayTheirOptions) {
  EXPECT_EQ(rand_augment()->facts().title, "rand_augment");
  EXPECT_EQ(rand_augment({.num_ops = 3, .magnitude = 5, .fill = {128}})->facts().title,
            "rand_augment(num_ops=3, magnitude=5, fill=128)");
  EXPECT_EQ(trivial_augment_wide(10)->facts().title, "trivial_augment_wide(num_magnitude_bins=10)");
  EXPECT_EQ(auto_augment()->facts().title, "auto_augment");
  EXPECT_EQ(auto_augment("svhn")->facts().title, "auto_augment(policy=svhn)");
  EXPECT_EQ(auto_augment("svhn")->facts().draws, "auto_augment");
}

TEST(Policies, RefuseOptionsAndFields) {
  EXPECT_THROW(rand_augment({.num_ops = -1}), Exception);
  EXPECT_THROW(rand_augment({.magnitude = 31}), Exception);
  EXPECT_THROW(rand_augment({.num_magnitude_bins = 1}), Exception);
  EXPECT_THROW(trivial_augment_wide(1), Exception);
  EXPECT_THROW(auto_augment("mnist"), Exception);
  EXPECT_THROW(auto_augment("svhn", {.fill = {}}), Exception);
  EXPECT_THROW(auto_augment()->facts().result({{"image", DType::u8, {4, 4, 2}}}), Exception);
  EXPECT_THROW(auto_augment()->facts().result({{"image", DType::u16, {4, 4, 3}}}), Exception);
}

}  // namespace
}  // namespace headpond
