// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/base/crc32c.h"
#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/source/in_memory.h"
#include "headpond/dataset/source/slices_internal.h"

namespace headpond::internal {
namespace {

class SlicesView final : public View {
 public:
  SlicesView(const std::vector<Tensor>& tensors, uint64_t source) : tensors_(tensors), source_(source) {}
  Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
    for (const Tensor& tensor : tensors_) out.append(tensor.row(i));
    out.key = static_cast<uint64_t>(i);
    out.provenance = {.source = source_, .record = static_cast<uint64_t>(i)};
    return Got::value;
  }
  bool fill(std::span<const int64_t> positions, Context&, OutputSlots columns, uint64_t* keys) const override {
    for (size_t f = 0; f < tensors_.size(); ++f) {
      if (tensors_[f].dtype() == DType::bytes) {
        if (tensors_[f].rank() > 1) return false;
        gather_texts(tensors_[f], positions, columns[f].data);
        continue;
      }
      if (positions.empty()) continue;
      gather_rows(tensors_[f].data(), row_bytes(*columns[f].spec), positions, columns[f].data);
    }
    if (keys != nullptr) std::copy(positions.begin(), positions.end(), keys);
    return true;
  }

 private:
  const std::vector<Tensor>& tensors_;
  const uint64_t source_;
};

// Fields without names have positions.
std::string shown(const std::vector<std::pair<std::string, Tensor>>& tensors, size_t i) {
  if (!tensors[i].first.empty()) return fmt::format("'{}'", tensors[i].first);
  return tensors.size() == 1 ? "the array" : fmt::format("array {}", i);
}

Node::Facts facts_of(std::string op, std::string args, const std::vector<std::pair<std::string, Tensor>>& tensors,
                     std::string location) {
  if (tensors.empty()) refuse(op, "no tensors");
  Node::Facts facts{.op = std::move(op), .args = std::move(args), .location = std::move(location)};
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    if (tensor.rank() == 0) refuse(facts.op, fmt::format("{} is a scalar: it has no rows", shown(tensors, i)));
    if (tensor.dim(0) != tensors[0].second.dim(0)) {
      refuse(facts.op, fmt::format("{} has {} rows, {} has {}", shown(tensors, 0), tensors[0].second.dim(0),
                                   shown(tensors, i), tensor.dim(0)));
    }
    for (const FieldSpec& other : facts.spec) {
      if (!name.empty() && other.name == name) refuse(facts.op, fmt::format("two fields named '{}'", name));
    }
    facts.spec.push_back({name, tensor.dtype(), tensor.shape().row()});
  }
  facts.slots = tensors[0].second.dim(0);
  return facts;
}

class Slices final : public Node, public InMemory {
 public:
  Slices(Facts facts, uint64_t source, const std::vector<std::pair<std::string, Tensor>>& tensors)
      : Node(std::move(facts)), source_(source) {
    for (const auto& [name, tensor] : tensors) tensors_.push_back(tensor);
  }
  std::shared_ptr<const View> bind(const Binding&) const override {
    return std::make_shared<SlicesView>(tensors_, source_);
  }
  int64_t bytes_in_memory() const override {
    int64_t bytes = 0;
    for (const Tensor& tensor : tensors_) bytes += static_cast<int64_t>(tensor.byte_size());
    return bytes;
  }
  int64_t copied_bytes() const override {
    int64_t bytes = 0;
    for (const Tensor& tensor : tensors_) {
      const bool is_view = slots() > 0 && tensor.owner() != nullptr && tensor.row(0).owner() == tensor.owner();
      if (slots() > 0 && !is_view) bytes += static_cast<int64_t>(tensor.byte_size()) / slots();
    }
    return bytes;
  }

 private:
  const uint64_t source_;
  std::vector<Tensor> tensors_;
};

}  // namespace

std::string facts_of(const Tensor& tensor) {
  return fmt::format("{}{}, crc32c {:08x}", name(tensor.dtype()), tensor.shape().to_string(),
                     crc32c({tensor.data(), tensor.byte_size()}));
}

Dataset slices(std::string op, std::string args, const std::string& source,
               const std::vector<std::pair<std::string, Tensor>>& tensors, std::string location) {
  const uint64_t number = register_source(source, /*is_file=*/!location.empty());
  Node::Facts facts = facts_of(std::move(op), std::move(args), tensors, std::move(location));
  return Dataset(std::make_shared<Slices>(std::move(facts), number, tensors));
}

}  // namespace headpond::internal
