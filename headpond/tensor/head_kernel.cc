// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/head_kernel.h"

#include <string>
#include <string_view>
#include <utility>

namespace headpond {
namespace {

Spec number_of_file(Spec spec, const std::string& name) {
  if (spec[0].dtype != DType::bytes || spec[0].shape.rank() != 0) {
    throw Exception(
        Error(ErrorKind::InvalidArgument,
              name + ": takes bytes[], not " + std::string(headpond::name(spec[0].dtype)) + spec[0].shape.to_string()));
  }
  spec[0].dtype = DType::i64;
  return spec;
}

}  // namespace

HeadKernel::HeadKernel(const std::string& title, const std::string& name)
    : Kernel({.title = title, .result = [name](const Spec& in) { return number_of_file(in, name); }}) {}

Result<void> HeadKernel::run(KernelCall& call) const {
  const std::string_view file = call.in().bytes_at(0);
  const auto number = from_head(std::as_bytes(std::span(file)), file.size());
  if (!number) return fail(number.error());
  call.make<int64_t>(0, {})[0] = *number;
  return {};
}

}  // namespace headpond
