// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/plan_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>

#include "headpond/base/crc32c.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/ops/element.h"
#include "headpond/dataset/ops/sources.h"
#include "headpond/engine/executor/parallel_for.h"
#include "headpond/io/file/file.h"
#include "headpond/plan/nested/plan_nested.h"
#include "headpond/plan/operators/plan_operators.h"
#include "headpond/plan/suggestion.h"
#include "headpond/plan/without_path.h"

namespace headpond::plan {
namespace {

constexpr uint64_t kMostBytes = 1 << 20;
constexpr size_t kMostSteps = 1000;      // In the file: datasets are trees, which are walked recursively.
constexpr size_t kMostOperators = 5000;  // In the pipeline; a chain counts as often as it is used.
const std::vector<std::string> kFileKeys = {"seed", "step", "chain"};
const std::vector<std::string> kStepKeys = {"op", "name", "policy", "args", "inputs"};

const PlanValue* find(const PlanTable& table, std::string_view key) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.first == key; });
  return found == table.end() ? nullptr : &found->second;
}

// How many operators a step added to `below`.
size_t added(const Dataset& dataset, const Dataset& below) {
  size_t count = 0;
  for (const Node* node = dataset.node().get(); node != below.node().get(); node = &node->input()) ++count;
  return count;
}

// What a chain is made for: an element of the step that names the chain.
struct Outer {
  Spec spec;
  Element element;
  Dataset dataset;  // The element alone.
};

Outer outer_of(const Spec& spec, const Element& element) {
  std::vector<std::pair<std::string, Tensor>> fields;
  for (size_t i = 0; i < spec.size(); ++i) fields.emplace_back(spec[i].name, element[i]);
  return {spec, element, from_tensors(fields)};
}

// Steps that this thread has read for one pipeline, with those of chains that are made for elements of zeros meanwhile.
struct Reading {
  int readers = 0;
  size_t steps = 0;
};
thread_local Reading reading;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

class CountsSteps {
 public:
  CountsSteps() {
    if (reading.readers++ == 0) reading.steps = 0;
  }
  ~CountsSteps() { --reading.readers; }
  CountsSteps(const CountsSteps&) = delete;
  CountsSteps& operator=(const CountsSteps&) = delete;
};

// The chains that steps in `value` name in their argument `chain`.
void collect_nested(const PlanValue& value, std::vector<std::string>& to) {
  if (const auto* const list = value.as<PlanList>()) {
    for (const PlanValue& one : *list) collect_nested(one, to);
  } else if (const auto* const table = value.as<PlanTable>()) {
    const PlanValue* const args = find(*table, "args");
    const auto* const own = args == nullptr ? nullptr : args->as<PlanTable>();
    const PlanValue* const chain = own == nullptr ? nullptr : find(*own, "chain");
    if (chain != nullptr && chain->as<std::string>() != nullptr) to.push_back(*chain->as<std::string>());
    for (const auto& [name, one] : *table) collect_nested(one, to);
  }
}

class Reader {
 public:
  Reader(std::shared_ptr<const PlanValue> whole, std::string path)
      : whole_(std::move(whole)), file_(*whole_->as<PlanTable>()), path_(std::move(path)) {
    check_keys(file_, kFileKeys, "");
    if (const PlanValue* const chains = find(file_, "chain")) {
      chains_ = chains->as<PlanTable>();
      if (chains_ == nullptr) refuse(chains->line, "a chain is written as [[chain.NAME]]");
    }
  }

  std::optional<uint64_t> seed() const {
    const PlanValue* const value = find(file_, "seed");
    if (value == nullptr) return {};
    const auto* const seed = value->as<int64_t>();
    if (seed == nullptr || *seed < 0) refuse(value->line, "seed must be an integer of at least 0");
    return static_cast<uint64_t>(*seed);
  }

  const std::vector<std::pair<std::string, Dataset>>& named() const { return named_; }

