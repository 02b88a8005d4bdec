// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/random_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace headpond {
namespace {

[[noreturn]] void refuse_nested(std::string_view op, const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}", op, what)));
}

Spec result_of(const Kernel& kernel, const Spec& in) { return kernel.facts().result ? kernel.facts().result(in) : in; }

// What is known of fields that are as in `a` or as in `b`.
Spec either(std::string_view op, Spec a, const Spec& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i].dtype != b[i].dtype || a[i].shape.rank() != b[i].shape.rank()) {
      refuse_nested(op, fmt::format("the {} becomes {}{} or {}{}", a[i].name, name(a[i].dtype), a[i].shape.to_string(),
                                    name(b[i].dtype), b[i].shape.to_string()));
    }
    std::vector<int64_t> dims(a[i].shape.dims().begin(), a[i].shape.dims().end());
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis] != b[i].shape[static_cast<int>(axis)]) dims[axis] = kUnknown;
    }
    a[i].shape = Shape(dims);
  }
  return a;
}

// random_choice or random_apply.
Kernel::Facts facts_of(const char* op, const std::vector<KernelRef>& kernels, const std::string& options,
                       std::function<Spec(const Spec&)> result) {
  if (kernels.empty()) refuse_nested(op, "needs a kernel");
  std::vector<std::string> texts;
  bool opaque = false;
  for (const KernelRef& kernel : kernels) {
    if (kernel == nullptr) refuse_nested(op, "a kernel is null");
    texts.push_back(to_string(*kernel));
    opaque = opaque || kernel->facts().opaque;
  }
  return {.title = fmt::format("{}({}{})", op, fmt::join(texts, ", "), options),
          .draws = op,
          .result = std::move(result),
          .opaque = opaque};
}

class RandomChoice final : public Kernel {
 public:
  RandomChoice(const std::vector<KernelRef>& kernels, const std::vector<double>& p)
      : Kernel(facts_of("random_choice", kernels, p.empty() ? "" : fmt::format(", p=[{}]", fmt::join(p, ",")),
                        [kernels](const Spec& in) { return result(kernels, in); })),
        kernels_(kernels),
        bounds_(p.empty() ? std::vector<double>(kernels.size(), 1.0) : p) {
    if (bounds_.size() != kernels_.size()) refuse_nested("random_choice", "p must have a number for each kernel");
    for (const double weight : bounds_) {
      if (!(weight >= 0 && weight <= 1e30)) refuse_nested("random_choice", "p must not have numbers below 0 or NaN");
    }
    std::partial_sum(bounds_.begin(), bounds_.end(), bounds_.begin());
    if (!(bounds_.back() > 0)) refuse_nested("random_choice", "p must have a number above 0");
  }

  // A kernel without weight has the bound of the one before it, and is never drawn.
  Result<void> run(KernelCall& call) const override {
    Random random = call.random();
    const double drawn = static_cast<double>(random.u32()) * 0x1p-32 * bounds_.back();
    const auto bound = std::upper_bound(bounds_.begin(), bounds_.end(), drawn);
    return call.run_nested(kernels_, static_cast<size_t>(bound - bounds_.begin()), 1);
  }

 private:
  static Spec result(const std::vector<KernelRef>& kernels, const Spec& in) {
    Spec all = result_of(*kernels[0], in);
    for (const KernelRef& kernel : kernels) all = either("random_choice", std::move(all), result_of(*kernel, in));
    return all;
  }

  const std::vector<KernelRef> kernels_;
  std::vector<double> bounds_;  // Cumulated weights.
};

class RandomApply final : public Kernel {
 public:
  RandomApply(const std::vector<KernelRef>& kernels, double p)
      : Kernel(facts_of("random_apply", kernels, p == 0.5 ? "" : fmt::format(", p={}", p),
                        [kernels](const Spec& in) { return result(kernels, in); })),
        kernels_(kernels),
        p_(p) {
    if (!(p >= 0 && p <= 1)) refuse_nested("random_apply", fmt::format("p must be 0 to 1, not {}", p));
  }

  Result<void> run(KernelCall& call) const override {
    Random random = call.random();
    if (!(static_cast<double>(random.uniform()) < p_)) return {};
    return call.run_nested(kernels_, 0, kernels_.size());
  }

 private:
  static Spec result(const std::vector<KernelRef>& kernels, const Spec& in) {
    Spec all = in;
    for (const KernelRef& kernel : kernels) all = result_of(*kernel, all);
    return either("random_apply", std::move(all), in);
  }

  const std::vector<KernelRef> kernels_;
  const double p_;
};

}  // namespace

KernelRef random_choice(const std::vector<KernelRef>& kernels, const std::vector<double>& p) {
  return std::make_shared<RandomChoice>(kernels, p);
}

KernelRef random_apply(const std::vector<KernelRef>& kernels, double p) {
  return std::make_shared<RandomApply>(kernels, p);
}

}  // namespace headpond
