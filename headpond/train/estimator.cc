// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/estimator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <c10/util/Type.h>

#include <cstring>
#include <sstream>
#include <utility>

#include "headpond/train/torch_error_internal.h"

namespace headpond {
namespace {

constexpr const char* kModel = "model.pt";
constexpr const char* kOptimizer = "optimizer.pt";
constexpr const char* kRandom = "random.bin";

constexpr const char* kKind = "headpond.optimizer";  // In its archive; those of before have none.

std::string kind_of(const torch::optim::Optimizer& optimizer) { return c10::demangle(typeid(optimizer).name()); }

void add_kind(torch::serialize::OutputArchive&, const torch::nn::Module&) {}
void add_kind(torch::serialize::OutputArchive& archive, const torch::optim::Optimizer& optimizer) {
  archive.write(kKind, c10::IValue(kind_of(optimizer)));
}
void check_kind(torch::serialize::InputArchive&, const torch::nn::Module&) {}
// An archive of another kind cannot be read, or is taken for what it is not.
void check_kind(torch::serialize::InputArchive& archive, const torch::optim::Optimizer& optimizer) {
  c10::IValue saved;
  if (!archive.try_read(kKind, saved) || saved.toStringRef() == kind_of(optimizer)) return;
  throw Exception(Error(ErrorKind::FailedPrecondition, "the checkpoint is of the optimizer " + saved.toStringRef() +
                                                           ", and here it is " + kind_of(optimizer)));
}

template <class Value>
std::string saved(const Value& value) {
  torch::serialize::OutputArchive archive;
  value.save(archive);
  add_kind(archive, value);
  std::ostringstream out;
  archive.save_to(out);
  return std::move(out).str();
}

template <class Value>
void load(Value& value, const std::string& bytes) {
  torch::serialize::InputArchive archive;
  archive.load_from(bytes.data(), bytes.size());
  check_kind(archive, value);
  value.load(archive);
}

torch::Tensor random_state() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return generator.get_state();
}

void set_random_state(const torch::Tensor& state) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(state);
}

// NumPy's name, which is the same in any version of libtorch; libtorch's where NumPy has none.
std::string name_of(torch::ScalarType type) {
  switch (type) {
    case torch::kBool:
      return "bool";
    case torch::kUInt8:
      return "uint8";
    case torch::kInt8:
      return "int8";
    case torch::kInt16:
      return "int16";
    case torch::kInt32:
      return "int32";
    case torch::kInt64:
      return "int64";
    case torch::kFloat16:
      return "float16";
    case torch::kFloat32:
      return "float32";
    case torch::kFloat64:
      return "float64";
    default:
      return torch::toString(type);
  }
}

std::string described(const std::string& name, const torch::Tensor& tensor) {
  std::string text = name + " " + name_of(tensor.scalar_type()) + " [";
  for (const int64_t size : tensor.sizes()) text += std::to_string(size) + ",";
  if (text.back() == ',') text.pop_back();
  return text + "]";
}

// What `call` gives. An error of libtorch is thrown without its stack.
template <class Call>
auto without_stack(const Call& call) try {
  return call();
} catch (const c10::Error&) {
  throw Exception(internal::torch_exception_error());
}

class TorchLearner final : public Learner {
 public:
  explicit TorchLearner(EstimatorOptions options) : options_(std::move(options)) {}
  const RunConfig& config() const { return options_.config; }

  Step train(const Batch& batch) override {
    return without_stack([&] { return step(batch); });
  }
  Step evaluate(const Batch& batch) override {
    const torch::NoGradGuard no_grad;
    return without_stack([&]() -> Step {
      StepOutput output = output_of(batch, Mode::eval);
      return {output.loss.item<double>(), std::move(output.metrics)};
    });
  }
  void begin_evaluation() override {
    random_ = random_state();
    options_.model->eval();
  }
  void end_evaluation() override {
    options_.model->train();
    set_random_state(random_);
  }

  std::vector<std::string> parameters() const override {
    std::vector<std::string> all;
    for (const auto& parameter : options_.model->named_parameters())
      all.push_back(described(parameter.key(), parameter.value()));
    for (const auto& buffer : options_.model->named_buffers()) all.push_back(described(buffer.key(), buffer.value()));
    return all;
  }
  std::map<std::string, std::string> save() const override {
    return without_stack([&] { return files(); });
  }
  void restore(const std::map<std::string, std::string>& files) override {
    without_stack([&] { load_all(files); });
  }
  std::string version() const override { return TORCH_VERSION; }

 private:
  StepOutput output_of(const Batch& batch, Mode mode) {
    StepOutput output = options_.step(value_or_throw(as_torch(batch)), mode);
    if (!output.loss.defined() || output.loss.numel() != 1)
      throw Exception(Error(ErrorKind::InvalidArgument, "Estimator: the step must give a loss of one value"));
    return output;
  }
  Step step(const Batch& batch) {
    options_.model->train();
    options_.optimizer.zero_grad();
    StepOutput output = output_of(batch, Mode::train);
    output.loss.backward();
    options_.optimizer.step();
    return {output.loss.item<double>(), std::move(output.metrics)};
  }

  std::map<std::string, std::string> files() const {
    const torch::Tensor random = random_state();
    return {{kModel, saved(*options_.model)},
            {kOptimizer, saved(options_.optimizer)},
            {kRandom, std::string(static_cast<const char*>(random.data_ptr()), random.nbytes())}};
  }
  void load_all(const std::map<std::string, std::string>& files) {
    for (const char* const name : {kModel, kOptimizer, kRandom}) {
      if (!files.contains(name))
        throw Exception(Error(ErrorKind::FailedPrecondition, std::string("the checkpoint has no ") + name));
    }
    load(options_.optimizer, files.at(kOptimizer));  // First: it may be refused.
    load(*options_.model, files.at(kModel));
    const std::string& bytes = files.at(kRandom);
    const torch::Tensor random = torch::empty({static_cast<int64_t>(bytes.size())}, torch::kU8);
    std::memcpy(random.data_ptr(), bytes.data(), bytes.size());
    set_random_state(random);
  }

  EstimatorOptions options_;
  torch::Tensor random_;
};

}  // namespace

struct Estimator::State {
  explicit State(EstimatorOptions options) : learner(std::move(options)) {}
  TorchLearner learner;
  TrainingReport report;
};

Estimator::Estimator(EstimatorOptions options) {
  if (!options.step) throw Exception(Error(ErrorKind::InvalidArgument, "Estimator: it has no step"));
  if (!options.model) throw Exception(Error(ErrorKind::InvalidArgument, "Estimator: it has no model"));
  state_ = std::make_unique<State>(std::move(options));
}
Estimator::~Estimator() = default;
const RunConfig& Estimator::config() const { return state_->learner.config(); }
const TrainingReport& Estimator::report() const { return state_->report; }

Result<TrainingResult> train_and_evaluate(Estimator& estimator, const TrainSpec& train, const EvalSpec& eval) {
  Estimator::State& state = *estimator.state_;
  return train_and_evaluate(state.learner, state.learner.config(), train, eval, &state.report);
}

}  // namespace headpond
