# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_stubs.py.
# From docs/plan_files.md.

TEXTS = {
    "counter": """Numbers without end, as one unnamed field.

Arguments: `start` (0), `step` (1), `dtype` ("int64").""",
    "random": """Integers from [0, 2^32) without end, as one unnamed field.

Arguments: `seed` (the run's), `rerandomize_each_iteration` (False).""",
    "list_files": """The names of files, as one unnamed field of bytes; without `shuffle` sorted, of all patterns together.

Arguments: `paths`, names and patterns; `shuffle` (True).""",
    "tfrecord": """The records of TFRecord files, as one unnamed field of bytes; of zlib in order only, and if a name does not end in `.z`
or `.zz`, `compression` must say so.

Arguments: `paths`, names and patterns; `on_damage` ("fail") or "skip"; `compression` (any), "none", "gzip" or "zlib";
`num_parallel_reads` (one file after the other).""",
    "text_lines": """The lines of texts, as one unnamed field of bytes.

Arguments: `paths`; `skip_header_lines` (0), `skip_bom` (False), `num_parallel_reads`.""",
    "csv": """The rows of CSV files, a field for each column.

Arguments: `paths`; `columns` (all), `header` (True), `skip_bom` (True), `delimiter` (","), `quote` ('"'), `comment`
(""), `na_values`.""",
    "npy": """The rows of NumPy's arrays, as one unnamed field.

Arguments: `paths`.""",
    "cifar10": """The images of CIFAR's binary version: `image` and `label` as uint8, of 100 classes also `coarse_label`.

Arguments: `path`; `train` (True).""",
    "cifar100": """The images of CIFAR's binary version: `image` and `label` as uint8, of 100 classes also `coarse_label`.

Arguments: `path`; `train` (True).""",
    "fixed_length": """Records of one length, as one unnamed field of uint8.

Arguments: `paths`, `record_bytes`; `header_bytes` (0), `footer_bytes` (0), `hop_bytes` (`record_bytes`), `compression`
(`none`, `gzip` or `zlib`), `num_parallel_reads`.""",
    "tar": """The samples of tar archives: `__key__`, and a field of bytes for each extension.

Arguments: `paths`; `extensions` (those of the first sample), `allow_missing` (False).""",
    "folder": """The files in the subfolders of `path`, one subfolder a class: `path` and `file` as bytes, and `label`, an int64: the
number of the subfolder among all of them, sorted by name, from 0. A class that one of two folders lacks shifts the
numbers after it there: make an empty subfolder. No file is an error.

Arguments: `path`; `extensions` (any), `allow_empty` (False).""",
    "load": """The elements that `save` wrote.

Arguments: `path`.""",
    "parse_example": """The requested features of an element that is a tf.train.Example; with `field` of that field, whose place they take, and
the other fields stay.

Arguments: `features`; `field`.""",
    "parse_sequence_example": """The requested features and feature lists of an element that is a tf.train.SequenceExample; `field`: as of
`parse_example`.

Arguments: `context`, `lists`; `field`.""",
    "decode_json_example": """A tf.train.Example of an element that is one as JSON.""",
    "decode_raw": """The numbers that are the bytes of a field.

Arguments: `dtype`; `field`, `shape` ([-1]), `little_endian` (True).""",
    "raw_image": """An image from its pixels in the field `image` and its height and width in the field `size`, which is left out.

Arguments: `image` ("image"), `size` ("size"), `channels` (0, as stored).""",
    "parse_json": """The requested fields of an element that is a JSON object; `field`: as of `parse_example`.

Arguments: `fields`; `field`.""",
    "take_while": """The elements before the first one for which `predicate` is 0.

Arguments: `predicate`.""",
    "rejection_resample": """Leaves out elements so that the classes, integers from 0, have the parts of `target_dist`.

Arguments: `class_function`, `target_dist`; `initial_dist` (estimated).""",
    "unique": """Each value once: one field of int64, int32 or bytes.""",
    "ignore_errors": """Leaves out elements that failed; not a TFRecord file with a damaged length, which `on_damage = "skip"` reads as far as
it goes.

Arguments: `log_warning` (False).""",
    "on_error": """What becomes of elements that failed; `substitute` is a value, for several fields a table, which fills a field.

Arguments: `policy` ("skip"), "substitute" or "fail"; `substitute`; `max_errors` (any), `max_error_share` (0.01),
`window` (10000), `give_up_after` (10).""",
    "shuffle": """A different order in each epoch; with `window` an element moves by less than 2 x window.

Arguments: `window` (the whole epoch), `reshuffle_each_iteration` (True).""",
    "repeat": """The input, `count` times.

Arguments: `count` (without end).""",
    "take": """`take`: the first `count` elements, all if it is negative; `skip`: all but these.

Arguments: `count`.""",
    "skip": """`take`: the first `count` elements, all if it is negative; `skip`: all but these.

Arguments: `count`.""",
    "shard": """Every num_shards-th element.

Arguments: `num_shards`, `index`.""",
    "select": """The elements at these positions, in this order.

Arguments: `indices`.""",
    "sample_weighted": """`count` elements, drawn by weight.

Arguments: `weights`, `count`; `replacement` (True).""",
    "assert_cardinality": """The same elements; another number of them is an error.

Arguments: `count`.""",
    "pad_to_cardinality": """The elements, then zeros and empty texts until there are `cardinality`; a bool field `mask_key` after the others is true
for the first.

Arguments: `cardinality`; `mask_key` ("valid").""",
    "prefetch": """The same elements; as the last step, at most so many are made ahead.

Arguments: `buffer_size`.""",
    "enumerate": """A field `index` before the others.

Arguments: `start` (0).""",
    "cache": """Each element from where it was kept when it was first made.

Arguments: `filename` (in memory), `spill` (False), `memory`, `disk`, `compare_times` (True).""",
    "snapshot": """As `cache` with a `filename`.

Arguments: `path`, `compare_times` (True).""",
    "batch": """Elements stacked.

Arguments: `batch_size`, `drop_remainder` (False).""",
    "with_options": """The same elements; what `headpond run` takes if its options do not say otherwise.

Arguments: `deterministic`, `threads`, `memory` (bytes).""",
    "random_u32": """A field of 32 random bits after the others.

Arguments: `field` ("random").""",
    "add_noise": """Adds normal noise to a field of float32.

Arguments: `stddev`, `field`.""",
    "random_flip": """Reverses an axis, at random.

Arguments: `axis`, `field`.""",
    "padded_batch": """Elements of different sizes, padded and stacked; -1 in a shape is the longest. For one field a list and a number, for
several fields tables; texts are padded with a string.

Arguments: `batch_size`; `padded_shapes`, `padding_values`, `drop_remainder` (False).""",
    "distribute": """The rows of each batch that one of several training processes gets; `uneven`: `wrap` (default), `pad` or `drop`; with
what each row costs, a field or a function of the row, the processes get rows of about equal cost; a bool field
`mask_key`, if one is named, is false for rows that `pad` and `wrap` add. Random operators after it draw the same
numbers in all processes: put them before it.

Arguments: `world_size`, `rank`, `uneven`; `cost_field` or `cost_func`; `mask_key`.""",
    "unbatch": """The rows of batches.""",
    "rebatch": """The rows in other batches.

Arguments: `batch_size`, a number, or a list that is taken in turn; `drop_remainder` (False).""",
    "bucket_by_sequence_length": """Padded batches of elements of similar length.

Arguments: `element_length_func`, `bucket_boundaries`, `bucket_batch_sizes`; `padded_shapes`, `padding_values`,
`pad_to_bucket_boundary` (False), `no_padding` (False), `drop_remainder` (False); `lengths`, a file, in place of
`element_length_func`.""",
    "batch_by_size": """Padded batches of as many elements as fit: number of elements times the largest one, or the sum of the sizes, is at most
`max_size`.

Arguments: `max_size`, `size_func`; `sum_of_sizes` (False), `max_elements`, `bucket_boundaries`, `padded_shapes`,
`padding_values`, `no_padding`, `drop_remainder`.""",
    "dynamic_bucket": """Padded batches of elements of similar length, chosen by the file alone: number of elements times the longest one is at
most `max_padded`.

Arguments: `lengths`, a file; `max_padded`, or `max_padded_seconds` and `rate`; `max_elements`, `buckets` (30), `window`
(10000), `padded_shapes`, `padding_values`.""",
    "group_by_window": """Batches of elements of one key.

Arguments: `key_func`, `window_size`; `reduce_func` ("batch") or "padded_batch", `max_held` (16384).""",
    "window": """Windows of elements, stacked; each window begins `shift` elements after the one before.

Arguments: `size`; `shift` (`size`), `stride` (1), `drop_remainder` (False), `reduce_func` ("batch") or "padded_batch".""",
    "ragged_batch": """Elements of different sizes without padding: `x` has all values, `x.row_splits` where each row begins.

Arguments: `batch_size`; `drop_remainder`, `row_splits_dtype` ("int64") or "int32".""",
    "sparse_batch": """Elements of one field `x` as a sparse tensor: `x.indices`, `x.values`, `x.shape`; -1 in `row_shape` is the largest.

Arguments: `batch_size`, `row_shape`.""",
    "pack": """Several sequences in each row: `x`, `x_segment_ids` and `x_positions`.

Arguments: `length`, a number or a table by field; `fit` ("first_fit") or "best_fit", `num_packing_bins` (64),
`max_sequences_per_bin`, `padding_values`.""",
}
