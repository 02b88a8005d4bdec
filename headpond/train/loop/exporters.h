// SPDX-License-Identifier: Apache-2.0
// Exporters keep models of a training under names, after its evaluations: "<model_dir>/export/<name>/<step>/model.pt".
// A disk that fails is a warning, and the training goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/train/loop/hook.h"

namespace headpond {

/// A model that may be exported.
struct ExportRequest {
  std::string model_dir;
  std::function<std::string_view()> model;  ///< The bytes of "model.pt", valid during take(); "": there is none.
  const Evaluation& evaluation;
  bool is_last = false;  ///< The training has ended.
};

/// One thread: that of the training.
class Exporter {
 public:
  Exporter() = default;
  virtual ~Exporter() = default;
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;
  virtual std::string_view name() const = 0;
  /// The path that was written; nothing if this one is not exported.
  virtual Result<std::optional<std::string>> take(const ExportRequest& request) = 0;
  virtual void visit_state(HookState&) {}
};

struct LatestExporterOptions {
  std::string name = "latest";
  int64_t keep = 5;  ///< Exports kept; older ones are removed, those of later steps are another run's and stay.
};
/// Each evaluation's model.
std::shared_ptr<Exporter> latest_exporter(const LatestExporterOptions& options = {});

struct BestExporterOptions {
  std::string name = "best";
  std::string metric = "loss";
  bool larger_is_better = false;
  int64_t keep = 5;
};
/// The models that were better than all before them; the best value is in checkpoints. A metric of no samples is no
/// better one. InvalidArgument for an evaluation without the metric.
std::shared_ptr<Exporter> best_exporter(const BestExporterOptions& options = {});

/// The model at the end of the training.
std::shared_ptr<Exporter> final_exporter(const std::string& name = "final");

}  // namespace headpond
