// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/testing/kernel_contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "headpond/dataset/ops.h"
#include "headpond/engine/testing/contract.h"

namespace headpond {
namespace {

using Fields = std::vector<Tensor>;

constexpr uint64_t kKeys = 64;
constexpr std::array<unsigned char, 2> kFills = {0x00, 0xa5};

// Dtype, shape and values.
std::string text_of(const Tensor& tensor) {
  std::string text = std::string(name(tensor.dtype())) + tensor.shape().to_string() + " ";
  if (tensor.dtype() != DType::bytes) {
    text.append(reinterpret_cast<const char*>(tensor.data()), tensor.byte_size());
    return text;
  }
  for (int64_t i = 0; i < tensor.size(); ++i) {
    text += std::to_string(tensor.bytes_at(i).size()) + ":";
    text += tensor.bytes_at(i);
  }
  return text;
}

std::string text_of(const Fields& fields) {
  std::string text;
  for (const Tensor& field : fields) text += text_of(field);
  return text;
}

std::string text_of(const Result<Fields>& result) {
  return result ? "values " + text_of(*result) : "error " + result.error().to_string();
}

// For messages.
std::string shown(const Result<Fields>& result) {
  if (!result) return result.error().to_string();
  std::string text;
  for (const Tensor& field : *result) text += std::string(name(field.dtype())) + field.shape().to_string() + " ";
  return text + "(bytes differ)";
}

Tensor copy_of(const Tensor& tensor) {
  if (tensor.dtype() == DType::bytes) {
    std::vector<std::string_view> all;
    for (int64_t i = 0; i < tensor.size(); ++i) all.push_back(tensor.bytes_at(i));
    return Tensor::from(std::span<const std::string_view>(all), tensor.shape());
  }
  Tensor copy = Tensor::empty(tensor.dtype(), tensor.shape());
  if (tensor.byte_size() > 0) std::memcpy(copy.mutable_data(), tensor.data(), tensor.byte_size());
  return copy;
}

Fields copy_of(const Fields& fields) {
  Fields copies;
  for (const Tensor& field : fields) copies.push_back(copy_of(field));
  return copies;
}

Result<void> run_caught(const Kernel& kernel, KernelCall& call) {
  try {
    return kernel.run(call);
  } catch (...) {
    return fail(current_exception_error());
  }
}

class KernelCheck {
 public:
  KernelCheck(KernelRef kernel, const KernelContractOptions& options)
      : kernel_(std::move(kernel)), options_(options), roles_(options.roles) {}

  std::string violation(const std::vector<Fields>& samples) {
    for (size_t i = 0; i < samples.size(); ++i) {
      if (samples[i].size() != std::max<size_t>(roles_.size(), 1) || samples[i].size() > KernelCall::kMaxFields) {
        return fmt::format("sample {}: {} fields for {} roles", i, samples[i].size(), roles_.size());
      }
      auto arguments = run_kernels(options_.before, samples[i], run_of(i, false));
      if (arguments) arguments_.push_back(*std::move(arguments));
    }
    for (size_t i = 0; i < arguments_.size(); ++i) {
      for (const auto check :
           {&KernelCheck::repeat_violation, &KernelCheck::result_violation, &KernelCheck::memory_violation}) {
        if (std::string found = (this->*check)(arguments_[i], i); !found.empty())
          return fmt::format("sample {}: {}", i, found);
      }
    }
    for (size_t i = 0; i < samples.size(); ++i) {
      if (std::string found = joined_violation(samples[i], i); !found.empty()) {
        return fmt::format("sample {}: {}", i, found);
      }
    }
    if (std::string found = draws_violation(); !found.empty()) return found;
    return samples.empty() ? "" : map_violation(samples);
  }

 private:
  KernelRun run_of(uint64_t key, bool is_joined) const {
    return {.seed = options_.seed, .key = key, .joined = is_joined, .roles = roles_};
  }

  Result<Fields> run(Fields fields, uint64_t key, KernelScratch& scratch, OutputSlots targets = {},
                     uint64_t epoch = 0) const {
    const RandomKey random_key = headpond::random_key(options_.seed, kernel_->facts().draws, 0, epoch);
    KernelCall call(fields, {&random_key, 1}, key, targets, scratch, roles_);
    const auto done = run_caught(*kernel_, call);
    if (!done) return fail(done.error());
    call.finish();
    return fields;
  }

  std::string joined_violation(const Fields& sample, uint64_t key) const {
    std::vector<KernelRef> chain = options_.before;
    chain.push_back(kernel_);
    chain.insert(chain.end(), options_.after.begin(), options_.after.end());
    const auto joined = run_kernels(chain, sample, run_of(key, true));
    const auto alone = run_kernels(chain, sample, run_of(key, false));
    // The text of a joined kernel's error may be another: map finds the kernel that failed.
    if (joined.has_value() == alone.has_value() && (!joined || text_of(joined) == text_of(alone))) return "";
    return fmt::format("joined with its neighbours: {}instead of {}", shown(joined), shown(alone));
  }

  std::string repeat_violation(const Fields& arguments, uint64_t key) {
    KernelScratch fresh;
    const std::string before = text_of(arguments);
    const auto first = run(arguments, key, fresh);
    const std::string text = text_of(first);
    if (text_of(arguments) != before) return "it changes its arguments";
    static_cast<void>(run(arguments, key + 1, scratch_));
    const auto again = run(arguments, key, scratch_);  // With what that left there.
    if (text_of(again) != text)
      return fmt::format("a second call, with another scratch: {}instead of {}", shown(again), shown(first));
    const auto copied = run(copy_of(arguments), key, scratch_);
    if (text_of(copied) != text)
      return fmt::format("of a copy of the arguments: {}instead of {}", shown(copied), shown(first));
    return "";
  }

