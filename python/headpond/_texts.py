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
    "select": """The elements at these positions, in this order; of `[]` none.

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
    "enumerate": """A field `index` before the others; a tuple gets its number in front and stays a tuple.

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

KERNELS = {
    "adjust_brightness": """Pixels times `brightness_factor`.

Options: `brightness_factor`.""",
    "adjust_contrast": """The image's mean grey, and each value's difference from it times `contrast_factor`.

Options: `contrast_factor`.""",
    "adjust_saturation": """Each pixel's grey, and its values' differences from it times `saturation_factor`.

Options: `saturation_factor`.""",
    "adjust_hue": """Hues turned by `hue_factor` of the circle, from -0.5 to 0.5.

Options: `hue_factor`.""",
    "adjust_gamma": """`gain` x pixels^`gamma`, for pixels from 0 to 1.

Options: `gamma`; `gain` (1).""",
    "adjust_sharpness": """Blurred below 1, sharpened above 1.

Options: `sharpness_factor`.""",
    "random_adjust_sharpness": """`adjust_sharpness` with probability `p`.

Options: `sharpness_factor`; `p` (0.5).""",
    "color_jitter": """Brightness, contrast, saturation and hue changed, in an order and by factors that are drawn.

Options: `brightness`, `contrast`, `saturation`, `hue` (unchanged): each a range of factors, or a number v for 1 - v to
1 + v, of hue for -v to v.""",
    "grayscale": """Grey, in `num_output_channels` equal channels.

Options: `num_output_channels` (1).""",
    "to_grayscale": """What `grayscale` gives, under another name of torchvision's.

Options: `num_output_channels` (1).""",
    "random_grayscale": """Grey, in as many channels as before, with probability `p`.

Options: `p` (0.1).""",
    "invert": """255 less each value, or 1 less each value of float32.""",
    "random_invert": """`invert` with probability `p`.

Options: `p` (0.5).""",
    "solarize": """Values of `threshold` or more inverted.

Options: `threshold`.""",
    "random_solarize": """`solarize` with probability `p`.

Options: `threshold`; `p` (0.5).""",
    "posterize": """The upper `bits` bits of each value.

Options: `bits`.""",
    "random_posterize": """`posterize` with probability `p`.

Options: `bits`; `p` (0.5).""",
    "equalize": """Each channel's values spread so that all are about equally frequent.""",
    "random_equalize": """`equalize` with probability `p`.

Options: `p` (0.5).""",
    "autocontrast": """Each channel stretched to 0 to 255, or 0 to 1 of float32.""",
    "random_autocontrast": """`autocontrast` with probability `p`.

Options: `p` (0.5).""",
    "gaussian_blur": """The image blurred with a `sigma` that is drawn.

Options: `kernel_size`, an integer, or width and height; `sigma` ([0.1, 2]), a range.""",
    "random_erasing": """A rectangle that is drawn, filled with `value` or, if `random_value`, with normal numbers, with probability `p`.

Options: `p` (0.5), `scale` ([0.02, 0.33]), `ratio` ([0.3, 3.3]), `value` (0), `random_value` (False), `layout` ("chw")
or "hwc".""",
    "mixup": """Each row of a batch mixed with the row before it, images and labels alike.

Options: `num_classes`; `alpha` (1); after `batch`, with the roles `image` and `labels`.""",
    "cutmix": """Each row of a batch with a rectangle of the row before it, and labels mixed by its area.

Options: `num_classes`; `alpha` (1); `layout` ("chw") or "hwc"; after `batch`, as `mixup`.""",
    "random_choice": """One of `kernels`, drawn with the weights `p`.

Options: `kernels`; `p` (equal weights), a weight for each.""",
    "random_apply": """All of `kernels` with probability `p`.

Options: `kernels`; `p` (0.5).""",
    "decode_image": """The pixels of an image, as [height, width, channels] of `dtype`: JPEG, PNG, BMP, PNM, WebP or GIF by its first bytes.

Options: `channels` (0, as stored), `dtype` ("uint8") or "uint16", `apply_exif_orientation` (True; JPEG and WebP),
`max_pixels` (64,000,000), `max_memory` (512 MiB).""",
    "decode_png": """The pixels of a PNG, as [height, width, channels] of `dtype`.

Options: `channels` (0, as stored), `dtype` ("uint8") or "uint16", `max_pixels` (64,000,000), `max_memory` (512 MiB).""",
    "affine": """The image turned clockwise by `angle` degrees, scaled and sheared about `center`, and moved by `translate` pixels.

Options: `angle` (0), `translate` ([0, 0]), `scale` (1), `shear`, a number or two (0), `center` (the middle);
`interpolation` ("nearest") or "bilinear", `fill` (0), `mask_fill` (0) and `min_area` (1).""",
    "rotate": """The image turned by `angle` degrees, counter-clockwise.

Options: `angle`; `expand` (False), `center`; `interpolation` ("nearest") or "bilinear", `fill` (0), `mask_fill` (0) and
`min_area` (1).""",
    "perspective": """The image moved so that `startpoints` come to `endpoints`.

Options: `startpoints`, `endpoints`: four points each, top left, top right, bottom right, bottom left; `interpolation`
("nearest") or "bilinear", `fill` (0), `mask_fill` (0) and `min_area` (1).""",
    "random_affine": """`affine` with numbers that are drawn: an angle within `degrees`, and parts of width and height within `translate`.

Options: `degrees`, a number or a range; `translate`, `scale`, `shear`, 1, 2 or 4 numbers, `center`; `interpolation`
("nearest") or "bilinear", `fill` (0), `mask_fill` (0) and `min_area` (1).""",
    "random_rotation": """The image turned counter-clockwise by an angle within `degrees` that is drawn.

Options: `degrees`; `expand` (False), `center`; `interpolation` ("nearest") or "bilinear", `fill` (0), `mask_fill` (0)
and `min_area` (1).""",
    "random_perspective": """`perspective` with corners that are drawn, with probability `p`.

Options: `distortion_scale` (0.5), `p` (0.5); `interpolation` ("nearest") or "bilinear", `fill` (0), `mask_fill` (0) and
`min_area` (1).""",
    "rand_augment": """`num_ops` changes that are drawn, all of one magnitude.

Options: `num_ops` (2), `magnitude` (9), `num_magnitude_bins` (31); `interpolation` ("nearest") or "bilinear", `fill`
(0), `mask_fill` (0) and `min_area` (1).""",
    "trivial_augment_wide": """One change and its magnitude, both drawn.

Options: `num_magnitude_bins` (31); `interpolation` ("nearest") or "bilinear", `fill` (0), `mask_fill` (0) and
`min_area` (1).""",
    "auto_augment": """Up to two changes of a policy that was learned on the named data set.

Options: `policy` ("imagenet"), "cifar10" or "svhn"; `interpolation` ("nearest") or "bilinear", `fill` (0), `mask_fill`
(0) and `min_area` (1).""",
    "decode_wav": """The sound of a WAV file, as float32 [frames, channels].

Options: `desired_channels` (the file's), `desired_samples` (all), `first_sample` (0), `lenient` (False), `max_channels`
(64), `mix` ("first") or "mean", `non_finite` ("keep"), "reject" or "zero", `rate` (any; others are errors),
`sample_rate` (the file's; others are resampled to it, and `desired_samples` and `first_sample` count frames of the
result).""",
    "decode_sound": """The sound of a file, as float32 [frames, channels]: WAV, FLAC, MP3, Vorbis, Opus, AIFF.

Options: `desired_channels` (the file's), `desired_samples` (all), `first_sample` (0), `lenient` (False), `max_channels`
(64), `mix` ("first") or "mean", `non_finite` ("keep"), "reject" or "zero", `rate` (any; others are errors),
`sample_rate` (the file's; others are resampled to it, and `desired_samples` and `first_sample` count frames of the
result), and `max_values` (268435456).""",
    "sound_frames": """How many frames `decode_sound` with these options gives, as int64, without decoding; also for `write_lengths`.

Options: `desired_channels` (the file's), `desired_samples` (all), `first_sample` (0), `lenient` (False), `max_channels`
(64), `mix` ("first") or "mean", `non_finite` ("keep"), "reject" or "zero", `rate` (any; others are errors),
`sample_rate` (the file's; others are resampled to it, and `desired_samples` and `first_sample` count frames of the
result), and `max_values` (268435456).""",
    "mono": """One channel, the mean of all.""",
    "pad_or_trim": """The first `samples` frames, and zeros after a shorter sound.

Options: `samples`.""",
    "random_sound_crop": """`samples` frames from a place that is drawn.

Options: `samples`; `pad` (True): shorter sounds are padded.""",
    "gain_db": """Values times 10^(`db` / 20).

Options: `db`, a number, or a list of the lowest and the highest one.""",
    "peak_normalize": """Values scaled so that the largest absolute value is `peak`.

Options: `peak` (1).""",
    "speed": """A sound `factor` times as fast, and higher: ceil(frames / factor) frames.

Options: `factor`, a number, or a list of the lowest and the highest one.""",
    "mix_noise": """The sound with one from `noise` added with probability `p`, at a ratio in dB that is drawn.

Options: `noise`, a chain (in Python a dataset); `noise_field` (the only field of float32), `low_snr_db` (0),
`high_snr_db` (20), `p` (1).""",
    "stft": """The spectrum of each window, as float32 [frames, bins, 2], real and imaginary part; [bins, frames, 2] with `mels_first`.

Options: `preset` ("torchaudio"), "librosa", "whisper" or "kaldi"; `sample_rate` (16000), `coefficients` (40),
`mels_first` (False); the preset's unless given: `fft`, `window_length`, `hop`, `window` ("hann", "hamming", "povey",
"rectangular"), `edges` ("reflect", "zeros", "snip"), `drop_last`, `power`, `scale`, `remove_mean`, `pre_emphasis`,
`mels`, `mel_scale` ("htk", "slaney", "kaldi"), `equal_areas`, `low_hz`, `high_hz`, `log` ("decibel", "ln", "ln_offset",
"whisper"), `floor`, `top_db`.""",
    "spectrogram": """The size of each bin of each window to the power of `power` (2).

Options: `preset` ("torchaudio"), "librosa", "whisper" or "kaldi"; `sample_rate` (16000), `coefficients` (40),
`mels_first` (False); the preset's unless given: `fft`, `window_length`, `hop`, `window` ("hann", "hamming", "povey",
"rectangular"), `edges` ("reflect", "zeros", "snip"), `drop_last`, `power`, `scale`, `remove_mean`, `pre_emphasis`,
`mels`, `mel_scale` ("htk", "slaney", "kaldi"), `equal_areas`, `low_hz`, `high_hz`, `log` ("decibel", "ln", "ln_offset",
"whisper"), `floor`, `top_db`.""",
    "mel_spectrogram": """That of `spectrogram` in bands of the mel scale.

Options: `preset` ("torchaudio"), "librosa", "whisper" or "kaldi"; `sample_rate` (16000), `coefficients` (40),
`mels_first` (False); the preset's unless given: `fft`, `window_length`, `hop`, `window` ("hann", "hamming", "povey",
"rectangular"), `edges` ("reflect", "zeros", "snip"), `drop_last`, `power`, `scale`, `remove_mean`, `pre_emphasis`,
`mels`, `mel_scale` ("htk", "slaney", "kaldi"), `equal_areas`, `low_hz`, `high_hz`, `log` ("decibel", "ln", "ln_offset",
"whisper"), `floor`, `top_db`.""",
    "log_mel": """The logarithm of a mel spectrogram.

Options: `preset` ("torchaudio"), "librosa", "whisper" or "kaldi"; `sample_rate` (16000), `coefficients` (40),
`mels_first` (False); the preset's unless given: `fft`, `window_length`, `hop`, `window` ("hann", "hamming", "povey",
"rectangular"), `edges` ("reflect", "zeros", "snip"), `drop_last`, `power`, `scale`, `remove_mean`, `pre_emphasis`,
`mels`, `mel_scale` ("htk", "slaney", "kaldi"), `equal_areas`, `low_hz`, `high_hz`, `log` ("decibel", "ln", "ln_offset",
"whisper"), `floor`, `top_db`.""",
    "mfcc": """The first `coefficients` of the cosine transform of a mel spectrogram in decibel.

Options: `preset` ("torchaudio"), "librosa", "whisper" or "kaldi"; `sample_rate` (16000), `coefficients` (40),
`mels_first` (False); the preset's unless given: `fft`, `window_length`, `hop`, `window` ("hann", "hamming", "povey",
"rectangular"), `edges` ("reflect", "zeros", "snip"), `drop_last`, `power`, `scale`, `remove_mean`, `pre_emphasis`,
`mels`, `mel_scale` ("htk", "slaney", "kaldi"), `equal_areas`, `low_hz`, `high_hz`, `log` ("decibel", "ln", "ln_offset",
"whisper"), `floor`, `top_db`.""",
    "delta": """How values change from frame to frame.

Options: `width` (5), `mels_first` (False), `append` (False).""",
    "resample": """The sound at another rate: ceil(frames x `to` / `from`) frames.

Options: `from_`, `to`; `method` ("sinc_hann"), "sinc_kaiser" or "soxr_hq" (libsoxr, as librosa), `width` (6), `rolloff`
(0.99), `beta` (14.769656459379492); `width`, `rolloff` and `beta` do not apply to soxr_hq.""",
    "time_mask": """`count` runs of fewer than `width` frames each, whose lengths and places are drawn, replaced by `fill`; a run has at
most part `p` of the frames.

Options: `width`; `count` (1), `p` (1), `fill` ("zero") or "mean", `mels_first` (False).""",
    "frequency_mask": """`count` runs of fewer than `width` bands each, whose lengths and places are drawn, replaced by `fill`; a run has at most
part `p` of the bands.

Options: `width`; `count` (1), `p` (1), `fill` ("zero") or "mean", `mels_first` (False).""",
    "spec_augment": """`frequency_mask` and `time_mask` as SpecAugment has them; `p` is that of the latter.

Options: `frequency_width` (27), `frequency_masks` (2), `time_width` (100), `time_masks` (2), `p` (1), `fill` ("zero"),
`mels_first` (False).""",
    "decode_jpeg": """The pixels of a JPEG, as uint8 [height, width, channels].

Options: `channels` (3), `ratio` (1), `fancy_upscaling` (True), `dct_method` (""), "INTEGER_FAST" or "INTEGER_ACCURATE",
both the accurate one, `damage` ("fail"), "strict" or "recover", `acceptable_fraction` (1), `apply_exif_orientation`
(True), `check` ("part") or "whole", `scale` ("none") or "fit", `max_pixels` (64,000,000), `max_scans` (500),
`max_memory` (512 MiB); an index in the field `<field>/jpeg_index` is used.""",
    "crop": """The part of `size` whose first pixel is (`y`, `x`).

Options: `y`, `x`, `size`, a side or [height, width]; `min_area` (1), `mask_fill` (0).""",
    "center_crop": """The part of `size` in the middle.

Options: `size`, a side or [height, width]; `min_area` (1), `mask_fill` (0).""",
    "pad": """The image with `padding` around it.

Options: `padding`; `fill` (0), `mode` ("constant"), "reflect", "edge" or "symmetric"; `mask_fill` (0).""",
    "random_crop": """A part of `size` at a place that is drawn.

Options: `size`, a side or [height, width]; `padding`, `pad_if_needed` (False), `fill` (0), `mode` ("constant"),
`mask_fill` (0), `min_area` (1).""",
    "random_resized_crop": """A part whose area and ratio of sides are drawn, resized to `size`.

Options: `size`, a side or [height, width]; `scale` ([0.08, 1]), `ratio` ([3/4, 4/3]), `filter` ("bilinear"),
`antialias` (True), `min_area` (1).""",
    "resize": """The image in another size.

Options: `size`, the shorter side or [height, width]; `filter` ("bilinear"), "nearest", "box", "bicubic", "lanczos" or
"area"; `antialias` (True), `max_size`, which may also be there without a `size`.""",
    "random_horizontal_flip": """Left and right exchanged with probability `p`.

Options: `p` (0.5).""",
    "random_vertical_flip": """Top and bottom exchanged with probability `p`.

Options: `p` (0.5).""",
    "distance_map": """One more channel for each of `groups`: the distance of each pixel from the nearest of its points, at most `limit`, which
is 255 in uint8.

Options: `limit` (255), `groups` (1), `layout` ("hwc") or "chw"; on fields with points.""",
    "normalize": """(pixel - `mean`) / `std` for each channel, as `layout` and `dtype` say; uint8 is divided by 255 before that.

Options: `mean`, `std` (ImageNet's), `layout` ("chw") or "hwc", `dtype` ("float32"), "float16" or "bfloat16".""",
}
