// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/plan_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "cli/plan/plan_operators.h"
#include "cli/plan/suggestion.h"
#include "cli/plan/without_path.h"
#include "headpond/io/file/file.h"

namespace headpond::cli {
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

class Reader {
 public:
  Reader(const PlanTable& file, std::string path) : file_(file), path_(std::move(path)) {
    check_keys(file, kFileKeys, "");
    if (const PlanValue* const chains = find(file, "chain")) {
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

  Dataset dataset() {
    const PlanValue* const steps = find(file_, "step");
    if (steps == nullptr) refuse(1, "no [[step]]: a pipeline has at least one");
    const Built whole = chain(*steps, "step");
    if (chains_ != nullptr) {
      for (const auto& [name, value] : *chains_) chain_named(name, value.line);
    }
    return whole.dataset;
  }

 private:
  struct Built {
    Dataset dataset;
    size_t operators = 0;
  };

  [[noreturn]] void refuse(int64_t line, const std::string& what) const { throw PlanError(path_, line, what); }

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
      if (++steps_ > kMostSteps) refuse(one.line, fmt::format("more than {} steps", kMostSteps));
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
    if (policy.empty() || policy == "fail") return;
    const std::vector<std::string> known = {"fail", "skip", "replace", "retry"};
    const bool is_known = std::find(known.begin(), known.end(), policy) != known.end();
    refuse(find(table, "policy")->line, is_known
                                            ? fmt::format("policy '{}' is not in this version; only 'fail' is", policy)
                                            : fmt::format("no policy '{}'{}", policy, suggestion(policy, known)));
  }

  // Fills `to`; returns the number of operators in the inputs.
  size_t inputs_of(const PlanOperator& op, const PlanTable& table, int64_t line, const std::optional<Built>& below,
                   std::vector<std::pair<std::string, Dataset>>& to) {
    const PlanValue* const value = find(table, "inputs");
    if ((op.place == PlanPlace::follows) != below.has_value()) {
      refuse(line, op.place == PlanPlace::follows ? fmt::format("{} needs a step before it", op.name)
                                                  : fmt::format("{} must be the first step of its chain", op.name));
    }
    if (op.place != PlanPlace::joins) {
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

  Built step(const PlanTable& table, int64_t header, const std::optional<Built>& below) {
    check_keys(table, kStepKeys, "a step has ");
    const PlanOperator& op = operator_of(table, header);
    const int64_t line = find(table, "op")->line;
    check_policy(table);
    const PlanValue* const said = find(table, "args");
    const PlanArguments args(path_, line, op.name, said, op.arguments);
    PlanStep made{args, text(table, "name"), {}};
    const size_t operators = inputs_of(op, table, line, below, made.inputs);
    if (operators > kMostOperators) refuse(line, fmt::format("more than {} operators", kMostOperators));
    try {
      const Dataset dataset = op.build(made);
      return {dataset, operators + (below ? added(dataset, below->dataset) : 1 + made.inputs.size())};
    } catch (const PlanError&) {
      throw;
    } catch (const Exception& error) {
      const auto* const given = said == nullptr ? nullptr : said->as<PlanTable>();
      const bool is_one = given != nullptr && given->size() == 1;
      const Error& why = error.error();
      refuse(
          is_one            ? given->front().second.line
          : said != nullptr ? said->line
                            : line,
          why.kind() == ErrorKind::InvalidArgument ? why.message() : fmt::format("{}: {}", op.name, why.to_string()));
    }
  }

  const PlanTable& file_;
  const std::string path_;
  const PlanTable* chains_ = nullptr;
  std::map<std::string, Built> built_;
  std::vector<std::string> open_;  // Chains under construction, outermost first.
  size_t steps_ = 0;
};

}  // namespace

PlanFile parse_plan(std::string_view text, const std::string& path) {
  const PlanValue whole = parse_toml(text, path);
  Reader reader(*whole.as<PlanTable>(), path);
  const auto seed = reader.seed();
  return {reader.dataset(), seed};
}

PlanFile read_plan_file(const std::string& path) {
  const auto bytes = read_file(path, kMostBytes);
  if (!bytes) throw PlanError(path, 0, without_path(bytes.error().message(), path));
  return parse_plan({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, path);
}

}  // namespace headpond::cli
