// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "headpond/dataset/ops/element.h"

namespace headpond {
namespace {

class FunctionKernel final : public Kernel {
 public:
  FunctionKernel(std::function<Result<Tensor>(const Tensor&)> function, const MapOptions& options)
      : Kernel({.title = options.name.empty() ? "function" : options.name,
                .version = options.version,
                .result = [field = options.output[0]](const Spec& in) { return with_first(in, field); },
                .opaque = options.name.empty()}),
        function_(std::move(function)) {}

  Result<void> run(KernelCall& call) const override {
    auto made = function_(call.in());
    if (!made) return fail(made.error());
    call.set(0, std::move(*made));
    return {};
  }

 private:
  static Spec with_first(Spec spec, const FieldSpec& field) {
    spec[0].dtype = field.dtype;
    spec[0].shape = field.shape;
    return spec;
  }

  const std::function<Result<Tensor>(const Tensor&)> function_;
};

}  // namespace

KernelRef function_kernel(std::function<Result<Tensor>(const Tensor&)> function, const MapOptions& options) {
  if (options.output.size() != 1) refuse("function_kernel", "set MapOptions::output to one field: its dtype and shape");
  return std::make_shared<FunctionKernel>(std::move(function), options);
}

}  // namespace headpond
