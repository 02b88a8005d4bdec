// SPDX-License-Identifier: Apache-2.0
// Runs one acceptance scenario in one mode and prints its figures as one JSON object. On two processors, as all bounds
// are for.
//
//   headpond_scenarios NUMBER MODE [--full] [--place FOLDER] [--with NAME=VALUE]...
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <map>
#include <span>

#include "headpond/base/cpu.h"
#include "scenario.h"

namespace hs = headpond::scenarios;

namespace {

using Scenario = void (*)(const hs::Run&, headpond::JsonWriter&);
const std::map<int, Scenario> kScenarios = {
    {1, hs::overlap},         {2, hs::starved_trainer}, {3, hs::shuffle_quality},   {4, hs::memory_ceiling},
    {7, hs::epoch_edge},      {8, hs::first_batch},     {9, hs::exact_resume},      {10, hs::any_workers},
    {11, hs::random_streams}, {12, hs::damaged_files},  {13, hs::errors_and_stops}, {14, hs::slow_sample},
    {16, hs::uneven_shards},  {17, hs::token_budget},   {18, hs::cache_life},       {19, hs::true_lengths},
    {20, hs::train_from_cpp},
};

int usage() {
  std::cerr << "headpond_scenarios NUMBER ours|control|... [--full] [--place FOLDER] [--with NAME=VALUE]...\n";
  return 2;
}

// False: usage.
bool read_flags(std::span<char*> flags, hs::Run& run) {
  for (size_t i = 0; i < flags.size(); ++i) {
    const std::string flag = flags[i];
    if (flag == "--full") {
      run.full = true;
      continue;
    }
    if ((flag != "--place" && flag != "--with") || i + 1 == flags.size()) return false;
    const std::string value = flags[++i];
    if (flag == "--place") {
      run.place = value;
    } else {
      const size_t equals = value.find('=');
      if (equals == std::string::npos) return false;
      run.values[value.substr(0, equals)] = value.substr(equals + 1);
    }
  }
  return true;
}

int run(int argc, char** argv) {
  if (argc < 3) return usage();
  const auto scenario = kScenarios.find(std::atoi(argv[1]));
  if (scenario == kScenarios.end()) return usage();
  hs::Run run{.mode = argv[2]};
  if (!read_flags(std::span(argv, static_cast<size_t>(argc)).subspan(3), run)) return usage();
  auto cpus = headpond::allowed_cpus();
  cpus.resize(std::min<size_t>(cpus.size(), 2));
  headpond::pin_this_thread(cpus);
  headpond::JsonWriter figures;
  figures.begin_object();
  scenario->second(run, figures);
  figures.end_object();
  std::cout << figures.text() << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const headpond::Exception& error) {
    std::cerr << "headpond_scenarios: " << error.what() << '\n';
    return error.error().kind() == headpond::ErrorKind::Unimplemented ? 77 : 1;  // 77: not built in, as JPEG may be.
  } catch (const std::exception& error) {
    std::cerr << "headpond_scenarios: " << error.what() << '\n';
    return 1;
  }
}
