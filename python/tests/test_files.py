# SPDX-License-Identifier: Apache-2.0
"""Lists of files, the digit set, arrays that a dataset writes, and random numbers: as C++ has them."""
import gzip
import io
import tarfile

import numpy as np
import pytest

import headpond as hp


def test_a_record_is_whatever_has_bytes_in_one_piece(tmp_path):
    given = [b"a", bytearray(b"bc"), memoryview(b"xdefx")[1:4], np.frombuffer(b"gh", np.uint8), b""]
    with hp.RecordWriter(tmp_path / "a") as writer:
        for payload in given:
            writer.append(payload)
        with pytest.raises(TypeError, match="must be bytes"):
            writer.append(memoryview(b"abcd")[::2])
    assert list(hp.RecordReader(tmp_path / "a")) == [bytes(one) for one in given]


def test_expand_files(tmp_path):
    for name in ("b-1", "b-0", "c"):
        (tmp_path / name).write_bytes(b"")
    assert hp.expand_files(tmp_path / "b-*") == [f"{tmp_path}/b-0", f"{tmp_path}/b-1"]
    assert hp.expand_files([f"{tmp_path}/c", tmp_path / "b-?", "x@2"])[:3] == [f"{tmp_path}/{name}" for name in ("c", "b-0", "b-1")]
    assert hp.expand_files("x@2") == ["x-00000-of-00002", "x-00001-of-00002"]
    assert hp.expand_files([]) == []
    with pytest.raises(hp.NotFoundError):
        hp.expand_files(tmp_path / "absent*")
    with pytest.raises(TypeError):
        hp.expand_files(3)


def test_a_labelled_folder_is_what_folder_reads(tmp_path):
    for name in ("dog/2.png", "dog/more/1.PNG", "cat/1.png", "cat/notes.txt", "bird/.hidden"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"12")
    listed = hp.list_labelled_folder(tmp_path, ["png"])
    assert listed.classes == ["bird", "cat", "dog"]
    assert listed.files == [(f"{tmp_path}/cat/1.png", 1, 2), (f"{tmp_path}/dog/2.png", 2, 2), (f"{tmp_path}/dog/more/1.PNG", 2, 2)]
    assert listed.files[0].label == 1 and len(hp.list_labelled_folder(tmp_path).files) == 4
    read = [(one["path"].decode(), int(one["label"])) for one in hp.folder(tmp_path, extensions=["png"]).sequence()]
    assert read == [(one.path, one.label) for one in listed.files]
    with pytest.raises(hp.NotFoundError):
        hp.list_labelled_folder(tmp_path / "absent")


def test_digits_are_drawn_once(tmp_path):
    folder = hp.digit_set(tmp_path / "digits", train_images=30, test_images=10)
    assert folder == str(tmp_path / "digits")
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "digits").iterdir()}
    assert hp.digit_set(folder, train_images=30, test_images=10) == folder
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "digits").iterdir()} == before
    digits = list(hp.idx(f"{folder}/train-images-idx3-ubyte", f"{folder}/train-labels-idx1-ubyte").sequence())
    assert len(digits) == 30 and digits[0]["image"].shape == (28, 28) and {int(one["label"]) for one in digits} <= set(range(10))
    assert all(one["image"].max() > 100 for one in digits)


def test_an_array_that_a_dataset_writes(tmp_path):
    report = hp.range(12).map(hp.expr("x * 2", dtype=hp.f32)).write_npy(tmp_path / "rows.npy", threads=2)
    assert report["rows"] == 12 and report["bytes"] == (tmp_path / "rows.npy").stat().st_size and report["resumed_from"] == 0
    assert np.array_equal(np.load(tmp_path / "rows.npy"), np.arange(12, dtype=np.float32) * 2)
    assert [float(one) for one in hp.npy(tmp_path / "rows.npy").sequence()] == list(range(0, 24, 2))
    with pytest.raises(hp.InvalidArgumentError):
        hp.from_tensor_slices(["a"]).write_npy(tmp_path / "texts.npy")

    def breaks(x):
        if x == 5:
            raise OSError("five")
        return np.full(3, x)

    with pytest.raises(OSError, match="five"):
        hp.range(8).map(breaks, output=(hp.i64, (3,))).write_npy(tmp_path / "broken.npy")
    assert not (tmp_path / "broken.npy").exists()


def test_a_sound_that_is_encoded_is_decoded_again():
    sound = (np.arange(-40, 40, dtype=np.float32) * 409.6 / 32768).round(4)
    for given in (sound, sound.reshape(40, 2)):
        again = hp.decode_wav(rate=8000)(hp.encode_wav(given, 8000))
        assert again.shape == (given.reshape(len(given), -1)).shape and np.abs(again.reshape(given.shape) - given).max() <= 1 / 32768
    for wrong in (lambda: hp.encode_wav(sound, 0), lambda: hp.encode_wav(sound.astype(np.float64), 8000), lambda: hp.encode_wav(sound * np.nan, 8000)):
        with pytest.raises(hp.InvalidArgumentError):
            wrong()


