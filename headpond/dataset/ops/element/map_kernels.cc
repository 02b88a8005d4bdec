// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/element.h"
#include "headpond/dataset/ops/element/kernel_joints.h"
#include "headpond/dataset/ops/element/kernel_pairs_internal.h"
#include "headpond/dataset/ops/element/makes_together.h"
#include "headpond/dataset/ops/element/values_internal.h"
#include "headpond/dataset/views/lending.h"
#include "headpond/tensor/kernel_error.h"
#include "headpond/tensor/rows_kernel.h"

namespace headpond::internal {
namespace {

constexpr const char* kOp = "map";

// A field that kernels see, in the order of MapFields.
struct RoleField {
  FieldRole role;
  size_t index;  // Index of the field in the element.
};

struct Plan {
  std::vector<RoleField> fields;
  std::vector<FieldRole> roles;          // Roles of the fields.
  std::vector<KernelRef> chain;          // The kernels in the user's order.
  std::optional<size_t> companion = {};  // The field for the first kernel.
  std::string name = {};
  bool join = true;
};

std::string field_text(const Spec& spec, const RoleField& field) {
  const std::string name = spec[field.index].name.empty() ? std::to_string(field.index) : spec[field.index].name;
  const std::string_view role = headpond::name(field.role);
  return name == role ? name : fmt::format("{}={}", role, name);
}

std::optional<size_t> companion_of(const Spec& spec, const Plan& plan) {
  const std::string& image = spec[plan.fields[0].index].name;
  if (plan.chain.empty() || plan.chain[0]->facts().companion.empty() || image.empty()) return std::nullopt;
  const std::string name = image + "/" + plan.chain[0]->facts().companion;
  const auto found = std::ranges::find(spec, name, &FieldSpec::name);
  if (found == spec.end() || found->dtype != DType::bytes || found->shape.rank() != 0) return std::nullopt;
  return static_cast<size_t>(found - spec.begin());
}

std::string args_of(const Spec& spec, const Plan& plan) {
  std::vector<std::string> fields, kernels;
  for (const RoleField& field : plan.fields) fields.push_back(field_text(spec, field));
  if (plan.fields.size() == 1) fields[0] = fields[0].substr(fields[0].find('=') + 1);
  if (plan.companion) fields[0] += fmt::format(" with {}", spec[*plan.companion].name);
  for (const KernelRef& kernel : plan.chain) kernels.push_back(to_string(*kernel));
  const std::string name = plan.name.empty() ? "" : fmt::format(", name={}", plan.name);
  return fmt::format("{}: {}{}", fmt::join(fields, ", "), fmt::join(kernels, " > "), name);
}

// The fields after one kernel.
Spec after(const Kernel& kernel, const Spec& before) {
  if (!kernel.facts().result) return before;
  Spec made;
  try {
    made = kernel.facts().result(before);
  } catch (const Exception& wrong) {
    refuse(kOp, with_title(kernel, wrong.error().message()));
  }
  if (made.size() == before.size()) return made;
  refuse(kOp, fmt::format("{} gives {} fields for {}", kernel.facts().title, made.size(), before.size()));
}

// The fields that the kernels get, named by their roles, and what they give.
Spec fields_after(const Spec& spec, const Plan& plan) {
  Spec fields;
  for (const RoleField& field : plan.fields) {
    fields.push_back({std::string(name(field.role)), spec[field.index].dtype, spec[field.index].shape});
  }
  for (const KernelRef& kernel : plan.chain) fields = after(*kernel, fields);
  return fields;
}

Node::Facts facts_of(const Node::Ref& input, const Plan& plan) {
  Spec spec = input->spec();
  const Spec made = fields_after(spec, plan);
  Node::Facts facts = facts_over(input, kOp, args_of(spec, plan), {});
  for (size_t i = 0; i < plan.fields.size(); ++i) {
    FieldSpec& field = spec[plan.fields[i].index];
    field.dtype = made[i].dtype;
    field.shape = made[i].shape;
  }
  facts.spec = std::move(spec);
  facts.role = Role::map;
  facts.args_name_streams = true;
  for (const KernelRef& kernel : plan.chain) {
    const std::string& draws = kernel->facts().draws;
    if (!draws.empty()) facts.random_streams.push_back(plan.name.empty() ? draws : draws + " of " + plan.name);
    facts.opaque = facts.opaque || kernel->facts().opaque;
  }
  return facts;
}

KernelChain run_chain(const Plan& plan) {
  KernelChain chain = join_kernels(plan.chain);
  if (plan.join) return chain;
  chain = {.kernels = plan.chain, .first = {}, .joints = std::move(chain.joints)};
  for (size_t i = 0; i < plan.chain.size(); ++i) chain.first.push_back(i);
  for (KernelChain::Joint& joint : chain.joints) joint = {.pair = joint.pair, .why_not = "join is false"};
  return chain;
}

// Nothing unless the kernel of the run makes two samples in less time than one after the other.
std::optional<KernelPairs> pairs_of(const Spec& out, const Plan& plan, const KernelChain& run) {
  if (plan.fields.size() != 1 || plan.companion || run.kernels.size() != 1) return std::nullopt;
  const auto* const kernel = dynamic_cast<const RowsKernel*>(run.kernels[0].get());
  if (kernel == nullptr || !kernel->takes_two()) return std::nullopt;
  // Texts would have to live as long as the view.
  const auto is_bytes = [](const FieldSpec& field) { return field.dtype == DType::bytes; };
  if (std::ranges::any_of(out, is_bytes)) return std::nullopt;
  return KernelPairs(*kernel, plan.fields[0].index, out);
}

// The kernel of the run if it can make many samples at once; else null.
const RowsKernel* rows_kernel_of(const Spec& spec, const Plan& plan, const KernelChain& run) {
  if (plan.fields.size() != 1 || run.kernels.size() != 1) return nullptr;
  const auto* const kernel = dynamic_cast<const RowsKernel*>(run.kernels[0].get());
  if (kernel == nullptr || !kernel->facts().draws.empty()) return nullptr;
  const FieldSpec& image = spec[plan.fields[0].index];
  return image.shape.is_full() && kernel->takes_rows(image) ? kernel : nullptr;
}

bool take_lent(std::span<const KernelRef> kernels) {
  return std::ranges::all_of(kernels, [](const KernelRef& kernel) {
    const auto* const rows = dynamic_cast<const RowsKernel*>(kernel.get());
    return rows != nullptr && rows->takes_lent();
  });
}

// No error iff the kernel ran; what it throws is returned.
Error run_one(const Kernel& kernel, KernelCall& call) {
  try {
    const auto done = kernel.run(call);
    if (!done) return done.error();
    return {};
  } catch (...) {
    return current_exception_error();
  }
}

class MapKernels final : public Pointwise, public KernelJoints, public TakesLent, public MakesTogether {
 public:
  MapKernels(const Node::Ref& input, Plan plan)
      : Pointwise(facts_of(input, plan)),
        plan_(std::move(plan)),
        run_(run_chain(plan_)),
        rows_kernel_(rows_kernel_of(input->spec(), plan_, run_)),
        pairs_(pairs_of(spec(), plan_, run_)),
        takes_lent_(take_lent(run_.kernels) && take_lent(plan_.chain)) {}

