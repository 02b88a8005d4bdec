// SPDX-License-Identifier: Apache-2.0
// Runs one acceptance scenario in one mode and prints its figures as one JSON object. On two processors, as all bounds
// are for.
//
//   headpond_scenarios NUMBER MODE [--full] [--place FOLDER]
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <map>

#include "headpond/base/cpu.h"
#include "scenario.h"

namespace hs = headpond::scenarios;

namespace {

using Scenario = void (*)(const hs::Run&, headpond::JsonWriter&);
const std::map<int, Scenario> kScenarios = {
    {1, hs::overlap},         {3, hs::shuffle_quality},   {7, hs::epoch_edge},   {10, hs::any_workers},
    {11, hs::random_streams}, {13, hs::errors_and_stops}, {14, hs::slow_sample},
};

int usage() {
  std::cerr << "headpond_scenarios NUMBER ours|control|... [--full] [--place FOLDER]\n";
  return 2;
}

int run(int argc, char** argv) {
  if (argc < 3) return usage();
  const auto scenario = kScenarios.find(std::atoi(argv[1]));
  if (scenario == kScenarios.end()) return usage();
  hs::Run run{.mode = argv[2]};
  for (int i = 3; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--full") {
      run.full = true;
    } else if (flag == "--place" && i + 1 < argc) {
      run.place = argv[++i];
    } else {
      return usage();
    }
  }
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
  } catch (const std::exception& error) {
    std::cerr << "headpond_scenarios: " << error.what() << '\n';
    return 1;
  }
}
