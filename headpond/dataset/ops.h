// SPDX-License-Identifier: Apache-2.0
// The catalogue of operators, by what they do.
#pragma once

#include "headpond/dataset/ops/batch.h"
#include "headpond/dataset/ops/bucket.h"
#include "headpond/dataset/ops/element.h"
#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/ops/fold.h"
#include "headpond/dataset/ops/lengths.h"
#include "headpond/dataset/ops/mixing.h"
#include "headpond/dataset/ops/nested.h"
#include "headpond/dataset/ops/options.h"
#include "headpond/dataset/ops/order.h"
#include "headpond/dataset/ops/parse.h"
#include "headpond/dataset/ops/random.h"
#include "headpond/dataset/ops/regroup.h"
#include "headpond/dataset/ops/sources.h"
#include "headpond/dataset/ops/structure.h"
