# SPDX-License-Identifier: Apache-2.0
"""Pictures of batches: which fields, which layout, which colours, and what stands below."""
import base64
import re

import numpy as np
import pytest

import headpond as hp

RED, GREEN, BLUE, BLACK, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (0, 0, 0), (255, 255, 255)


def pixels(*rows):
    """uint8 [rows, 1, width, 3]"""
    return np.array(rows, np.uint8)[:, None]


IMAGES = pixels([RED, GREEN], [BLUE, WHITE], [BLACK, RED])


def decoded(pictures):
    """What a page shows: [height, width, 3] of each picture."""
    files = re.findall(r'src="data:image/png;base64,([^"]+)"', pictures._repr_html_())
    return [hp.decode_png(channels=3)(base64.b64decode(one)) for one in files]


def captions(pictures):
    return re.findall(r"<figcaption>(.*?)</figcaption>", pictures._repr_html_())


def expect(pictures, images):
    shown = decoded(pictures)
    assert len(shown) == len(images) and all(np.array_equal(one, image) for one, image in zip(shown, images))


def test_an_encoded_image_is_decoded_again():
    for shape, dtype in (((3, 5), np.uint8), ((4, 2, 3), np.uint8), ((1, 1, 4), np.uint16), ((2, 3, 2), np.uint8)):
        image = (np.arange(np.prod(shape)) * 997).astype(dtype).reshape(shape)
        for level in (-1, 0, 9):
            file = hp.encode_png(image, level)
            assert file.startswith(b"\x89PNG")
            again = hp.decode_png(channels=0, dtype=dtype)(file)
            assert np.array_equal(again.reshape(shape), image)
    with pytest.raises(hp.InvalidArgumentError):
        hp.encode_png(np.zeros((2, 2), np.float32))