def sounds_of(folder, frames):
    (folder / "a").mkdir(parents=True)
    for number, count in enumerate(frames):
        (folder / "a" / f"{number}.wav").write_bytes(hp.encode_wav(np.zeros(count, np.float32), 8000))
    return hp.folder(folder, extensions=["wav"])


def test_lengths_that_a_dataset_writes(tmp_path):
    frames = [400, 90, 300, 100, 410, 80]
    clips = sounds_of(tmp_path / "clips", frames)
    path = tmp_path / "lengths.npy"
    clips.write_lengths(path, hp.sound_frames())
    assert list(np.load(path)) == frames
    batches = clips.shuffle().map("file", hp.decode_wav()).dynamic_bucket(lengths=path, max_padded=900, buckets=2)
    shapes = [batch["file"].shape[:2] for batch in batches.sequence(seed=3)]
    assert sorted(shapes)[::2] in ([(1, 300), (3, 100)], [(1, 400), (3, 100)], [(1, 410), (3, 100)]) and all(n * longest <= 900 for n, longest in shapes)
    clips.write_lengths(path, hp.sound_frames(sample_rate=16000), field="file")
    assert list(np.load(path)) == [2 * one for one in frames]
    with open(tmp_path / "clips/a/0.wav", "ab") as file:
        file.write(b"\0\0")
    changed = hp.folder(tmp_path / "clips", extensions=["wav"]).map("file", hp.decode_wav(lenient=True)).dynamic_bucket(lengths=path, max_padded=900)
    with pytest.raises(hp.FailedPreconditionError, match="other files"):
        next(changed.sequence())
    for length in (hp.expr("x * 2"), lambda x: int(x) * 2):
        hp.range(3).write_lengths(path, length)
        assert list(np.load(path)) == [0, 2, 4]
    with pytest.raises(TypeError, match="field= is for kernels"):
        clips.write_lengths(path, len, field="file")
    with pytest.raises(hp.InvalidArgumentError, match="one int64 for each element is needed"):
        clips.write_lengths(path, hp.decode_wav())
    with pytest.raises(hp.InvalidArgumentError, match="lengths belong to what is below shuffle"):
        clips.shuffle().write_lengths(path, hp.sound_frames())

    def breaks(x):
        if x == 2:
            raise OSError("no length")
        return int(x)

    with pytest.raises(OSError, match="no length"):
        hp.range(3).write_lengths(path, breaks)
    assert list(np.load(path)) == [0, 2, 4]


def test_random_numbers_are_those_of_cpp():
    """Values of headpond/base's own tests, which are kept for ever."""
    random = hp.Random(0)
    words = [random.u32() for _ in range(8)]
    assert words[:4] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]  # Philox4x32-10 of zeros, as its authors publish it.
    other = hp.Random(0)
    assert [other.u64() for _ in range(2)] == [words[0] | words[1] << 32, words[2] | words[3] << 32]
    assert [hp.Random(0, element=0, first_block=1).u32() for _ in range(2)] == [words[4]] * 2
    assert hp.Random(5, element=1).u32() != hp.Random(5, element=2).u32()
    drawn = [random.below(10) for _ in range(1000)]
    assert set(drawn) == set(range(10)) and all(0 <= random.uniform() < 1 for _ in range(100))
    assert all(0 <= random.one_of(3) < 3 for _ in range(20))
    for call in (lambda: random.below(0), lambda: random.one_of(0), lambda: random.one_of(2**32 + 1)):
        with pytest.raises(hp.InvalidArgumentError):
            call()
    assert hp.random_key(1, "map", 0, 0) != hp.random_key(1, "map", 1, 0)
    assert len({hp.entropy() for _ in range(4)}) == 4


def test_a_permutation():
    permutation = hp.Permutation(key=7, size=1000)
    whole = [permutation(i) for i in range(len(permutation))]
    assert sorted(whole) == list(range(1000)) and whole != list(range(1000))
    assert permutation.apply(np.arange(1000)).tolist() == whole and permutation.apply([3, 1]).tolist() == [whole[3], whole[1]]
    assert [hp.Permutation(8, 1000)(i) for i in range(1000)] != whole
    for call in (lambda: permutation(1000), lambda: permutation(-1), lambda: permutation.apply([5, 1000])):
        with pytest.raises(IndexError):
            call()
    with pytest.raises(hp.InvalidArgumentError):
        hp.Permutation(7, -1)


def test_normal_numbers():
    out = np.zeros((10, 640), np.float32)
    hp.fill_normal(out, key=3)
    assert abs(float(out.mean())) < 0.05 and abs(float(out.std()) - 1) < 0.05
    part = np.zeros(64, np.float32)
    hp.fill_normal(part, 3, first_block=10)
    assert np.array_equal(part, out[1, :64])
    hp.fill_normal(part, 3, element=1)
    assert not np.array_equal(part, out[0, :64])
    frozen = np.zeros(4, np.float32)
    frozen.flags.writeable = False
    for wrong in (np.zeros(4), out[:, ::2], frozen):
        with pytest.raises((hp.InvalidArgumentError, ValueError, BufferError)):
            hp.fill_normal(wrong, 3)