  const std::vector<KernelChain::Joint>& joints() const override { return run_.joints; }
  const std::vector<KernelRef>& kernels() const override { return plan_.chain; }
  std::vector<std::pair<size_t, FieldRole>> role_fields() const override {
    std::vector<std::pair<size_t, FieldRole>> found;
    found.reserve(plan_.fields.size());
    for (const RoleField& field : plan_.fields) found.emplace_back(field.index, field.role);
    return found;
  }

  // A key for each kernel of the chain, whether it draws or not.
  std::vector<RandomKey> keys_of(const Binding& binding) const override {
    std::vector<RandomKey> keys;
    keys.reserve(plan_.chain.size());
    size_t stream = 0;
    for (const KernelRef& kernel : plan_.chain) {
      keys.push_back(kernel->facts().draws.empty() ? RandomKey() : random_key(binding, stream++));
    }
    if (keys.empty()) keys.emplace_back();
    return keys;
  }

  // After an error also the kernels that are joined run one by one: see named().
  bool takes_lent() const override { return takes_lent_; }

  Got apply(Element& in, RandomKey random_key, Context& context, OutputSlots outputs, Element& out) const override {
    return apply_keys(in, std::vector<RandomKey>(plan_.chain.size(), random_key), context, outputs, out);
  }

  Got apply_keys(Element& in, std::span<const RandomKey> random_keys, Context& context, OutputSlots outputs,
                 Element& out) const override {
    std::array<Tensor, KernelCall::kMaxFields> memory;
    const std::span<Tensor> fields(memory.data(), plan_.fields.size());
    std::array<OutputSlot, KernelCall::kMaxFields> targets;
    for (size_t i = 0; i < fields.size(); ++i) {
      const size_t index = plan_.fields[i].index;
      fields[i] = in[index];
      if (index < outputs.size()) targets[i] = outputs[index];
    }
    const Tensor companion = plan_.companion ? in[*plan_.companion] : Tensor();
    KernelDefects& defects = context.scratch().defects;
    const int64_t known = defects.count;
    for (size_t k = 0; k < run_.kernels.size(); ++k) {
      // Only the last one: a kernel must not read the row that it writes.
      const bool is_last = k + 1 == run_.kernels.size();
      const OutputSlots own(targets.data(), is_last ? fields.size() : 0);
      const auto keys = random_keys.subspan(run_.first[k]);
      KernelCall call(fields, keys, in.key, own, context.scratch(), plan_.roles);
      if (k == 0 && plan_.companion) call.set_companion(&companion);
      if (Error error = run_one(*run_.kernels[k], call)) {
        error = named(k, std::move(error), fields, keys, in.key, companion, context);
        defects.count = known;
        return context.fail(std::move(error));
      }
      call.finish();
    }
    if (defects.count > known) say(defects, in);
    if (Error error = check(fields)) return context.fail(std::move(error));
    for (size_t i = 0; i < fields.size(); ++i) in[plan_.fields[i].index] = std::move(fields[i]);
    out = std::move(in);
    return Got::value;
  }

