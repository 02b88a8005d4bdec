// SPDX-License-Identifier: Apache-2.0
// What needs libtorch: batches as torch tensors, without a copy; a Loader as a dataset of torch::data; batches on a
// device, copied while the program works; train_and_evaluate with its hooks, exporters and checkpoints; torch's BLAS
// threads.
#pragma once

#include "headpond/train/blas.h"
#include "headpond/train/device/cuda.h"
#include "headpond/train/device/device_feed.h"
#include "headpond/train/device/device_stream.h"
#include "headpond/train/device/fake_stream.h"
#include "headpond/train/estimator.h"
#include "headpond/train/loop/checkpoint.h"
#include "headpond/train/loop/checkpoint_writer.h"
#include "headpond/train/loop/exporters.h"
#include "headpond/train/loop/hook.h"
#include "headpond/train/loop/hooks.h"
#include "headpond/train/loop/metric.h"
#include "headpond/train/loop/training.h"
#include "headpond/train/tensors.h"
#include "headpond/train/torch_batch.h"
#include "headpond/train/torch_dataset.h"
