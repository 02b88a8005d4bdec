// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/policy/policies.h"

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <utility>

#include "headpond/codec/image/geometry/map_kernel_internal.h"
#include "headpond/codec/image/policy/policy_ops_internal.h"

namespace headpond {
namespace {

using policy_internal::PolicyImage;
using policy_internal::PolicyOp;
using policy_internal::Space;
using warp_internal::FieldOptions;
using warp_internal::fields_of;
using warp_internal::Title;

// An operation that was drawn.
struct DrawnOp {
  PolicyOp op;
  double magnitude;
};
using DrawOps = std::function<std::vector<DrawnOp>(Random& random, const PolicyImage& image)>;

DrawnOp with_sign(Random& random, PolicyOp op, double magnitude) {
  const bool is_negative = random.uniform() < 0.5F && policy_internal::is_signed(op);
  return {op, is_negative ? -magnitude : magnitude};
}

Spec policy_spec(const std::string& name, const Spec& in, const FieldOptions& options) {
  Spec spec = warp_internal::moved_spec(name, in, options, warp_internal::same_size);
  const int64_t channels = spec[0].shape[2];
  if (channels == 1 || channels == 3 || channels == kUnknown) return spec;
  warp_internal::refuse_option(name, fmt::format("takes images of 1 or 3 channels, not {}", channels));
}

class Policy final : public Kernel {
 public:
  Policy(const std::string& name, const std::string& title, const FieldOptions& options, DrawOps draw)
      : Kernel({.title = title,
                .draws = name,
                .result = [name, options](const Spec& in) { return policy_spec(name, in, options); }}),
        options_(options),
        draw_(std::move(draw)) {
    warp_internal::check_options(name, options);
  }

  Result<void> run(KernelCall& call) const override {
    const auto size = warp_internal::image_size(call.in());
    if (!size) return fail(size.error());
    const int64_t channels = call.in().dim(2);
    if (channels != 1 && channels != 3) {
      return fail(ErrorKind::InvalidArgument, fmt::format("takes images of 1 or 3 channels, not {}", channels));
    }
    const PolicyImage image = {size->height, size->width, call.in().dtype()};
    Random random = call.random();
    std::vector<KernelRef> kernels;
    for (const DrawnOp& drawn : draw_(random, image)) {
      if (KernelRef kernel = policy_internal::policy_kernel(drawn.op, drawn.magnitude, image, options_)) {
        kernels.push_back(std::move(kernel));
      }
    }
    return kernels.empty() ? Result<void>() : call.run_nested(kernels, 0, kernels.size());
  }

 private:
  const FieldOptions options_;
  const DrawOps draw_;
};

void require_number(const std::string& name, const char* option, int value, int low, int high) {
  if (value >= low && value <= high) return;
  warp_internal::refuse_option(name, fmt::format("{} is {}: {} to {} is expected", option, value, low, high));
}

}  // namespace

KernelRef rand_augment(const RandAugmentOptions& options) {
  const std::string name = "rand_augment";
  require_number(name, "num_ops", options.num_ops, 0, 16);
  require_number(name, "num_magnitude_bins", options.num_magnitude_bins, 2, 1000);
  require_number(name, "magnitude", options.magnitude, 0, options.num_magnitude_bins - 1);
  Title title(name);
  title.add("num_ops", options.num_ops, 2);
  title.add("magnitude", options.magnitude, 9);
  title.add("num_magnitude_bins", options.num_magnitude_bins, 31);
  title.add(fields_of(options));
  return std::make_shared<Policy>(
      name, title.text(), fields_of(options), [options](Random& random, const PolicyImage& image) {
        std::vector<DrawnOp> drawn;
        for (int i = 0; i < options.num_ops; ++i) {
          const auto op = static_cast<PolicyOp>(random.one_of(policy_internal::kRandomOps));
          drawn.push_back(with_sign(
              random, op,
              policy_internal::magnitude(op, Space::standard, options.magnitude, options.num_magnitude_bins, image)));
        }
        return drawn;
      });
}

KernelRef trivial_augment_wide(int num_magnitude_bins, const PolicyOptions& options) {
  const std::string name = "trivial_augment_wide";
  require_number(name, "num_magnitude_bins", num_magnitude_bins, 2, 1000);
  Title title(name);
  title.add("num_magnitude_bins", num_magnitude_bins, 31);
  title.add(fields_of(options));
  return std::make_shared<Policy>(
      name, title.text(), fields_of(options), [num_magnitude_bins](Random& random, const PolicyImage& image) {
        const auto op = static_cast<PolicyOp>(random.one_of(policy_internal::kRandomOps));
        const auto bin = static_cast<int>(random.one_of(num_magnitude_bins));
        const double magnitude = policy_internal::magnitude(op, Space::wide, bin, num_magnitude_bins, image);
        return std::vector<DrawnOp>{with_sign(random, op, magnitude)};
      });
}

KernelRef auto_augment(const std::string& policy, const PolicyOptions& options) {
  const std::string name = "auto_augment";
  const auto table = policy_internal::auto_augment_table(policy);
  if (table.empty()) warp_internal::refuse_option(name, "no policy '" + policy + "': imagenet, cifar10 or svhn");
  Title title(name);
  if (policy != "imagenet") title.add("policy", policy);
  title.add(fields_of(options));
  return std::make_shared<Policy>(
      name, title.text(), fields_of(options), [table](Random& random, const PolicyImage& image) {
        std::vector<DrawnOp> drawn;
        for (const auto& step : table[static_cast<size_t>(random.one_of(std::ssize(table)))]) {
          const bool is_done = static_cast<double>(random.uniform()) < step.p;
          const DrawnOp op =
              with_sign(random, step.op, policy_internal::magnitude(step.op, Space::standard, step.bin, 10, image));
          if (is_done) drawn.push_back(op);
        }
        return drawn;
      });
}

}  // namespace headpond