  bool fill(const View& view, std::span<const int64_t> positions, RandomKey, Context& context, OutputSlots columns,
            uint64_t* keys) const override {
    if (rows_kernel_ == nullptr) return false;
    const size_t index = plan_.fields[0].index;
    const FieldSpec& image = input().spec()[index];
    return fill_rows(view, index, image, positions, context, columns, keys,
                     [&](const std::byte* from, size_t rows, std::byte* to) { run_rows(image, from, rows, to); });
  }

  int64_t together() const override { return pairs_ ? 2 : 1; }

  bool fill_keys(const View& view, std::span<const int64_t> positions, std::span<const RandomKey> random_keys,
                 Context& context, OutputSlots columns, uint64_t* keys) const override {
    if (pairs_) return pairs_->fill(view, positions, random_keys, context, columns, keys);
    return fill(view, positions, random_keys[0], context, columns, keys);
  }

 private:
  // After an exception rows are made by run(), one by one, so that the log alone says that something is wrong.
  void run_rows(const FieldSpec& image, const std::byte* from, size_t rows, std::byte* to) const {
    try {
      rows_kernel_->run_rows(image, from, rows, to);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {
      if (!has_warned_.exchange(true, std::memory_order_relaxed)) {
        log(LogLevel::warning, fmt::format("{}: run_rows() threw {}; such rows are made one by one (this map's first)",
                                           title(), current_exception_error().to_string()));
      }
      throw;
    }
  }

  // `error` of kernel `k` of those that run, with the title of the kernel that failed. Of a joined kernel, those that
  // it stands for run one after the other to find it. `fields` may change.
  Error named(size_t k, Error error, std::span<Tensor> fields, std::span<const RandomKey> keys, uint64_t key,
              const Tensor& companion, Context& context) const {
    const size_t first = run_.first[k];
    const size_t end = k + 1 < run_.first.size() ? run_.first[k + 1] : plan_.chain.size();
    const Kernel* failed = run_.kernels[k].get();
    for (size_t i = first; end - first > 1 && i < end; ++i) {
      KernelCall call(fields, keys.subspan(i - first), key, {}, context.scratch(), plan_.roles);
      if (i == 0 && plan_.companion) call.set_companion(&companion);
      if (Error own = run_one(*plan_.chain[i], call)) {
        failed = plan_.chain[i].get();
        error = std::move(own);
        break;
      }
      call.finish();
    }
    return error.with_message(with_title(*failed, error.message()));
  }

  // The first of this map is in the log, all are counted.
  void say(const KernelDefects& defects, const Element& in) const {
    if (has_said_.exchange(true, std::memory_order_relaxed)) return;
    log(LogLevel::info, fmt::format("{}: {}: passed over: {} (this map's first; all are counted)",
                                    element_name(in.key, in.provenance), title(), defects.first));
  }

  Error check(std::span<const Tensor> fields) const {
    for (size_t i = 0; i < fields.size(); ++i) {
      const FieldSpec& field = spec()[plan_.fields[i].index];
      const bool fits =
          fields[i].dtype() == field.dtype &&
          (fields[i].has_shape(field.shape) || (!field.shape.is_full() && field.shape.admits(fields[i].shape())));
      if (fits) continue;
      return {ErrorKind::InvalidArgument,
              fmt::format("expected {}, found {}{}", headpond::to_string(Spec{field}),
                          headpond::name(fields[i].dtype()), fields[i].shape().to_string())};
    }
    return {};
  }

  const Plan plan_;
  const KernelChain run_;
  const RowsKernel* const rows_kernel_;
  const std::optional<KernelPairs> pairs_;
  const bool takes_lent_;
  mutable std::atomic<bool> has_said_ = false;    // About a defect.
  mutable std::atomic<bool> has_warned_ = false;  // About run_rows().
};

Step step_of(const std::vector<std::pair<FieldRole, std::string>>& roles, const std::vector<KernelRef>& kernels,
             const std::string& called, bool join) {
  for (const KernelRef& kernel : kernels) {
    if (kernel == nullptr) refuse(kOp, "a kernel is null");
  }
  return [roles, kernels, called, join](const Dataset& input) {
    Plan plan = {.fields = {}, .roles = {}, .chain = kernels, .name = called, .join = join};
    for (const auto& [role, name] : roles) {
      const size_t index = field_index(kOp, input.spec(), name);
      for (const RoleField& other : plan.fields) {
        if (other.index == index)
          refuse(kOp, fmt::format("field '{}' is {} and {}", name, headpond::name(other.role), headpond::name(role)));
      }
      plan.fields.push_back({role, index});
      plan.roles.push_back(role);
    }
    plan.companion = companion_of(input.spec(), plan);
    return Dataset(std::make_shared<MapKernels>(input.node(), std::move(plan)));
  };
}

}  // namespace

Step map_kernels_step(const std::string& field, const std::vector<KernelRef>& kernels, const std::string& name) {
  return step_of({{FieldRole::image, field}}, kernels, name, true);
}

Step map_kernels_step(const MapFields& fields, const std::vector<KernelRef>& kernels) {
  if (fields.image.empty()) refuse(kOp, "no field is the image");
  std::vector<std::pair<FieldRole, std::string>> roles;
  const std::array<std::pair<FieldRole, std::string>, 5> all = {{{FieldRole::image, fields.image},
                                                                 {FieldRole::mask, fields.mask},
                                                                 {FieldRole::boxes, fields.boxes},
                                                                 {FieldRole::labels, fields.labels},
                                                                 {FieldRole::points, fields.points}}};
  static_assert(std::tuple_size_v<decltype(all)> <= KernelCall::kMaxFields);
  for (const auto& one : all) {
    if (!one.second.empty()) roles.push_back(one);
  }
  return step_of(roles, kernels, fields.name, fields.join);
}

}  // namespace headpond::internal
