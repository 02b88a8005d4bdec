// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/channels.h"
#include "headpond/codec/sound/level/level_internal.h"
#include "headpond/codec/sound/level/level_kernels.h"

namespace headpond {
namespace {

class Mono final : public Kernel {
 public:
  Mono() : Kernel({.title = "mono", .result = one_channel}) {}

  Result<void> run(KernelCall& call) const override {
    const Tensor& in = call.in();
    if (in.dim(1) == 0) return fail(ErrorKind::InvalidArgument, "mono: the sound has no channels");
    const auto to = call.make<float>(0, {in.dim(0), 1});
    mean_of_channels(in.as<float>(), static_cast<size_t>(in.dim(1)), to);
    return {};
  }

 private:
  static Spec one_channel(Spec spec) {
    sound_internal::require_sound(spec, "mono", 2);
    spec[0].shape = {spec[0].shape[0], 1};
    return spec;
  }
};

}  // namespace

KernelRef mono() { return std::make_shared<Mono>(); }

}  // namespace headpond
