// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/node.h"

#include <fmt/format.h>

#include <algorithm>

namespace headpond {
namespace {

uint32_t count_streams(const Node& node, const std::string& name) {
  uint32_t count = node.facts().random_stream == name ? 1 : 0;
  for (const Node::Ref& input : node.facts().inputs) count += count_streams(*input, name);
  return count;
}

[[noreturn]] void refuse(const Node& node, const char* what) {
  throw Exception(Error(ErrorKind::FailedPrecondition, fmt::format("{}: {}", node.facts().op, what)));
}

}  // namespace

Node::Node(Facts facts) : facts_(std::move(facts)) {
  if (facts_.random_stream.empty()) return;
  for (const Ref& input : facts_.inputs) occurrence_ += count_streams(*input, facts_.random_stream);
}

std::string Node::text(bool with_location, bool with_data) const {
  std::vector<std::string> parts;
  if (with_location && !facts_.location.empty()) parts.push_back(facts_.location);
  if (!facts_.args.empty()) parts.push_back(facts_.args);
  if (with_data && !facts_.data.get().empty()) parts.push_back(facts_.data.get());
  if (!facts_.random_stream.empty() && facts_.random_stream != facts_.op)
    parts.push_back("name=" + facts_.random_stream);
  if (facts_.version != 0) parts.push_back(fmt::format("operator_version={}", facts_.version));
  return fmt::format("{}({})", facts_.op, fmt::join(parts, ", "));
}

std::string Node::title() const { return text(true, false); }
std::string Node::title_with_data() const { return text(true, true); }
std::string Node::identity() const { return text(false, true); }

RandomKey Node::random_key(const Binding& binding) const {
  return headpond::random_key(binding.seed, facts_.random_stream, occurrence_, binding.epoch);
}

bool Node::iterates() const {
  return kind() == Kind::stream ||
         std::any_of(facts_.inputs.begin(), facts_.inputs.end(), [](const Ref& input) { return input->iterates(); });
}

std::shared_ptr<const View> Node::bind(const Binding&) const { refuse(*this, "its elements have no positions"); }

std::shared_ptr<const View> view_of(const Node& node, const Binding& binding) {
  auto view = node.bind(binding);
  return binding.observer != nullptr ? binding.observer->see(node, std::move(view)) : view;
}

bool decides_in_order(const Node& node) {
  if (!node.iterates()) return false;
  const auto& inputs = node.facts().inputs;
  return node.facts().decides_in_order ||
         std::any_of(inputs.begin(), inputs.end(), [](const Node::Ref& input) { return decides_in_order(*input); });
}

void check_reads_positions(const std::string& op, const Node& input) {
  if (input.kind() == Kind::stream || !decides_in_order(input)) return;
  throw Exception(Error(ErrorKind::InvalidArgument,
                        fmt::format("{}: reads positions, but on_error below it counts failures in order: put on_error "
                                    "after {}",
                                    op, op)));
}

std::unique_ptr<Iterator> Node::iterate(const Binding&, Feed&) const { refuse(*this, "its elements have positions"); }

}  // namespace headpond