  // The fields that Facts::result says, or nothing if it refuses.
  std::optional<Spec> declared(const Fields& arguments, bool has_sizes) const {
    Spec spec;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Shape& shape = arguments[i].shape();
      const std::vector<int64_t> unknown(static_cast<size_t>(shape.rank()), kUnknown);
      const FieldRole role = i < roles_.size() ? roles_[i] : FieldRole::image;
      spec.push_back({std::string(name(role)), arguments[i].dtype(), has_sizes ? shape : Shape(unknown)});
    }
    if (!kernel_->facts().result) return spec;
    try {
      return kernel_->facts().result(spec);
    } catch (const Exception&) {
      return std::nullopt;
    }
  }

  std::string result_violation(const Fields& arguments, uint64_t key) {
    const auto made = run(arguments, key, scratch_);
    for (const bool has_sizes : {true, false}) {
      const auto spec = declared(arguments, has_sizes);
      const char* const of = has_sizes ? "fields of these shapes" : "fields of unknown shapes";
      if (!spec && has_sizes && made) return fmt::format("result refuses {}, and run takes them", of);
      if (!spec || !made) continue;
      if (spec->size() != made->size()) return fmt::format("result says {} fields for {}", spec->size(), made->size());
      for (size_t i = 0; i < made->size(); ++i) {
        const Tensor& field = (*made)[i];
        if (field.dtype() == (*spec)[i].dtype && (*spec)[i].shape.admits(field.shape())) continue;
        return fmt::format("of {}, result says {}, and run gives {}{}", of, to_string({(*spec)[i]}),
                           name(field.dtype()), field.shape().to_string());
      }
    }
    return "";
  }

  // Into memory of the caller, whatever stood there before.
  std::string memory_violation(const Fields& arguments, uint64_t key) {
    const auto made = run(arguments, key, scratch_);
    for (const unsigned char fill : kFills) {
      if (!made) return "";
      std::vector<std::vector<std::byte>> memory(made->size());
      std::vector<FieldSpec> specs;
      for (const Tensor& field : *made) specs.push_back({"", field.dtype(), field.shape()});
      std::vector<OutputSlot> slots(made->size());
      for (size_t i = 0; i < made->size(); ++i) {
        if (specs[i].dtype == DType::bytes) continue;
        memory[i].resize(std::max<size_t>((*made)[i].byte_size(), 1), std::byte{fill});
        slots[i] = {memory[i].data(), &specs[i]};
      }
      const auto placed = run(arguments, key, scratch_, slots);
      if (text_of(placed) != text_of(made))
        return "into memory of the caller it gives other bytes, or does not write all";
    }
    return "";
  }

  std::string draws_violation() {
    const std::string& draws = kernel_->facts().draws;
    bool has_value = false;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const auto first = run(arguments_[i], 0, scratch_);
      has_value = has_value || first.has_value();
      for (uint64_t key = 1; key < kKeys; ++key) {
        const auto other = run(arguments_[i], key, scratch_, {}, key % 3);
        if (text_of(other) == text_of(first)) continue;
        return draws.empty() ? fmt::format("sample {}: it draws nothing, and gives another result for another key", i)
                             : "";
      }
    }
    if (draws.empty() || !has_value) return "";
    return fmt::format("it draws '{}', and gives the same result for {} keys", draws, kKeys);
  }

  std::string map_violation(const std::vector<Fields>& samples) const {
    const auto all = std::make_shared<const std::vector<Fields>>(samples);
    const auto pick = [all](int64_t i) { return Element((*all)[static_cast<size_t>(i)]); };
    MapFields fields;
    Spec spec;
    for (size_t i = 0; i < samples[0].size(); ++i) {
      const FieldRole role = i < roles_.size() ? roles_[i] : FieldRole::image;
      const std::string field(name(role));
      const std::vector<int64_t> unknown(static_cast<size_t>(samples[0][i].rank()), kUnknown);
      spec.push_back({field, samples[0][i].dtype(), Shape(unknown)});
      if (role == FieldRole::image) fields.image = field;
      if (role == FieldRole::mask) fields.mask = field;
      if (role == FieldRole::boxes) fields.boxes = field;
      if (role == FieldRole::labels) fields.labels = field;
      if (role == FieldRole::points) fields.points = field;
    }
    std::vector<KernelRef> chain = options_.before;
    chain.push_back(kernel_);
    chain.insert(chain.end(), options_.after.begin(), options_.after.end());
    const Dataset input = range(static_cast<int64_t>(samples.size())) | map(pick, {.output = spec, .name = "samples"});
    const std::string found = contract_violation(internal::map_kernels_step(fields, chain), input,
                                                 {.seed = options_.seed, .threads = options_.threads});
    return found.empty() ? "" : "in a map, " + found;
  }

  const KernelRef kernel_;
  const KernelContractOptions& options_;
  const std::vector<FieldRole> roles_;
  std::vector<Fields> arguments_;  // Arguments of the kernel itself.
  KernelScratch scratch_;
};

}  // namespace

std::string kernel_violation(const KernelRef& kernel, const std::vector<std::vector<Tensor>>& samples,
                             const KernelContractOptions& options) {
  if (kernel == nullptr) return "the kernel is null";
  try {
    return KernelCheck(kernel, options).violation(samples);
  } catch (...) {
    return "cannot be run: " + current_exception_error().to_string();
  }
}

}  // namespace headpond
