// SPDX-License-Identifier: Apache-2.0
// All of Headpond that needs no libtorch, in the order of ARCHITECTURE.md; headpond/torch.h adds the rest.
#pragma once

// Errors as values (Error, Result), the log, threads with names.
#include "headpond/base/log.h"
#include "headpond/base/status.h"
#include "headpond/base/thread.h"

// Random numbers that depend on keys alone; checksums, JSON, time, the machine, traces.
#include "headpond/base/clock.h"
#include "headpond/base/cpu.h"
#include "headpond/base/crc32c.h"
#include "headpond/base/json.h"
#include "headpond/base/math/beta.h"
#include "headpond/base/math/half.h"
#include "headpond/base/math/portable.h"
#include "headpond/base/normal.h"
#include "headpond/base/permutation.h"
#include "headpond/base/random.h"
#include "headpond/base/trace.h"

// Values: tensors, and elements of a few tensors; the form of decoders and augmentations.
#include "headpond/tensor/buffer.h"
#include "headpond/tensor/dtype.h"
#include "headpond/tensor/element.h"
#include "headpond/tensor/kernel.h"
#include "headpond/tensor/random_choice.h"
#include "headpond/tensor/shape.h"
#include "headpond/tensor/tensor.h"

// Files: read, mapped, written, locked, compressed, found by patterns.
#include "headpond/io/file/compression.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/file_writer.h"
#include "headpond/io/file/glob.h"
#include "headpond/io/file/inflate.h"
#include "headpond/io/file/labelled_folder.h"
#include "headpond/io/file/locked_file.h"
#include "headpond/io/file/mapped_file.h"

// Caches on disk: what is in a folder of them, and its removal.
#include "headpond/io/cache/cache_folder.h"

// Formats: records (TFRecord, records of one length), tf.train.Example, text, arrays, tar archives.
#include "headpond/io/archive/tar.h"
#include "headpond/io/archive/tar_writer.h"
#include "headpond/io/array/idx.h"
#include "headpond/io/array/npy.h"
#include "headpond/io/array/npz.h"
#include "headpond/io/array/raw.h"
#include "headpond/io/example/example.h"
#include "headpond/io/example/example_schema.h"
#include "headpond/io/example/example_writer.h"
#include "headpond/io/example/json_example.h"
#include "headpond/io/record/fixed_length.h"
#include "headpond/io/record/record_file.h"
#include "headpond/io/record/record_frame.h"
#include "headpond/io/record/record_index.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/record/record_writer.h"
#include "headpond/io/text/csv.h"
#include "headpond/io/text/json_lines.h"
#include "headpond/io/text/line_file.h"
#include "headpond/io/text/text_lines.h"

// Images and sound: decoders, encoders, crops, resizes, distance maps, kernels that change colours or move pixels.
#include "headpond/codec/image/color/adjust.h"
#include "headpond/codec/image/color/color_kernels.h"
#include "headpond/codec/image/color/levels.h"
#include "headpond/codec/image/color/mixup.h"
#include "headpond/codec/image/color/neighbours.h"
#include "headpond/codec/image/color/random_erasing.h"
#include "headpond/codec/image/distance_map.h"
#include "headpond/codec/image/distance_map_kernel.h"
#include "headpond/codec/image/formats/image.h"
#include "headpond/codec/image/formats/image_kernel.h"
#include "headpond/codec/image/geometry/geometry_kernels.h"
#include "headpond/codec/image/geometry/image_map.h"
#include "headpond/codec/image/geometry/move_positions.h"
#include "headpond/codec/image/geometry/warp.h"
#include "headpond/codec/image/image_layout.h"
#include "headpond/codec/image/image_options.h"
#include "headpond/codec/image/image_window.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/image_size.h"
#include "headpond/codec/image/kernels/jpeg_kernel.h"
#include "headpond/codec/image/kernels/resize_kernel.h"
#include "headpond/codec/image/normalize/normalize_kernel.h"
#include "headpond/codec/image/png.h"
#include "headpond/codec/image/png_kernel.h"
#include "headpond/codec/image/policy/policies.h"
#include "headpond/codec/image/resize/resize.h"
#include "headpond/codec/sound/augment/mask.h"
#include "headpond/codec/sound/augment/mix_noise.h"
#include "headpond/codec/sound/channels.h"
#include "headpond/codec/sound/level/level_kernels.h"
#include "headpond/codec/sound/resample/resample.h"
#include "headpond/codec/sound/sound_file.h"
#include "headpond/codec/sound/sound_kernel.h"
#include "headpond/codec/sound/spectrum/delta.h"
#include "headpond/codec/sound/spectrum/spectrum.h"
#include "headpond/codec/sound/spectrum/spectrum_kernels.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/codec/sound/wav_kernel.h"

// Queues between threads, the threads that fill them, and what ends those together.
#include "headpond/queue/padding_fifo_queue.h"
#include "headpond/queue/priority_queue.h"
#include "headpond/queue/queue.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/queue/runner/looper_thread.h"
#include "headpond/queue/runner/queue_runner.h"
#include "headpond/queue/staging/barrier.h"
#include "headpond/queue/staging/map_staging_area.h"
#include "headpond/queue/staging/staging_area.h"

// Datasets: the catalogue of operators, and elements one after the other.
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/migrate/migrate.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/ops/fold/evaluate.h"
#include "headpond/dataset/quarantine/quarantine.h"
#include "headpond/dataset/sequence.h"

// Operators of your own; headpond/testing.h, which tests include, checks them.
#include "headpond/dataset/operator.h"

// The readers, input producers and batchers of TensorFlow 1.
#include "headpond/tf1/tf1.h"

// The engine: a Loader runs a dataset on all cores; save and shards keep what it delivers.
#include "headpond/engine/array_file.h"
#include "headpond/engine/explain.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/loader_options.h"
#include "headpond/engine/save.h"
#include "headpond/engine/shards.h"

// What a running program shows: waits, rates, TensorBoard events, timelines, a progress bar.
#include "headpond/monitor/events.h"
#include "headpond/monitor/log_histogram.h"
#include "headpond/monitor/pipeline_rates.h"
#include "headpond/monitor/progress.h"
#include "headpond/monitor/queue_monitor.h"
#include "headpond/monitor/timeline.h"
#include "headpond/monitor/wait_account.h"
