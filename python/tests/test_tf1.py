# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's input functions."""
import pathlib

import numpy as np
import pytest

import headpond as hp
from headpond import tf1


@pytest.fixture
def files(tmp_path):
    for number in range(3):
        with hp.RecordWriter(tmp_path / f"{number}.tfrecord") as writer:
            for record in range(4):
                writer.append(f"{number}{record}".encode())
    return sorted(str(one) for one in tmp_path.iterdir())


def test_the_usual_chain_of_a_tensorflow_1_program(files):
    names = tf1.string_input_producer(tf1.match_filenames_once(files[0].replace("0.tfrecord", "*")), num_epochs=2, shuffle=False)
    reader = tf1.TFRecordReader()

    def example():
        key, value = reader.read(names.queue)
        return key, int(value)

    batches = tf1.batch(example, batch_size=6, shapes=[(), ()], dtypes=[bytes, hp.i64])
    with hp.Coordinator() as coord:
        tf1.start_queue_runners(coord)
        got = [numbers.tolist() for _, numbers in batches]
    assert sum(got, []) == [10 * file + record for file in range(3) for record in range(4)] * 2
    assert (reader.num_records_produced(), reader.num_work_units_completed()) == (24, 6)


def test_shuffled_batches_have_all_examples():
    numbers = tf1.range_input_producer(100, num_epochs=1)
    batches = tf1.shuffle_batch(numbers, 10, 60, 40, seed=3, shapes=[()], dtypes=hp.i64, allow_smaller_final_batch=True)
    with hp.Coordinator() as coord:
        tf1.start_queue_runners(coord)
        got = [batch.tolist() for batch in batches]
    assert sorted(sum(got, [])) == list(range(100)) != sum(got, [])


def test_joins_keep_filters_and_padding():
    def source(first):
        numbers = iter(range(first, first + 10))
        return lambda: (np.arange(next(numbers) % 3 + 1), first)

    joined = tf1.maybe_batch_join([source(0), source(100)], lambda example: len(example[0]) < 3, 4, shapes=[(None,), ()], dynamic_pad=True,
                                  allow_smaller_final_batch=True, dtypes=[hp.i64, hp.i64])
    with hp.Coordinator() as coord:
        joined.start(coord)
        batches = list(joined)
    assert sum(len(firsts) for _, firsts in batches) == 14 and all(rows.shape[1] == 2 for rows, _ in batches[:-1])
    sliced = tf1.slice_input_producer({"x": np.arange(6).reshape(3, 2), "y": np.arange(3)}, num_epochs=1, shuffle=False)
    with hp.Coordinator() as coord:
        sliced.start(coord)
        first = sliced.dequeue()
    assert (first["x"].tolist(), first["y"]) == ([0, 1], 0)


def test_an_error_of_an_example_ends_the_batches_and_is_their_cause():
    def example():
        raise KeyError("broken")

    batches = tf1.shuffle_batch_join([example], 2, 8, 4, shapes=[()], dtypes=hp.i64)
    coord = hp.Coordinator()
    batches.start(coord)
    with pytest.raises(hp.OutOfRangeError) as caught:
        batches.dequeue()
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(KeyError):
        coord.join()


def test_a_reader_goes_on_from_its_state(files):
    def queue():
        made = hp.FIFOQueue(10, bytes, [()])
        made.enqueue_many(files)
        made.close()
        return made

    names, reader = queue(), tf1.TFRecordReader()
    assert [value for _, value in reader.read_up_to(names, 3)] == [b"00", b"01", b"02"]
    other = tf1.TFRecordReader()
    other.restore_state(reader.serialize_state())
    assert other.read(names)[1] == b"03"
    with pytest.raises(hp.FailedPreconditionError):
        tf1.IdentityReader().restore_state(reader.serialize_state())


def test_the_other_readers(tmp_path):
    (tmp_path / "a").write_bytes(b"head\nab\ncd\n")

    def queue():
        made = hp.FIFOQueue(10, bytes, [()])
        made.enqueue(str(tmp_path / "a"))
        made.close()
        return made

    assert tf1.WholeFileReader().read(queue())[1] == b"head\nab\ncd\n"
    assert tf1.TextLineReader(skip_header_lines=1).read(queue()) == (f"{tmp_path}/a:2".encode(), b"ab")
    assert tf1.FixedLengthRecordReader(3, header_bytes=5).read(queue())[1] == b"ab\n"
    assert tf1.IdentityReader().read(queue())[1] == str(tmp_path / "a").encode()


def test_epochs_are_limited():
    source = tf1.limit_epochs(5, 2)
    assert (source(), source()) == (5, 5)
    with pytest.raises(StopIteration):
        source()
    for call in (lambda: tf1.limit_epochs(5, 0), lambda: tf1.string_input_producer([]), lambda: tf1.range_input_producer(3, num_epochs=0)):
        with pytest.raises(ValueError):
            call()


def test_a_text_is_no_list_of_texts():
    """Its letters would be the names of files."""
    for given in ("a.txt", b"a.txt", pathlib.Path("a.txt")):
        with pytest.raises(TypeError, match="must be a list of texts"):
            hp.tf1.string_input_producer(given)