  Dataset dataset() {
    const PlanValue* const steps = find(file_, "step");
    if (steps == nullptr) refuse(1, "no [[step]]: a pipeline has at least one");
    const Built whole = chain(*steps, "step");
    std::vector<std::string> nested;
    collect_nested(*whole_, nested);
    for (size_t i = 0; chains_ != nullptr && i < chains_->size(); ++i) {
      const auto& [name, value] = (*chains_)[i];
      if (!is_part_of(name, nested)) chain_named(name, value.line);
    }
    return whole.dataset;
  }

 private:
  struct Built {
    Dataset dataset;
    size_t operators = 0;
  };

  // The chain `name` for an element; `open`: the chains around it.
  static Dataset made_for(const std::shared_ptr<const PlanValue>& whole, const std::string& path,
                          const std::vector<std::string>& open, const std::string& name, const Outer& outer) {
    Reader reader(whole, path);
    reader.open_ = open;
    reader.outer_ = outer;
    return reader.chain_named(name, 0).dataset;
  }

  [[noreturn]] void refuse(int64_t line, const std::string& what) const { throw PlanError(path_, line, what); }

  // True iff the chain is one of `roots` or an input of one, so that it may need an element.
  bool is_part_of(const std::string& name, std::vector<std::string>& roots) const {
    for (size_t i = 0; i < roots.size(); ++i) {
      const PlanValue* const chain = find(*chains_, roots[i]);
      const auto* const steps = chain == nullptr ? nullptr : chain->as<PlanList>();
      const auto* const first = steps == nullptr || steps->empty() ? nullptr : (*steps)[0].as<PlanTable>();
      const PlanValue* const inputs = first == nullptr ? nullptr : find(*first, "inputs");
      const auto* const names = inputs == nullptr ? nullptr : inputs->as<PlanList>();
      for (size_t k = 0; names != nullptr && k < names->size(); ++k) {
        const auto* const input = (*names)[k].as<std::string>();
        if (input != nullptr && std::find(roots.begin(), roots.end(), *input) == roots.end()) roots.push_back(*input);
      }
    }
    return std::find(roots.begin(), roots.end(), name) != roots.end();
  }

