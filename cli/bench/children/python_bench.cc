// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/children/python_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "cli/bench/children/child_process.h"
#include "cli/bench/temp_folder.h"

namespace headpond::cli {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

constexpr double kMeasureSeconds = 3, kLeastSeconds = 0.02;
// A folder of the working directory is no package.
constexpr const char* kFind =
    "import importlib.util as u, sys; sys.path = [one for one in sys.path if one]; s = u.find_spec('headpond'); "
    "print(s.submodule_search_locations[0] if s is not None and s.origin is not None else '')";

Words split(std::string_view text, char at) {
  Words words;
  while (true) {
    const size_t end = text.find(at);
    words.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> number(const std::string& text) {
  double found = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && std::isfinite(found);
  return is_number ? std::optional(found) : std::nullopt;
}

// One of those that take turns.
struct System {
  std::string id, name, module, version, python;
  bool is_peer = false;
  size_t cpus = 0;  // So many, no more and no fewer.
  bool is_installed() const { return !python.empty(); }
};

struct Target {
  std::string id, text, by;  // by: "value", or "times" or "more" than another row.
  bool at_least = false;
  double bound = 0;
  Words rows;  // Of one or two.
};

// What the package says of a bench.
struct Description {
  int64_t rounds = 0;
  std::vector<System> systems;
  std::vector<std::pair<std::string, BenchRow>> rows;  // By "system/figure".
  std::vector<Target> targets;

  System* system(const std::string& id) {
    const auto found = std::ranges::find(systems, id, &System::id);
    return found == systems.end() ? nullptr : &*found;
  }
  // False: it is none that is known.
  bool take(const Words& words);
};

bool Description::take(const Words& words) {
  const size_t count = words.size();
  if (words[0] == "rounds" && count == 2) {
    rounds = static_cast<int64_t>(number(words[1]).value_or(0));
  } else if (words[0] == "system" && count == 7) {
    const auto cpus = static_cast<size_t>(std::max(number(words[5]).value_or(0), 0.0));
    systems.push_back({words[1], words[2], words[3], words[6], "", words[4] == "peer", cpus});
    return cpus > 0;
  } else if (words[0] == "figure" && count == 7) {
    BenchRow row{.name = words[3], .metric = words[4], .unit = words[5], .lower_is_better = words[6] == "lower"};
    rows.emplace_back(words[1] + "/" + words[2], std::move(row));
    return system(words[1]) != nullptr;
  } else if (words[0] == "target" && (count == 7 || count == 8)) {
    const auto bound = number(words[5]);
    targets.push_back(
        {words[1], words[2], words[3], words[4] == ">=", bound.value_or(0), {words.begin() + 6, words.end()}});
    return bound.has_value();
  } else {
    return false;
  }
  return true;
}

Error not_understood(const std::string& program, const std::string& line) {
  return {ErrorKind::FailedPrecondition, fmt::format("{}: it says '{}', which is not understood", program, line)};
}

Result<Description> described(const std::string& python, const std::string& program, const std::string& bench,
                              const std::stop_token& stop) {
  const auto said = run_child({python, program, "describe", bench}, stop, 120s);
  if (!said) return fail(said.error());
  Description all;
  for (const std::string& line : split(said->text, '\n')) {
    if (!line.empty() && !all.take(split(line, '\t'))) return fail(not_understood(program, line));
  }
  if (all.rounds < 1 || all.rows.empty()) return fail(not_understood(program, said->text));
  return all;
}

// Unimplemented: it has none.
Result<std::string> program_of(const PythonSetup& setup, const std::string& bench) {
  const auto found = run_child({setup.python, "-c", kFind}, setup.stop, 60s);
  if (!found && found.error().kind() == ErrorKind::Cancelled) return fail(found.error());
  const std::string folder = found ? found->text.substr(0, found->text.find('\n')) : "";
  const std::filesystem::path program = std::filesystem::path(folder) / "bench" / "benches.py";
  std::error_code ignored;
  if (!folder.empty() && std::filesystem::exists(program, ignored)) return program.string();
  return fail(
      ErrorKind::Unimplemented,
      fmt::format("bench {}: needs the Python package headpond, which {} does not have: `pip install .` in a clone, or "
                  "--python PROGRAM{}",
                  bench, setup.python, found ? "" : fmt::format(" ({})", found.error().message())));
}

// Which Python measures each, in the order of preference.
Result<void> find_systems(Description& all, const PythonSetup& setup, const std::string& program,
                          const std::string& bench) {
  for (System& system : all.systems) system.python = system.version.empty() ? "" : setup.python;
  const auto lacks = [](const System& system) { return system.is_peer && !system.is_installed(); };
  if (!setup.peers || setup.peer_python.empty() || std::ranges::none_of(all.systems, lacks)) return {};
  const auto others = described(setup.peer_python, program, bench, setup.stop);
  if (!others) return fail(others.error());
  for (const System& other : others->systems) {
    System* const system = all.system(other.id);
    if (system == nullptr || system->is_installed() || other.version.empty()) continue;
    system->version = other.version;
    system->python = setup.peer_python;
  }
  return {};
}

// Measures the rows of a bench.
class Measuring {
 public:
  Measuring(const PythonSetup& setup, std::string program)
      : program_(std::move(program)), cpus_(setup.cpus), folder_("bench-python") {}

  void add(const System& system, std::vector<std::string> figures) { parts_.push_back({system, std::move(figures)}); }
  // A round of all that were added takes about so long; 0: as long as is good.
  void set_round(double seconds) {
    const double share = seconds / static_cast<double>(std::max(parts_.size(), size_t{1}));
    seconds_ = seconds > 0 ? std::clamp(share, kLeastSeconds, kMeasureSeconds) : kMeasureSeconds;
  }

  Result<std::vector<BenchSample>> cycle(const std::stop_token& stop) {
    std::vector<BenchSample> samples;
    for (const Part& part : parts_) HEADPOND_TRY(measure(part, stop, samples));
    return samples;
  }

 private:
  struct Part {
    System system;
    std::vector<std::string> figures;
  };

  Result<void> measure(const Part& part, const std::stop_token& stop, std::vector<BenchSample>& samples) {
    const System& system = part.system;
    const std::chrono::milliseconds most = 120s + std::chrono::milliseconds(static_cast<int64_t>(20'000 * seconds_));
    const auto done = run_child({system.python, program_, "measure", system.id, fmt::format("{}", seconds_),
                                 fmt::format("{}", fmt::join(std::span(cpus_).first(system.cpus), ",")), folder_.path},
                                stop, most);
    if (!done) return fail(done.error().kind(), fmt::format("{}: {}", system.id, done.error().message()));
    std::map<std::string, double> found;
    for (const std::string& line : split(done->text, '\n')) {  // Peers write there, too.
      const Words words = split(line, '\t');
      if (words.size() == 3 && words[0] == "figure") found[words[1]] = number(words[2]).value_or(0);
    }
    double cpu_s = done->cpu_s;
    for (const std::string& figure : part.figures) {
      if (found[figure] <= 0) return fail(not_understood(program_, done->text));
      samples.push_back(
          {found[figure], std::exchange(cpu_s, 0), found["pss_mib"]});  // The time with the first of them.
    }
    return {};
  }

  const std::string program_;
  const std::vector<int> cpus_;
  const TempFolder folder_;
  double seconds_ = kMeasureSeconds;
  std::vector<Part> parts_;
};

double target_value(const BenchResult& result, const std::string& by, size_t row, size_t other) {
  std::vector<double> values;
  for (const BenchRound& round : result.rounds) {
    const double a = round.values[row], b = round.values[other];
    values.push_back(by == "times" ? a / b : by == "more" ? a - b : a);
  }
  return median(std::move(values));
}

void add_targets(Bench& bench, const std::vector<Target>& targets, const std::map<std::string, size_t>& places) {
  for (const Target& target : targets) {
    const auto is_known = [&](const std::string& row) { return places.contains(row); };
    if (!std::ranges::all_of(target.rows, is_known)) continue;  // Its system is not measured.
    const size_t row = places.at(target.rows.front()), other = places.at(target.rows.back());
    bench.targets.push_back(
        {target.id, target.text, target.at_least, target.bound,
         [by = target.by, row, other](const BenchResult& result) { return target_value(result, by, row, other); }});
  }
}

// How many times better ours is in each case that others have, too.
void add_ratios(Bench& bench) {
  for (size_t of = 0; of < bench.rows.size(); ++of) {
    if (bench.rows[of].system != "headpond") continue;
    for (size_t to = 0; to < bench.rows.size(); ++to) {
      const BenchRow &a = bench.rows[of], &b = bench.rows[to];
      if (to != of && a.name == b.name && a.metric == b.metric) bench.ratios.push_back({of, to});
    }
  }
}

// The rows in the order of the systems that are installed.
std::map<std::string, size_t> add_rows(Bench& bench, const Description& all, const PythonSetup& setup,
                                       Measuring& measuring) {
  std::map<std::string, size_t> places;
  for (const System& system : all.systems) {
    if (system.is_peer && !setup.peers) continue;
    if (!system.is_installed()) {
      if (setup.say) setup.say(fmt::format("{}: {} is not installed", bench.name, system.name));
      continue;
    }
    if (system.cpus > setup.cpus.size()) {
      if (setup.say) setup.say(fmt::format("{}: {} needs {} CPUs", bench.name, system.id, system.cpus));
      continue;
    }
    Words figures;
    for (const auto& [id, row] : all.rows) {
      if (!id.starts_with(system.id + "/")) continue;
      places[id] = bench.rows.size();
      BenchRow added = row;
      added.system = system.name;
      added.system_version = system.version;
      added.params = {{"cpus", static_cast<int64_t>(system.cpus)}, {"module", system.module}};
      bench.rows.push_back(std::move(added));
      figures.push_back(id.substr(system.id.size() + 1));
    }
    measuring.add(system, std::move(figures));
  }
  return places;
}

}  // namespace

Result<Bench> python_bench(const std::string& name, const PythonSetup& setup) {
  const auto program = program_of(setup, name);
  if (!program) return fail(program.error());
  auto all = described(setup.python, *program, name, setup.stop);
  if (!all) return fail(all.error());
  HEADPOND_TRY(find_systems(*all, setup, *program, name));
  const auto rounds = static_cast<double>(setup.rounds > 0 ? setup.rounds : all->rounds);
  const auto measuring = std::make_shared<Measuring>(setup, *program);
  Bench bench{.name = name, .rounds = all->rounds};
  const auto places = add_rows(bench, *all, setup, *measuring);
  if (bench.rows.empty())
    return fail(ErrorKind::Unimplemented, fmt::format("bench {}: needs more CPUs than it may use", name));
  measuring->set_round(setup.seconds / rounds);
  add_ratios(bench);
  add_targets(bench, all->targets, places);
  bench.cycle = [measuring](const std::stop_token& stop) { return measuring->cycle(stop); };
  return bench;
}

}  // namespace headpond::cli
