// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "headpond/tensor/kernel_error.h"

namespace headpond {
namespace {

// How many kernels of `chain` before number `place` draw by the same name.
uint32_t occurrence(std::span<const KernelRef> chain, size_t place) {
  const std::string& name = chain[place]->facts().draws;
  return static_cast<uint32_t>(std::ranges::count_if(
      chain.first(place), [&](const KernelRef& before) { return before->facts().draws == name; }));
}

}  // namespace

std::string_view name(FieldRole role) {
  switch (role) {
    case FieldRole::image:
      return "image";
    case FieldRole::mask:
      return "mask";
    case FieldRole::boxes:
      return "boxes";
    case FieldRole::labels:
      return "labels";
    case FieldRole::points:
      return "points";
  }
  return "";
}

FieldRole role_of(const FieldSpec& field) {
  for (const FieldRole role : {FieldRole::mask, FieldRole::boxes, FieldRole::labels, FieldRole::points}) {
    if (field.name == name(role)) return role;
  }
  return FieldRole::image;
}

bool KernelCall::has_target(size_t i, DType dtype, const Shape& shape) const {
  if (i >= targets_.size() || targets_[i].data == nullptr) return false;
  const FieldSpec& spec = *targets_[i].spec;
  return spec.dtype == dtype && spec.shape == shape;
}

std::byte* KernelCall::make(size_t i, DType dtype, const Shape& shape) {
  set(i, has_target(i, dtype, shape) ? Tensor::writable_view(targets_[i].data, dtype, shape)
                                     : Tensor::empty(dtype, shape));
  return results_[i].mutable_data();
}

void KernelCall::note(const KernelDefects& defects) {
  if (defects.count <= 0) return;
  scratch_.defects.count += defects.count;
  scratch_.defects.first = defects.first;
}

Result<void> KernelCall::run_nested(std::span<const KernelRef> kernels, size_t first, size_t count) {
  std::array<Tensor, kMaxFields> memory;
  const std::span<Tensor> fields(memory.data(), fields_.size());
  std::ranges::copy(fields_, fields.begin());
  for (size_t k = first; k < first + count; ++k) {
    const Kernel& kernel = *kernels[k];
    const std::string& name = kernel.facts().draws;
    RandomKey key;
    if (!name.empty()) key = random_key(random_keys_[0].value, name, occurrence(kernels, k), 0);
    const bool is_last = k + 1 == first + count;  // Only that one may write into the targets: no other reads them.
    KernelCall call(fields, {&key, 1}, element_, is_last ? targets_ : OutputSlots(), scratch_, roles_);
    if (auto done = kernel.run(call); !done) {
      return fail(done.error().with_message(with_title(kernel, done.error().message())));
    }
    call.finish();
  }
  for (size_t i = 0; i < fields.size(); ++i) set(i, std::move(fields[i]));
  return {};
}

void KernelCall::finish() {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (has_result_[i]) fields_[i] = std::move(results_[i]);
    has_result_[i] = false;
  }
}

std::string to_string(const Kernel& kernel) {
  const Kernel::Facts& facts = kernel.facts();
  std::string text = facts.title;
  if (!facts.draws.empty() && facts.draws != std::string_view(facts.title).substr(0, facts.title.find('('))) {
    text += fmt::format(" [name={}]", facts.draws);
  }
  if (facts.version != 0) text += fmt::format(" [version={}]", facts.version);
  if (facts.opaque) text += " [opaque]";
  return text;
}

KernelChain join_kernels(std::span<const KernelRef> chain) {
  KernelChain joined;
  for (size_t i = 0; i < chain.size(); ++i) {
    if (i > 0) {
      const KernelRef last = joined.kernels.back();
      KernelRef both = last->with(chain[i]);
      KernelChain::Joint joint = {.pair = chain[i - 1]->facts().title + " > " + chain[i]->facts().title};
      if (both == nullptr) joint.why_not = last->why_not(chain[i]);
      if (both == nullptr && joint.why_not.empty()) joint.why_not = "no kernel does both";
      if (both != nullptr) joint.joined = both->facts().title;
      joined.joints.push_back(std::move(joint));
      if (both != nullptr) {
        joined.kernels.back() = std::move(both);
        continue;
      }
    }
    joined.kernels.push_back(chain[i]);
    joined.first.push_back(i);
  }
  return joined;
}

Result<std::vector<Tensor>> run_kernels(std::span<const KernelRef> chain, std::vector<Tensor> fields,
                                        const KernelRun& options) {
  if (fields.size() > KernelCall::kMaxFields) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{} fields: a kernel takes at most {}", fields.size(), KernelCall::kMaxFields));
  }
  std::vector<RandomKey> keys;
  for (size_t i = 0; i < chain.size(); ++i) {
    keys.push_back(random_key(options.seed, chain[i]->facts().draws, occurrence(chain, i), options.epoch));
  }
  KernelChain run = {.kernels = {chain.begin(), chain.end()}, .first = {}, .joints = {}};
  for (size_t i = 0; i < chain.size(); ++i) run.first.push_back(i);
  if (options.joined) run = join_kernels(chain);
  KernelScratch scratch;
  for (size_t i = 0; i < run.kernels.size(); ++i) {
    KernelCall call(fields, std::span(keys).subspan(run.first[i]), options.key, {}, scratch, options.roles);
    if (auto done = run.kernels[i]->run(call); !done) return tl::unexpected(done.error());
    call.finish();
  }
  return fields;
}

Result<Tensor> run_kernels(std::span<const KernelRef> chain, const Tensor& field, const KernelRun& options) {
  auto fields = run_kernels(chain, std::vector<Tensor>{field}, options);
  if (!fields) return tl::unexpected(fields.error());
  return std::move((*fields)[0]);
}

}  // namespace headpond