  void check_keys(const PlanTable& table, const std::vector<std::string>& known, const std::string& where) const {
    for (const auto& [key, value] : table) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        refuse(value.line, fmt::format("{}no key '{}'{}", where, key, suggestion(key, known)));
      }
    }
  }

  // The text of `key`; empty if it is missing.
  std::string text(const PlanTable& step, std::string_view key) const {
    const PlanValue* const value = find(step, key);
    if (value == nullptr) return "";
    const auto* const found = value->as<std::string>();
    if (found == nullptr) refuse(value->line, fmt::format("{} must be a string, not {}", key, kind_of(*value)));
    return *found;
  }

  Built chain_named(const std::string& name, int64_t line) {
    if (const auto known = built_.find(name); known != built_.end()) return known->second;
    const PlanValue* const steps = chains_ == nullptr ? nullptr : find(*chains_, name);
    if (steps == nullptr) refuse(line, fmt::format("no chain '{}'{}", name, suggestion(name, chain_names())));
    const auto ring = std::find(open_.begin(), open_.end(), name);
    if (ring != open_.end()) {
      refuse(line,
             fmt::format("chain '{}' contains itself: {} -> {}", name, fmt::join(ring, open_.end(), " -> "), name));
    }
    open_.push_back(name);
    const Built made = chain(*steps, "chain." + name);
    open_.pop_back();
    return built_.emplace(name, made).first->second;
  }

  std::vector<std::string> chain_names() const {
    if (chains_ == nullptr) return {};
    std::vector<std::string> names(chains_->size());
    std::transform(chains_->begin(), chains_->end(), names.begin(), [](const auto& chain) { return chain.first; });
    return names;
  }

  Built chain(const PlanValue& value, const std::string& key) {
    const auto* const steps = value.as<PlanList>();
    if (steps == nullptr) refuse(value.line, fmt::format("a step is written as [[{}]]", key));
    if (steps->empty()) refuse(value.line, fmt::format("{} is empty", key));
    std::optional<Built> below;
    for (const PlanValue& one : *steps) {
      const auto* const table = one.as<PlanTable>();
      if (table == nullptr) refuse(one.line, fmt::format("a step is written as [[{}]]", key));
      if (++reading.steps > kMostSteps) refuse(one.line, fmt::format("more than {} steps", kMostSteps));
      below = step(*table, one.line, below);
      if (below->operators > kMostOperators) refuse(one.line, fmt::format("more than {} operators", kMostOperators));
    }
    return *below;
  }

  const PlanOperator& operator_of(const PlanTable& table, int64_t line) const {
    const std::string op = text(table, "op");
    if (op.empty()) refuse(line, "a step needs op");
    const auto& all = plan_operators();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == op; });
    if (found != all.end()) return *found;
    std::vector<std::string> names(all.size());
    std::transform(all.begin(), all.end(), names.begin(), [](const PlanOperator& one) { return one.name; });
    refuse(find(table, "op")->line, fmt::format("no operator '{}'{}", op, suggestion(op, names)));
  }

  void check_policy(const PlanTable& table) const {
    const std::string policy = text(table, "policy");
    const std::vector<std::string> known = {"fail", "skip", "replace", "retry"};
    if (policy.empty() || std::find(known.begin(), known.end(), policy) != known.end()) return;
    refuse(find(table, "policy")->line, fmt::format("no policy '{}'{}", policy, suggestion(policy, known)));
  }

  // What another run might not have is tried again by whoever reads, so "retry" is "fail".
  Dataset with_policy(const Dataset& dataset, const PlanTable& table) const {
    const std::string policy = text(table, "policy");
    if (policy == "skip") return dataset | on_error();
    if (policy != "replace") return dataset;
    const auto is_known = [](const FieldSpec& field) { return field.shape.is_full(); };
    if (!std::ranges::all_of(dataset.spec(), is_known)) {
      refuse(find(table, "policy")->line,
             fmt::format("policy 'replace' needs fields of known shapes, not {}", to_string(dataset.spec())));
    }
    return dataset | on_error({.policy = OnErrorPolicy::substitute, .substitute = internal::zeros_of(dataset.spec())});
  }

  // Fills `to`; returns the number of operators in the inputs.
  size_t inputs_of(const PlanOperator& op, const PlanTable& table, int64_t line, const std::optional<Built>& below,
                   std::vector<std::pair<std::string, Dataset>>& to) {
    const PlanValue* const value = find(table, "inputs");
    if (op.takes != PlanInput::either && (op.takes == PlanInput::follows) != below.has_value()) {
      refuse(line, op.takes == PlanInput::follows ? fmt::format("{} needs a step before it", op.name)
                                                  : fmt::format("{} must be the first step of its chain", op.name));
    }
    if (op.takes != PlanInput::joins && (op.takes != PlanInput::either || below)) {
      if (value != nullptr) refuse(value->line, fmt::format("{} takes no inputs", op.name));
      if (below) to.emplace_back("", below->dataset);
      return below ? below->operators : 0;
    }
    if (value == nullptr) refuse(line, fmt::format("{} needs inputs = [\"a\", ...], each a [[chain.a]]", op.name));
    const PlanTable table_of_inputs = {{"inputs", *value}};
    const PlanValue as_table{value->line, table_of_inputs};
    size_t sum = 0;
    for (const std::string& name : PlanArguments(path_, line, op.name, &as_table, {"inputs"}).texts("inputs")) {
      const Built input = chain_named(name, value->line);
      sum = std::min(sum + input.operators, kMostOperators + 1);
      to.emplace_back(name, input.dataset);
    }
    return sum;
  }

  static void prepare(const Dataset& dataset) {
    constexpr int kOpeners = 16;  // Threads that mostly wait for the file system.
    internal::prepare(dataset, [](int64_t count, const std::function<void(int64_t)>& each) {
      internal::parallel_for(kOpeners, count, each);
    });
  }

  // The argument `chain`: a function that makes it for an element. Its text is part of the step's name.
  void nest(PlanStep& step, const std::optional<Built>& below) const {
    if (!below || !step.args.has("chain")) return;
    const std::string name = step.args.text("chain");
    if (chains_ == nullptr || find(*chains_, name) == nullptr) {
      refuse(step.args.line("chain"), fmt::format("no chain '{}'{}", name, suggestion(name, chain_names())));
    }
    step.nested = [whole = whole_, path = path_, open = open_, name, spec = below->dataset.spec()](
                      const Element& element) { return made_for(whole, path, open, name, outer_of(spec, element)); };
    step.name +=
        fmt::format("{}{} {:08x}", step.name.empty() ? "" : ": ", name, crc32c(text_of(*find(file_, "chain"))));
  }

  Built step(const PlanTable& table, int64_t header, const std::optional<Built>& below) {
    check_keys(table, kStepKeys, "a step has ");
    const PlanOperator& op = operator_of(table, header);
    const int64_t line = find(table, "op")->line;
    check_policy(table);
    const PlanValue* said = find(table, "args");
    std::optional<PlanValue> own;
    if (said != nullptr && outer_) said = &own.emplace(filled(*said, outer_->spec, outer_->element));
    const PlanArguments args(path_, line, op.name, said, op.arguments,
                             [this](const std::string& name, int64_t at) { return chain_named(name, at).dataset; });
    PlanStep made{args, text(table, "name"), {}};
    if (outer_) made.outer = outer_->dataset;
    const size_t operators = inputs_of(op, table, line, below, made.inputs);
    if (operators > kMostOperators) refuse(line, fmt::format("more than {} operators", kMostOperators));
    nest(made, below);
    try {
      const Dataset dataset = with_policy(op.build(made), table);
      if (const std::string called = text(table, "name"); !called.empty() && !outer_)
        named_.emplace_back(called, dataset);
      if (op.takes == PlanInput::source && !outer_) prepare(dataset);  // An error then has the step's line.
      return {dataset, operators + (below ? added(dataset, below->dataset) : 1 + made.inputs.size())};
    } catch (const PlanError&) {
      throw;
    } catch (const Exception& error) {
      refuse_args(op, line, said, error.error());
    }
  }

  [[noreturn]] void refuse_args(const PlanOperator& op, int64_t line, const PlanValue* said, const Error& why) const {
    const auto* const given = said == nullptr ? nullptr : said->as<PlanTable>();
    const bool is_one = given != nullptr && given->size() == 1;
    std::string text = why.message();
    if (why.kind() != ErrorKind::InvalidArgument) {
      const std::string name = fmt::format("{}: ", op.name), kind = fmt::format("{}: ", to_string(why.kind()));
      text = why.to_string();
      if (text.starts_with(kind + name)) text.erase(kind.size(), name.size());
      text.insert(0, name);
    }
    refuse(is_one ? given->front().second.line : said != nullptr ? said->line : line, text);
  }

  const CountsSteps counts_steps_;
  const std::shared_ptr<const PlanValue> whole_;
  const PlanTable& file_;
  const std::string path_;
  const PlanTable* chains_ = nullptr;
  std::map<std::string, Built> built_;
  std::vector<std::pair<std::string, Dataset>> named_;
  std::vector<std::string> open_;  // Chains under construction, outermost first.
  std::optional<Outer> outer_;     // None: the pipeline itself.
};

}  // namespace

PlanFile parse_plan(std::string_view text, const std::string& path) {
  Reader reader(std::make_shared<const PlanValue>(parse_toml(text, path)), path);
  const auto seed = reader.seed();
  const Dataset dataset = reader.dataset();
  return {dataset, seed, reader.named()};
}

PlanFile read_plan_file(const std::string& path) {
  const auto bytes = read_file(path, kMostBytes);
  if (!bytes) throw PlanError(path, 0, without_path(bytes.error().message(), path));
  return parse_plan({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, path);
}

}  // namespace headpond::plan
