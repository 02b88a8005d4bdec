// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/policy/policy_ops_internal.h"

namespace headpond::policy_internal {
namespace {

constexpr std::array<SubPolicy, 25> kImagenet = {{
    {{{PolicyOp::posterize, 0.4, 8}, {PolicyOp::rotate, 0.6, 9}}},
    {{{PolicyOp::solarize, 0.6, 5}, {PolicyOp::autocontrast, 0.6, 0}}},
    {{{PolicyOp::equalize, 0.8, 0}, {PolicyOp::equalize, 0.6, 0}}},
    {{{PolicyOp::posterize, 0.6, 7}, {PolicyOp::posterize, 0.6, 6}}},
    {{{PolicyOp::equalize, 0.4, 0}, {PolicyOp::solarize, 0.2, 4}}},
    {{{PolicyOp::equalize, 0.4, 0}, {PolicyOp::rotate, 0.8, 8}}},
    {{{PolicyOp::solarize, 0.6, 3}, {PolicyOp::equalize, 0.6, 0}}},
    {{{PolicyOp::posterize, 0.8, 5}, {PolicyOp::equalize, 1.0, 0}}},
    {{{PolicyOp::rotate, 0.2, 3}, {PolicyOp::solarize, 0.6, 8}}},
    {{{PolicyOp::equalize, 0.6, 0}, {PolicyOp::posterize, 0.4, 6}}},
    {{{PolicyOp::rotate, 0.8, 8}, {PolicyOp::color, 0.4, 0}}},
    {{{PolicyOp::rotate, 0.4, 9}, {PolicyOp::equalize, 0.6, 0}}},
    {{{PolicyOp::equalize, 0, 0}, {PolicyOp::equalize, 0.8, 0}}},
    {{{PolicyOp::invert, 0.6, 0}, {PolicyOp::equalize, 1.0, 0}}},
    {{{PolicyOp::color, 0.6, 4}, {PolicyOp::contrast, 1.0, 8}}},
    {{{PolicyOp::rotate, 0.8, 8}, {PolicyOp::color, 1.0, 2}}},
    {{{PolicyOp::color, 0.8, 8}, {PolicyOp::solarize, 0.8, 7}}},
    {{{PolicyOp::sharpness, 0.4, 7}, {PolicyOp::invert, 0.6, 0}}},
    {{{PolicyOp::shear_x, 0.6, 5}, {PolicyOp::equalize, 1.0, 0}}},
    {{{PolicyOp::color, 0.4, 0}, {PolicyOp::equalize, 0.6, 0}}},
    {{{PolicyOp::equalize, 0.4, 0}, {PolicyOp::solarize, 0.2, 4}}},
    {{{PolicyOp::solarize, 0.6, 5}, {PolicyOp::autocontrast, 0.6, 0}}},
    {{{PolicyOp::invert, 0.6, 0}, {PolicyOp::equalize, 1.0, 0}}},
    {{{PolicyOp::color, 0.6, 4}, {PolicyOp::contrast, 1.0, 8}}},
    {{{PolicyOp::equalize, 0.8, 0}, {PolicyOp::equalize, 0.6, 0}}},
}};

constexpr std::array<SubPolicy, 25> kCifar10 = {{
    {{{PolicyOp::invert, 0.1, 0}, {PolicyOp::contrast, 0.2, 6}}},
    {{{PolicyOp::rotate, 0.7, 2}, {PolicyOp::translate_x, 0.3, 9}}},
    {{{PolicyOp::sharpness, 0.8, 1}, {PolicyOp::sharpness, 0.9, 3}}},
    {{{PolicyOp::shear_y, 0.5, 8}, {PolicyOp::translate_y, 0.7, 9}}},
    {{{PolicyOp::autocontrast, 0.5, 0}, {PolicyOp::equalize, 0.9, 0}}},
    {{{PolicyOp::shear_y, 0.2, 7}, {PolicyOp::posterize, 0.3, 7}}},
    {{{PolicyOp::color, 0.4, 3}, {PolicyOp::brightness, 0.6, 7}}},
    {{{PolicyOp::sharpness, 0.3, 9}, {PolicyOp::brightness, 0.7, 9}}},
    {{{PolicyOp::equalize, 0.6, 0}, {PolicyOp::equalize, 0.5, 0}}},
    {{{PolicyOp::contrast, 0.6, 7}, {PolicyOp::sharpness, 0.6, 5}}},
    {{{PolicyOp::color, 0.7, 7}, {PolicyOp::translate_x, 0.5, 8}}},
    {{{PolicyOp::equalize, 0.3, 0}, {PolicyOp::autocontrast, 0.4, 0}}},
    {{{PolicyOp::translate_y, 0.4, 3}, {PolicyOp::sharpness, 0.2, 6}}},
    {{{PolicyOp::brightness, 0.9, 6}, {PolicyOp::color, 0.2, 8}}},
    {{{PolicyOp::solarize, 0.5, 2}, {PolicyOp::invert, 0, 0}}},
    {{{PolicyOp::equalize, 0.2, 0}, {PolicyOp::autocontrast, 0.6, 0}}},
    {{{PolicyOp::equalize, 0.2, 0}, {PolicyOp::equalize, 0.6, 0}}},
    {{{PolicyOp::color, 0.9, 9}, {PolicyOp::equalize, 0.6, 0}}},
    {{{PolicyOp::autocontrast, 0.8, 0}, {PolicyOp::solarize, 0.2, 8}}},
    {{{PolicyOp::brightness, 0.1, 3}, {PolicyOp::color, 0.7, 0}}},
    {{{PolicyOp::solarize, 0.4, 5}, {PolicyOp::autocontrast, 0.9, 0}}},
    {{{PolicyOp::translate_y, 0.9, 9}, {PolicyOp::translate_y, 0.7, 9}}},
    {{{PolicyOp::autocontrast, 0.9, 0}, {PolicyOp::solarize, 0.8, 3}}},
    {{{PolicyOp::equalize, 0.8, 0}, {PolicyOp::invert, 0.1, 0}}},
    {{{PolicyOp::translate_y, 0.7, 9}, {PolicyOp::autocontrast, 0.9, 0}}},
}};

constexpr std::array<SubPolicy, 25> kSvhn = {{
    {{{PolicyOp::shear_x, 0.9, 4}, {PolicyOp::invert, 0.2, 0}}},
    {{{PolicyOp::shear_y, 0.9, 8}, {PolicyOp::invert, 0.7, 0}}},
    {{{PolicyOp::equalize, 0.6, 0}, {PolicyOp::solarize, 0.6, 6}}},
    {{{PolicyOp::invert, 0.9, 0}, {PolicyOp::equalize, 0.6, 0}}},
    {{{PolicyOp::equalize, 0.6, 0}, {PolicyOp::rotate, 0.9, 3}}},
    {{{PolicyOp::shear_x, 0.9, 4}, {PolicyOp::autocontrast, 0.8, 0}}},
    {{{PolicyOp::shear_y, 0.9, 8}, {PolicyOp::invert, 0.4, 0}}},
    {{{PolicyOp::shear_y, 0.9, 5}, {PolicyOp::solarize, 0.2, 6}}},
    {{{PolicyOp::invert, 0.9, 0}, {PolicyOp::autocontrast, 0.8, 0}}},
    {{{PolicyOp::equalize, 0.6, 0}, {PolicyOp::rotate, 0.9, 3}}},
    {{{PolicyOp::shear_x, 0.9, 4}, {PolicyOp::solarize, 0.3, 3}}},
    {{{PolicyOp::shear_y, 0.8, 8}, {PolicyOp::invert, 0.7, 0}}},
    {{{PolicyOp::equalize, 0.9, 0}, {PolicyOp::translate_y, 0.6, 6}}},
    {{{PolicyOp::invert, 0.9, 0}, {PolicyOp::equalize, 0.6, 0}}},
    {{{PolicyOp::contrast, 0.3, 3}, {PolicyOp::rotate, 0.8, 4}}},
    {{{PolicyOp::invert, 0.8, 0}, {PolicyOp::translate_y, 0, 2}}},
    {{{PolicyOp::shear_y, 0.7, 6}, {PolicyOp::solarize, 0.4, 8}}},
    {{{PolicyOp::invert, 0.6, 0}, {PolicyOp::rotate, 0.8, 4}}},
    {{{PolicyOp::shear_y, 0.3, 7}, {PolicyOp::translate_x, 0.9, 3}}},
    {{{PolicyOp::shear_x, 0.1, 6}, {PolicyOp::invert, 0.6, 0}}},
    {{{PolicyOp::solarize, 0.7, 2}, {PolicyOp::translate_y, 0.6, 7}}},
    {{{PolicyOp::shear_y, 0.8, 4}, {PolicyOp::invert, 0.8, 0}}},
    {{{PolicyOp::shear_x, 0.7, 9}, {PolicyOp::translate_y, 0.8, 3}}},
    {{{PolicyOp::shear_y, 0.8, 5}, {PolicyOp::autocontrast, 0.7, 0}}},
    {{{PolicyOp::shear_x, 0.7, 2}, {PolicyOp::invert, 0.1, 0}}},
}};

}  // namespace

std::span<const SubPolicy> auto_augment_table(std::string_view policy) {
  if (policy == "imagenet") return kImagenet;
  if (policy == "cifar10") return kCifar10;
  if (policy == "svhn") return kSvhn;
  return {};
}

}  // namespace headpond::policy_internal