def test_an_encoded_jpeg_is_decoded_to_about_the_same():
    image = np.add.outer(np.arange(40), np.arange(60)).astype(np.uint8)
    for shown in (image, np.stack([image, image // 2, 255 - image], -1)):
        file = hp.encode_jpeg(shown, chroma_downsampling=False)
        again = hp.decode_jpeg(channels=0)(file)
        assert file.startswith(b"\xff\xd8") and np.abs(again.reshape(shown.shape).astype(int) - shown).max() < 8
        sizes = [len(hp.encode_jpeg(shown, 20, optimize=True)), len(hp.encode_jpeg(shown, optimize=True)), len(hp.encode_jpeg(shown, quality=95))]
        assert sizes == sorted(set(sizes))
    for wrong in (lambda: hp.encode_jpeg(image, 101), lambda: hp.encode_jpeg(image / 255), lambda: hp.encode_jpeg(np.zeros((2, 2, 4), np.uint8))):
        with pytest.raises(hp.InvalidArgumentError):
            wrong()
    with pytest.raises(TypeError, match="progressive=1: must be True or False"):
        hp.encode_jpeg(image, progressive=1)


@pytest.mark.parametrize("make", [
    lambda x: x, lambda x: x.transpose(0, 3, 1, 2), lambda x: x.astype(np.float32) / 255, lambda x: x.transpose(0, 3, 1, 2) / 255,
    lambda x: x.astype(np.int64), lambda x: x / np.float16(255), lambda x: x > 0, lambda x: np.concatenate([x, x[..., :1]], 3)],
    ids=["HWC", "CHW", "f32", "CHW f64", "i64", "f16", "bool", "RGBA"])
def test_layouts_and_dtypes_show_the_same(make):
    expect(hp.show(make(IMAGES)), IMAGES)


def test_a_wrong_layout_would_be_seen():
    with pytest.raises(AssertionError):
        expect(hp.show(IMAGES[..., ::-1]), IMAGES)


def test_gray_images_and_one_image():
    gray = np.arange(30, dtype=np.uint8).reshape(2, 3, 5) * 8
    for batch in (gray, gray[..., None], gray[:, None]):
        expect(hp.show({"x": batch}, image="x"), np.repeat(gray[..., None], 3, 3))
    expect(hp.show({"image": IMAGES[0], "label": np.int64(7), "path": b"a.png"}), IMAGES[:1])
    assert captions(hp.show({"image": IMAGES[0], "label": np.int64(7), "path": b"a.png"})) == ["label: 7, path: a.png"]


def test_other_values_are_stretched_and_normalized_ones_taken_back():
    values = np.array([[[-1.0, 1.0], [0.0, np.nan]]], np.float32)
    shown = hp.show({"x": values, "y": values[:, 0, 0]})
    assert decoded(shown)[0][..., 0].tolist() == [[0, 255], [128, 0]] and "least value, -1" in shown.notes["x"]
    assert "least value, -1, to its largest, 1" in shown._repr_html_()
    images = np.random.default_rng(1).integers(0, 256, (2, 5, 6, 3), np.uint8)
    mean, std = [0.4, 0.5, 0.6], [0.2, 0.3, 0.4]
    normal = np.stack([hp.normalize(mean=mean, std=std)(one) for one in images])
    expect(hp.show(normal, mean=mean, std=std), images)
    assert not hp.show(normal, mean=mean, std=std).notes and hp.show(normal).notes
    expect(hp.show({"image": normal, "mask": images}, mean=mean, std=std, rows=1, columns=1), [images[0], images[0]])
    depth = np.array([[[0, 1000], [500, 2000]]], np.uint16)
    assert decoded(hp.show(depth))[0][..., 0].tolist() == [[0, 128], [64, 255]]


def test_which_fields_and_how_many_rows():
    batch = {"image": IMAGES, "label": np.array([2, 0, 1]), "map": IMAGES[..., 0] / 255.0, "name": np.array([b"a", b"b<c", b"d" * 50], object),
             "vector": np.zeros((3, 9))}
    gray = np.repeat(IMAGES[..., :1], 3, 3)
    expect(hp.show(batch), [IMAGES[0], gray[0], IMAGES[1], gray[1], IMAGES[2], gray[2]])
    expect(hp.show(batch, image="image", rows=1, columns=2), IMAGES[:2])
    expect(hp.show(batch, image=["map", "image"], rows=1, columns=1), [gray[0], IMAGES[0]])
    assert captions(hp.show(batch)) == ["label: 2, name: a", "label: 0, name: b&lt;c", "label: 1, name: …" + "d" * 39]
    assert captions(hp.show(batch, label="label", classes=["cat", "dog"])) == ["2", "cat", "dog"]
    assert captions(hp.show((IMAGES, batch["label"] * 0.5))) == ["1", "0", "0.5"]
    assert hp.show(batch, rows=1, columns=2).shown == 2 and "2 rows" in repr(hp.show(batch, rows=1, columns=2))


def test_boxes_and_points_are_no_images():
    batch = {"image": IMAGES, "boxes": np.zeros((len(IMAGES), 5, 4), np.float32), "points": np.zeros((len(IMAGES), 7, 2), np.float32)}
    expect(hp.show(batch), IMAGES)
    assert hp.show({"points": batch["points"]}).shown == len(IMAGES), "control: alone they have the shape of gray images"


def test_a_mask_lies_over_its_image():
    mask = np.array([[[0, 1]], [[2, 0]], [[0, 0]]])
    expected = IMAGES.copy()
    expected[0, 0, 1] = (np.array(GREEN) + (230, 25, 75)) // 2
    expected[1, 0, 0] = (np.array(BLUE) + (60, 180, 75)) // 2
    for one in (mask, mask[..., None].astype(np.uint8), mask[:, None].astype(np.float32)):
        expect(hp.show({"image": IMAGES, "mask": one}, mask="mask"), expected)
    with pytest.raises(hp.InvalidArgumentError, match="one channel"):
        hp.show({"image": IMAGES, "mask": IMAGES}, mask="mask")


def test_files(tmp_path):
    shown = hp.show({"image": IMAGES, "label": np.arange(3)}, columns=2)
    shown.save(tmp_path / "x.png")
    sheet = hp.decode_png(channels=3)((tmp_path / "x.png").read_bytes())
    assert sheet.shape == (2 * 3 + 2, 2 * 4 + 2, 3)
    for number, image in enumerate(IMAGES):
        y, x = 2 + number // 2 * 3, 2 + number % 2 * 4
        assert np.array_equal(sheet[y:y + 1, x:x + 2], image)
    shown.save(str(tmp_path / "x.html"))
    page = (tmp_path / "x.html").read_text()
    assert page.count("<img") == 3 and "<figcaption>2</figcaption>" in page and "http" not in page
    with pytest.raises(hp.InvalidArgumentError, match="neither with .png nor with .html"):
        shown.save(tmp_path / "x.jpg")


def test_large_pictures_are_made_smaller_and_small_ones_shown_larger():
    assert decoded(hp.show(np.full((1, 300, 600, 3), 9, np.uint8)))[0].shape == (128, 256, 3)
    assert 'width="112" height="112"' in hp.show(np.zeros((1, 28, 28), np.uint8))._repr_html_()


@pytest.mark.parametrize("wrong, text", [
    (lambda: hp.show({"x": np.zeros((3, 4))}), r"no field has the shape of images: x float64\[3, 4\]"),
    (lambda: hp.show({"image": IMAGES}, image="img"), "no such field; there are image"),
    (lambda: hp.show({"image": IMAGES, "y": np.zeros((3, 4))}, image="y"), "no images"),
    (lambda: hp.show({"image": IMAGES, "y": IMAGES[:2]}), "different numbers of rows"),
    (lambda: hp.show({"image": IMAGES, "y": np.zeros((3, 4))}, label="y"), "no field with one value"),
    (lambda: hp.show(IMAGES, rows=0), "rows=0"),
    (lambda: hp.show(IMAGES, mean=[0.5]), "mean and std are of floats, and no image has any: 0 uint8"),
    (lambda: hp.show({"image": IMAGES, "label": np.zeros(3, np.float32)}, std=2), "mean and std are of floats"),
    (lambda: hp.show({"name": np.array([b"a"], object)}), "no field has the shape of images")])
def test_what_cannot_be_shown_says_why(wrong, text):
    with pytest.raises(hp.InvalidArgumentError, match=text):
        wrong()


def test_batches_of_a_loader_and_of_others():
    data = hp.from_tensor_slices({"image": IMAGES, "label": np.arange(3)}).batch(3)
    expect(hp.show(next(hp.Loader(data).flat())), IMAGES)
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    batch = next(hp.Loader(data, format="torch").flat())
    expect(hp.show(batch), IMAGES)
    assert captions(hp.show(batch, classes=["a", "b", "c"])) == ["a", "b", "c"]
    expect(hp.show(batch["image"].permute(0, 3, 1, 2).to(torch.bfloat16).div(255).requires_grad_()), IMAGES)


def test_batches_of_jax():
    pytest.importorskip("jax", reason="JAX is not installed")
    import jax.numpy as jnp
    data = hp.from_tensor_slices({"image": IMAGES, "label": np.arange(3)}).batch(3)
    batch = next(hp.Loader(data, format="jax").flat())
    expect(hp.show(batch), IMAGES)
    expect(hp.show((batch["image"] / 255).astype(jnp.bfloat16)), IMAGES)