def test_idx_files_are_read_and_written(tmp_path):
    images, labels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4), np.array([7, 1], np.uint8)
    hp.write_idx(tmp_path / "images", images)
    assert (tmp_path / "images").read_bytes() == bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4]) + images.tobytes()
    assert np.array_equal(hp.read_idx(tmp_path / "images"), images) and hp.read_idx(tmp_path / "images").flags.writeable
    (tmp_path / "images.gz").write_bytes(gzip.compress((tmp_path / "images").read_bytes()))
    assert np.array_equal(hp.read_idx(str(tmp_path / "images.gz")), images)
    hp.write_idx(tmp_path / "labels", labels)
    pair = hp.read_idx_pair(tmp_path / "images", tmp_path / "labels")
    assert np.array_equal(pair[0], images) and np.array_equal(pair[1], labels)
    hp.write_idx(tmp_path / "floats", np.array([[1.5, -2.5]], np.float32)[:, ::-1])
    floats = hp.read_idx(tmp_path / "floats")
    assert floats.dtype == np.float32 and floats.tolist() == [[-2.5, 1.5]]
    hp.write_idx(tmp_path / "three", np.zeros(3, np.uint8))
    for wrong, kind in ((lambda: hp.read_idx_pair(tmp_path / "images", tmp_path / "three"), hp.InvalidArgumentError),
                        (lambda: hp.write_idx(tmp_path / "labels", np.zeros(3, np.int64)), hp.InvalidArgumentError),
                        (lambda: hp.read_idx(tmp_path / "absent"), FileNotFoundError), (lambda: hp.read_idx(3), TypeError)):
        with pytest.raises(kind):
            wrong()
    assert np.array_equal(hp.read_idx(tmp_path / "labels"), labels), "the old file stays"


def test_npy_and_npz_files_are_those_of_numpy(tmp_path):
    rows = np.arange(12, dtype=">i4").reshape(3, 4)
    np.save(tmp_path / "rows.npy", np.asfortranarray(rows))
    read = hp.read_npy(tmp_path / "rows.npy")
    assert np.array_equal(read, rows) and read.dtype == np.int32 and read.flags.c_contiguous
    hp.write_npy(tmp_path / "own.npy", rows[:, 1:3])
    assert np.array_equal(np.load(tmp_path / "own.npy"), rows[:, 1:3])
    native = np.arange(6, dtype=np.float64)
    hp.write_npy(tmp_path / "native.npy", native)
    np.save(tmp_path / "numpys.npy", native)
    assert (tmp_path / "native.npy").read_bytes() == (tmp_path / "numpys.npy").read_bytes()
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "all.npz", b=rows, a=np.float32(2.5))
        found = hp.read_npz(tmp_path / "all.npz")
        assert list(found) == ["b", "a"] and np.array_equal(found["b"], rows) and found["a"] == 2.5
    np.save(tmp_path / "objects.npy", np.array([{}], object))
    with pytest.raises(hp.UnimplementedError):
        hp.read_npy(tmp_path / "objects.npy")
    broken = bytearray((tmp_path / "all.npz").read_bytes())
    broken[len(broken) // 2] ^= 1
    (tmp_path / "broken.npz").write_bytes(broken)
    with pytest.raises(hp.Error):
        hp.read_npz(tmp_path / "broken.npz")
    with pytest.raises(hp.InvalidArgumentError):
        hp.write_npy(tmp_path / "texts.npy", ["a"])


def archive_of(path, *members, mode="w"):
    with tarfile.open(path, mode) as archive:
        for name, content in members:
            about = tarfile.TarInfo(name)
            about.size = len(content or b"")
            about.type = tarfile.REGTYPE if content is not None else tarfile.DIRTYPE
            archive.addfile(about, io.BytesIO(content or b""))


def test_the_members_of_an_archive(tmp_path):
    long = bytes(range(256)) * 9000
    members = [("a/1.png", b"one"), ("a", None), ("../x", b""), ("\u00e9" * 80, long)]
    members += [(f"{size} bytes", long[:size]) for size in (4095, 4096, 4097, 8192, 8193)]  # Where a part ends.
    for mode in ("w", "w:gz"):
        archive_of(tmp_path / "a.tar", *members, mode=mode)
        reader = hp.TarReader(tmp_path / "a.tar")
        assert list(reader) == [one for one in members if one[1] is not None]
        assert (reader.skipped, reader.has_end, list(reader)) == (1, True, [])
    archive_of(tmp_path / "a.tar", ("a", b"one"), ("b", b"two"))
    whole = (tmp_path / "a.tar").read_bytes()
    (tmp_path / "a.tar").write_bytes(whole[:1024])
    reader = hp.TarReader(tmp_path / "a.tar")
    first = next(reader)
    assert (first.name, first.content) == ("a", b"one") and list(reader) == [] and not reader.has_end
    (tmp_path / "a.tar").write_bytes(whole[:1537])
    with pytest.raises(hp.DataLossError, match="a.tar"):
        list(hp.TarReader(tmp_path / "a.tar"))
    with pytest.raises(FileNotFoundError):
        hp.TarReader(tmp_path / "absent.tar")
