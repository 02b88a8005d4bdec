// SPDX-License-Identifier: Apache-2.0
// Training with libtorch: every public header of the room train.
#pragma once

#include "headpond/train/blas.h"
#include "headpond/train/blstm.h"
#include "headpond/train/mnist.h"
#include "headpond/train/mnist_data.h"
#include "headpond/train/mnist_input.h"
#include "headpond/train/mnist_loader.h"
#include "headpond/train/mnist_trainer.h"
#include "headpond/train/models.h"
#include "headpond/train/normals.h"
#include "headpond/train/pin.h"
#include "headpond/train/run_hooks.h"
#include "headpond/train/tensors.h"
