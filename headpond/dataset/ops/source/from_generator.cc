// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/ops/sources.h"
#include "headpond/dataset/progress/at_element.h"

namespace headpond {
namespace {

class GeneratorNode final : public Node {
 public:
  GeneratorNode(std::function<Generator(uint64_t)> make, Spec spec, const GeneratorOptions& options)
      : Node({.op = "from_generator",
              .args = options.name.empty() ? "opaque" : fmt::format("{}, version={}", options.name, options.version),
              .spec = std::move(spec),
              .kind = Kind::stream,
              .slots = kEndless,
              .blocking = options.blocking,
              .replays = !options.seek,
              .opaque = options.name.empty()}),
        make_(std::move(make)),
        seek_(options.seek),
        source_(register_source(options.name.empty() ? "from_generator" : options.name)) {}

  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;
  /// A generator that goes on after `position` elements. May throw.
  Result<Generator> open(uint64_t epoch, int64_t position) const {
    const bool seeks = seek_ && position > 0;
    auto generator = seeks ? seek_(epoch, position) : Result<Generator>(make_(epoch));
    if (generator && !*generator) return fail(ErrorKind::InvalidArgument, "make returned no generator");
    for (int64_t i = 0; generator && !seeks && i < position; ++i) {
      const auto passed = (*generator)();
      if (!passed) return fail(passed.error());
      if (!*passed)
        return fail(ErrorKind::FailedPrecondition,
                    fmt::format("the generator ends at {}, before the state's position", i));
    }
    return generator;
  }
  Provenance provenance(int64_t number) const { return {.source = source_, .record = static_cast<uint64_t>(number)}; }
  Error at(int64_t n, const Error& error) const {
    return {error.kind(), fmt::format("{}, element {}: {}", title(), n, error.message()), error};
  }

 private:
  const std::function<Generator(uint64_t)> make_;
  const std::function<Result<Generator>(uint64_t, int64_t)> seek_;
  const uint64_t source_;
};

class GeneratorIterator final : public Iterator {
 public:
  GeneratorIterator(const GeneratorNode& node, uint64_t epoch) : node_(node), epoch_(epoch) {}

  Got next(Context& context, Element& out) override {
    if (ended_) return Got::end;
    out.key = static_cast<uint64_t>(next_);
    out.provenance = node_.provenance(next_);
    auto given = error_ ? Result<std::optional<Element>>(fail(error_)) : ask();
    if (!given) return context.fail(error_ = given.error());
    ended_ = !given->has_value();
    if (ended_) return Got::end;
    const int64_t number = next_++;
    if (Error error = internal::check_element(node_.spec(), **given)) return context.fail(node_.at(number, error));
    out = *std::move(*given);
    out.key = static_cast<uint64_t>(number);
    out.provenance = node_.provenance(number);
    return Got::value;
  }
  void visit_state(StateVisitor& visitor) override { visitor.number_within(next_, 0, kEndless); }

 private:
  Result<std::optional<Element>> ask() {
    const internal::AtElement here(node_, static_cast<uint64_t>(next_), node_.provenance(next_));
    try {
      if (!generator_) {
        const auto opened = node_.open(epoch_, next_);
        if (!opened) return fail(node_.at(next_, opened.error()));
        generator_ = *opened;
      }
      auto given = generator_();
      return given ? std::move(given) : fail(node_.at(next_, given.error()));
    } catch (...) {
      return fail(node_.at(next_, current_exception_error()));
    }
  }

  const GeneratorNode& node_;
  const uint64_t epoch_;
  Generator generator_;  // Made for the first element that is asked for: after a restore.
  int64_t next_ = 0;
  Error error_;
  bool ended_ = false;
};

std::unique_ptr<Iterator> GeneratorNode::iterate(const Binding& binding, Feed&) const {
  return std::make_unique<GeneratorIterator>(*this, binding.epoch);
}

}  // namespace

Dataset from_generator(std::function<Generator(uint64_t epoch)> make, Spec spec, const GeneratorOptions& options) {
  if (!make) refuse("from_generator", "make is empty: it must return a generator");
  return Dataset(std::make_shared<GeneratorNode>(std::move(make), std::move(spec), options));
}

}  // namespace headpond
