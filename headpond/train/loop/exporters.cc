// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/loop/exporters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "headpond/base/log.h"
#include "headpond/io/file/file.h"

namespace headpond {
namespace {

namespace fs = std::filesystem;

const std::string& checked(const std::string& name) {
  if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos)
    throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("an exporter cannot be named '{}'", name)));
  return name;
}

Result<std::string> write_model(const ExportRequest& request, const std::string& name, std::string_view model) {
  const std::string folder = fmt::format("{}/export/{}/{}", request.model_dir, name, request.evaluation.step);
  HEADPOND_TRY(make_folders(folder));
  std::string path = folder + "/model.pt";
  const auto bytes = std::as_bytes(std::span(model));
  HEADPOND_TRY(write_file_atomically(path, {bytes}));
  return path;
}

std::optional<std::string> write(const ExportRequest& request, const std::string& name) {
  const std::string_view model = request.model();
  if (model.empty()) return std::nullopt;
  auto written = write_model(request, name, model);
  if (written) return std::move(*written);
  log(LogLevel::warning, fmt::format("exporter {}: {}", name, written.error().message()));
  return std::nullopt;
}

// Removes all but `keep` of the exports up to this step.
void remove_old(const ExportRequest& request, const std::string& name, int64_t keep) {
  std::vector<std::pair<int64_t, fs::path>> all;
  std::error_code error;
  for (fs::directory_iterator at(fmt::format("{}/export/{}", request.model_dir, name), error), end; !error && at != end;
       at.increment(error)) {
    const std::string step = at->path().filename().string();
    int64_t number = -1;
    const bool is_step =
        std::from_chars(step.data(), step.data() + step.size(), number).ptr == step.data() + step.size();
    if (is_step && number <= request.evaluation.step) all.emplace_back(number, at->path());
  }
  std::sort(all.begin(), all.end());
  const auto newest = static_cast<size_t>(std::max<int64_t>(keep, 1));
  for (size_t i = 0; i + newest < all.size(); ++i) fs::remove_all(all[i].second, error);
}

class Latest final : public Exporter {
 public:
  explicit Latest(LatestExporterOptions options) : options_(std::move(options)) { checked(options_.name); }
  std::string_view name() const override { return options_.name; }
  Result<std::optional<std::string>> take(const ExportRequest& request) override {
    auto written = write(request, options_.name);
    if (written) remove_old(request, options_.name, options_.keep);
    return written;
  }

 private:
  const LatestExporterOptions options_;
};

class Best final : public Exporter {
 public:
  explicit Best(BestExporterOptions options) : options_(std::move(options)) { checked(options_.name); }
  std::string_view name() const override { return options_.name; }
  Result<std::optional<std::string>> take(const ExportRequest& request) override {
    const Metrics& metrics = request.evaluation.metrics;
    const auto found = metrics.find(options_.metric);
    if (found == metrics.end())
      return fail(ErrorKind::InvalidArgument, fmt::format("exporter {}: no metric '{}'", name(), options_.metric));
    if (found->second.count == 0) return std::optional<std::string>();
    const double value = options_.larger_is_better ? -found->second.value() : found->second.value();
    if (!(value < best_)) return std::optional<std::string>();
    auto written = write(request, options_.name);
    if (written) best_ = value;
    remove_old(request, options_.name, options_.keep);
    return written;
  }
  void visit_state(HookState& state) override { state.visit("best", best_); }

 private:
  const BestExporterOptions options_;
  double best_ = std::numeric_limits<double>::infinity();
};

class Final final : public Exporter {
 public:
  explicit Final(std::string name) : name_(std::move(name)) { checked(name_); }
  std::string_view name() const override { return name_; }
  Result<std::optional<std::string>> take(const ExportRequest& request) override {
    if (!request.is_last) return std::optional<std::string>();
    return write(request, name_);
  }

 private:
  const std::string name_;
};

}  // namespace

std::shared_ptr<Exporter> latest_exporter(const LatestExporterOptions& options) {
  return std::make_shared<Latest>(options);
}
std::shared_ptr<Exporter> best_exporter(const BestExporterOptions& options) { return std::make_shared<Best>(options); }
std::shared_ptr<Exporter> final_exporter(const std::string& name) { return std::make_shared<Final>(name); }

}  // namespace headpond
