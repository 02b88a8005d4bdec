// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/tensors.h"

#include <memory>
#include <string>

namespace headpond {

Result<torch::ScalarType> torch_dtype(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return torch::kU8;
    case DType::i8:
      return torch::kI8;
    case DType::i16:
      return torch::kI16;
    case DType::i32:
      return torch::kI32;
    case DType::i64:
      return torch::kI64;
    case DType::f16:
      return torch::kF16;
    case DType::bf16:
      return torch::kBFloat16;
    case DType::f32:
      return torch::kF32;
    case DType::f64:
      return torch::kF64;
    case DType::boolean:
      return torch::kBool;
    case DType::u16:
    case DType::u32:
    case DType::u64:
      break;
    case DType::bytes:
      return fail(
          ErrorKind::Unimplemented,
          "torch has no tensors of texts; before the batch, map() them to numbers or leave the field out of the "
          "element, or read them from TorchBatch::batch()");
  }
  return fail(ErrorKind::Unimplemented, "torch has no tensors of " + std::string(name(dtype)) +
                                            "; convert to a signed or floating type before the batch");
}

Result<torch::Tensor> as_torch(const Tensor& tensor) {
  const auto dtype = torch_dtype(tensor.dtype());
  if (!dtype) return fail(dtype.error());
  // The copy shares the buffer; it also keeps an inline payload at an address that does not change.
  auto held = std::make_shared<const Tensor>(tensor);
  const Shape shape = held->shape();
  const torch::IntArrayRef sizes(shape.dims().data(), shape.dims().size());
  void* data = const_cast<std::byte*>(held->data());
  return torch::from_blob(
      data, sizes, [held](void*) {}, torch::TensorOptions(*dtype));
}

Result<std::vector<torch::Tensor>> as_torch(const Element& element) {
  std::vector<torch::Tensor> fields;
  fields.reserve(element.size());
  for (size_t i = 0; i < element.size(); ++i) {
    auto field = as_torch(element[i]);
    if (!field) {
      const std::string label = element.names() ? (*element.names())[i] : std::to_string(i);
      return fail(field.error().kind(), "field " + label + ": " + field.error().message());
    }
    fields.push_back(std::move(*field));
  }
  return fields;
}

Result<torch::Tensor> as_torch(const DeviceTensor& tensor) {
  const auto dtype = torch_dtype(tensor.dtype);
  if (!dtype) return fail(dtype.error());
  const torch::Device device = tensor.device < 0
                                   ? torch::Device(torch::kCPU)
                                   : torch::Device(torch::kCUDA, static_cast<torch::DeviceIndex>(tensor.device));
  const torch::IntArrayRef sizes(tensor.shape.dims().data(), tensor.shape.dims().size());
  return at::for_blob(tensor.data, sizes)
      .deleter([owner = tensor.owner](void*) {})
      .options(torch::TensorOptions(*dtype).device(device))
      .target_device(device)
      .make_tensor();
}

}  // namespace headpond
