// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/bases/named_error_internal.h"
#include "headpond/dataset/ops/nested/children_internal.h"

namespace headpond::internal {
namespace {

constexpr size_t kMostText = 512;      // Elements of more bytes are not remembered.
constexpr size_t kMostMade = 1 << 20;  // Datasets that are.

// Dtypes, shapes and values; nullopt if that is too much.
std::optional<std::string> text_of(const Element& element) {
  std::string text;
  for (size_t i = 0; i < element.size(); ++i) {
    const Tensor& tensor = element[i];
    if (tensor.byte_size() > kMostText) return std::nullopt;
    text += fmt::format("{}{} {}:", name(tensor.dtype()), tensor.shape().to_string(), tensor.byte_size());
    text.append(reinterpret_cast<const char*>(tensor.data()), tensor.byte_size());
  }
  return text.size() > kMostText ? std::nullopt : std::optional(std::move(text));
}

// Whether each element of a dataset of spec `found` fits `spec`.
bool fits(const Spec& spec, const Spec& found) {
  return std::equal(spec.begin(), spec.end(), found.begin(), found.end(), [](const FieldSpec& a, const FieldSpec& b) {
    return a.name == b.name && a.dtype == b.dtype &&
           std::equal(a.shape.dims().begin(), a.shape.dims().end(), b.shape.dims().begin(), b.shape.dims().end(),
                      [](int64_t x, int64_t y) { return x == kUnknown || x == y; });
  });
}

}  // namespace

Children::Children(Node::Ref input, NestedFunction function, ChildrenOptions options)
    : input_(std::move(input)), function_(std::move(function)), options_(std::move(options)) {}

Error Children::misfit(const Dataset& dataset) const {
  if (!fits(options_.spec, dataset.spec())) {
    return {ErrorKind::InvalidArgument, fmt::format("the datasets have {}, this one has {}; say .output with unknown "
                                                    "dimensions if they differ",
                                                    to_string(options_.spec), to_string(dataset.spec()))};
  }
  if (options_.kind == Kind::stream || (dataset.kind() <= options_.kind && !dataset.node()->iterates())) return {};
  return {ErrorKind::InvalidArgument, "this dataset does not have positions as others have; say .kind = Kind::stream"};
}

Result<Dataset> Children::dataset_of(const Element& parent) const {
  const auto text = options_.kind == Kind::stream ? std::nullopt : text_of(parent);
  if (text) {
    const MutexLock lock(mu_);
    if (const auto found = made_.find(*text); found != made_.end()) return found->second;
  }
  auto made = function_.call(parent);
  if (!made) return made;
  if (Error error = misfit(*made)) return fail(std::move(error));
  prepare(*made, one_by_one);
  if (text) {
    const MutexLock lock(mu_);
    if (made_.size() >= kMostMade) made_.clear();
    return made_.emplace(*text, *std::move(made)).first->second;
  }
  return made;
}

// An error that says which record of which file it is about needs no other name: that of the element is often the
// file's with another number.
template <class Call>
auto Children::named(const Element& parent, const Call& call) const {
  auto made = call_named(options_.title, parent, call);
  const Error* const cause = made ? nullptr : made.error().cause();
  if (cause == nullptr || !cause->place().record) return made;
  made = fail(Error(cause->kind(), fmt::format("{}: {}", options_.title, cause->message()), *cause));
  return made;
}

Child Children::make(const Element& parent) const {
  Child child{.outer = {.key = parent.key, .provenance = parent.provenance}};
  auto made = named(parent, [&] { return dataset_of(parent); });
  if (made) {
    child.dataset = *std::move(made);
  } else {
    child.error = std::move(made).error();
  }
  return child;
}

// A hole of the input: neither a dataset nor an error.
Child Children::bound(const View& input, int64_t i, const Binding& binding) const {
  Context context;
  Element parent;
  const Got got = ask(input, i, context, {}, parent);
  if (got == Got::hole) return {};
  if (got != Got::value) return {.error = context.error, .outer = {.key = parent.key, .provenance = parent.provenance}};
  Child child = make(parent);
  if (!child.dataset) return child;
  const auto bind = [&]() -> Result<std::shared_ptr<const View>> {
    (void)child.dataset->node()->slots();
    return view_of(*child.dataset->node(), binding_of(child, binding));
  };
  if (auto view = named(parent, bind)) {
    child.view = *std::move(view);
  } else {
    child = {.error = std::move(view).error(), .outer = child.outer};
  }
  return child;
}

std::shared_ptr<const Children::Table> Children::make_table(const Binding& binding, const ParallelFor& parallel) const {
  const int64_t count = input_->slots();
  if (count == kEndless) {
    throw Exception(
        Error(ErrorKind::InvalidArgument,
              fmt::format("{}: the input has no end; repeat afterwards, or say .kind = Kind::stream", options_.title)));
  }
  const auto view = view_of(*input_, binding);
  std::vector<Child> all(static_cast<size_t>(count));
  parallel(count, [&](int64_t i) { all[static_cast<size_t>(i)] = bound(*view, i, binding); });
  std::erase_if(all, [](const Child& child) { return !child.dataset && !child.error; });
  std::vector<int64_t> lengths;
  lengths.reserve(all.size());
  for (const Child& child : all) lengths.push_back(child.dataset ? child.dataset->node()->slots() : 1);
  return std::make_shared<const Table>(
      Table{std::move(all), InterleaveOrder(std::move(lengths), options_.cycle, options_.block)});
}

std::shared_ptr<const Children::Table> Children::table(const Binding& binding, const ParallelFor& parallel) const {
  const Binding own = {.seed = binding.seed, .epoch = binding.epoch};
  std::shared_ptr<Entry> entry;
  {
    const MutexLock lock(mu_);
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const auto& one) { return one != nullptr && one->binding == own; });
    if (found != entries_.end()) {
      entry = *found;
    } else {
      entry = entries_[oldest_] = std::make_shared<Entry>();
      entry->binding = own;
      oldest_ = (oldest_ + 1) % entries_.size();
    }
  }
  const MutexLock lock(entry->mu);
  if (entry->table == nullptr) entry->table = make_table(own, parallel);
  return entry->table;
}

}  // namespace headpond::internal
