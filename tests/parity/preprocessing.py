"""Records preprocessing of Keras: layers on arrays and texts, with TensorFlow for the lookups."""

from common import array, keras, np, numbers, write

layers = keras.layers
rng = np.random.default_rng(5)
texts = ["The cat sat, on the MAT!", "a dog & the cat", "", "  dog\tdog\ncat  ", "Ünïcode café isn't CAFÉ"]
words = [["a", "c", "d", "d"], ["d", "z", "b", "zz"], ["[UNK]", "", "a", "c"]]
vocabulary = ["a", "b", "c", "d"]


def numpy_of(x):
    return np.asarray(x.numpy() if hasattr(x, "numpy") else x)


def out(x):
    x = numpy_of(x)
    return array(x.astype("uint8")) | {"dtype": "bool"} if x.dtype == bool else array(x)


def strings(options, *calls, adapt=None):
    layer = layers.StringLookup(**options)
    if adapt is not None:
        layer.adapt(np.array(adapt))
    return {"vocabulary": layer.get_vocabulary(), "outputs": [out(layer(np.array(x))) for x in calls]}


def vectorized(options, adapt=None):
    layer = layers.TextVectorization(**options)
    if adapt is not None:
        layer.adapt(np.array(adapt))
    return {"vocabulary": layer.get_vocabulary(), "output": out(layer(np.array(texts)))}


def integers(options, x, adapt=None):
    layer = layers.IntegerLookup(**options)
    if adapt is not None:
        layer.adapt(np.array(adapt))
    return {"vocabulary": [int(t) for t in layer.get_vocabulary()], "output": out(layer(np.array(x)))}


ints = [[1, 5, 7, 7], [9, 5, 2, 12], [0, -3, 1, 5]]
lookups = {
    "int": strings({"vocabulary": vocabulary}, words),
    "mask": strings({"vocabulary": vocabulary, "mask_token": ""}, words),
    "one_hot": strings({"vocabulary": vocabulary, "output_mode": "one_hot"}, words, ["a", "z"]),
    "multi_hot": strings({"vocabulary": vocabulary, "output_mode": "multi_hot", "mask_token": ""}, words, ["a", "z"]),
    "count": strings({"vocabulary": vocabulary, "output_mode": "count", "max_tokens": 7, "pad_to_max_tokens": True},
                     words),
    "tf_idf": strings({"vocabulary": vocabulary, "output_mode": "tf_idf", "idf_weights": [0.25, 0.75, 0.6, 0.4]}, words),
    "several": strings({"vocabulary": vocabulary, "num_oov_indices": 5}, words),
    "salt": strings({"vocabulary": vocabulary, "num_oov_indices": 5, "salt": [133, 137]}, words),
    "adapt": strings({"max_tokens": 4}, words, adapt=words),
    "adapt_tf_idf": strings({"output_mode": "tf_idf"}, words, adapt=words),
}
vectorizations = {
    "default": vectorized({}, texts),
    "length": vectorized({"output_sequence_length": 3, "max_tokens": 6}, texts),
    "lower": vectorized({"standardize": "lower"}, texts),
    "strip": vectorized({"standardize": "strip_punctuation"}, texts),
    "none": vectorized({"standardize": None, "split": None}, texts),
    "character": vectorized({"split": "character"}, texts),
    "ngrams": vectorized({"ngrams": 2}, texts),
    "multi_hot": vectorized({"output_mode": "multi_hot"}, texts),
    "count": vectorized({"output_mode": "count", "max_tokens": 30, "pad_to_max_tokens": True}, texts),
    "tf_idf": vectorized({"output_mode": "tf_idf"}, texts),
    "vocabulary": vectorized({"vocabulary": ["cat", "dog"]}),
}
integer_lookups = {
    "int": integers({"vocabulary": [5, 7, 1]}, ints),
    "mask": integers({"vocabulary": [5, 7, 1], "mask_token": 0}, ints),
    "several": integers({"vocabulary": [5, 7, 1], "num_oov_indices": 3}, ints),
    "farmhash": integers({"vocabulary": [5, 7, 1], "num_oov_indices": 3, "oov_method": "farmhash"}, ints),
    "salt": integers({"vocabulary": [5, 7, 1], "num_oov_indices": 3, "oov_method": "farmhash", "salt": 133}, ints),
    "invert": integers({"vocabulary": [5, 7, 1], "invert": True}, ints),
    "multi_hot": integers({"vocabulary": [5, 7, 1], "output_mode": "multi_hot"}, ints),
    "adapt": integers({}, ints, adapt=ints),
    "adapt_tf_idf": integers({"output_mode": "tf_idf", "max_tokens": 4}, ints, adapt=ints),
}

hashed = ["", "A", "abcd", "abcdefgh", "x" * 16, "The quick brown fox jumps", "y" * 32, "z" * 50,
          "Pack my box with five dozen liquor jugs and sixty more, then a hundred others.", "w" * 64, "v" * 128]
hashes = {
    "strings": hashed,
    "farm": out(layers.Hashing(num_bins=1000003)(np.array(hashed))),
    "sip": out(layers.Hashing(num_bins=1000003, salt=[133, 137])(np.array(hashed))),
    "mask": out(layers.Hashing(num_bins=10, mask_value="A")(np.array(hashed))),
    "integers": out(layers.Hashing(num_bins=11, mask_value=5)(np.array(ints))),
    "one_hot": out(layers.Hashing(num_bins=3, output_mode="one_hot", salt=133)(np.array([[1], [2]]))),
}


def of_arrays(layer, x, adapt=None):
    if adapt is not None:
        layer.adapt(adapt)
    return {"input": out(x), "adapted": [] if adapt is None else [out(adapt)], "output": out(layer(x))}


rows, many = numbers(1, (6, 4)) * 3 + 1, numbers(2, (50, 2)) * 10
image, small = numbers(3, (2, 6, 5, 3)) * 255, numbers(4, (7, 8, 1))
bytes_ = rng.integers(0, 256, (2, 5, 6, 3), dtype="uint8")
classes = np.array([[0, 2, 2], [3, 1, 0]])
arrays = {
    "normalization": of_arrays(layers.Normalization(), rows, rows),
    "normalization_none": of_arrays(layers.Normalization(axis=None), rows, rows),
    "normalization_axes": of_arrays(layers.Normalization(axis=(1, 3)), image, image),
    "normalization_invert": of_arrays(layers.Normalization(invert=True), rows, rows),
    "normalization_given": of_arrays(layers.Normalization(mean=[3.0, 1.0, 0.5, 2.0], variance=[2.0, 1.0, 4.0, 0.0]), rows),
    "normalization_scalar": of_arrays(layers.Normalization(mean=3.0, variance=2.0), rows),
    "discretization": of_arrays(layers.Discretization(bin_boundaries=[0.0, 1.0, 2.0]), rows),
    "discretization_one_hot": of_arrays(layers.Discretization([0.0, 1.0], output_mode="one_hot"), rows),
    "discretization_multi_hot": of_arrays(layers.Discretization([0.0, 1.0], output_mode="multi_hot"), rows),
    "discretization_count": of_arrays(layers.Discretization([0.0, 1.0], output_mode="count"), rows),
    "discretization_adapt": of_arrays(layers.Discretization(num_bins=4), many, many),
    "discretization_coarse": of_arrays(layers.Discretization(num_bins=3, epsilon=0.1), many, many),
    "category_one_hot": of_arrays(layers.CategoryEncoding(4, output_mode="one_hot"), classes),
    "category_multi_hot": of_arrays(layers.CategoryEncoding(4), classes),
    "category_count": of_arrays(layers.CategoryEncoding(5, output_mode="count"), classes),
    "category_list": of_arrays(layers.CategoryEncoding(4, output_mode="one_hot"), np.array([[1], [3]])),
    "resizing": of_arrays(layers.Resizing(4, 7), image),
    "resizing_bytes": of_arrays(layers.Resizing(3, 8), bytes_),
    "resizing_crop": of_arrays(layers.Resizing(4, 4, crop_to_aspect_ratio=True, interpolation="bicubic"), image),
    "resizing_pad": of_arrays(layers.Resizing(4, 6, pad_to_aspect_ratio=True, fill_value=7), image),
    "resizing_antialias": of_arrays(layers.Resizing(3, 2, antialias=True), image),
    "center_crop": of_arrays(layers.CenterCrop(3, 4), image),
    "center_crop_small": of_arrays(layers.CenterCrop(9, 4), image),
    "center_crop_single": of_arrays(layers.CenterCrop(4, 3), small),
}


def random(layer, x):
    return {"input": out(x), "output": out(layer(x, training=True))}


augmentations = {
    "rotation": random(layers.RandomRotation((0.1, 0.1)), image),
    "rotation_wrap": random(layers.RandomRotation((-0.3, -0.3), fill_mode="wrap"), image),
    "rotation_constant": random(layers.RandomRotation((0.2, 0.2), fill_mode="constant", fill_value=9.0), image),
    "rotation_nearest": random(layers.RandomRotation((0.13, 0.13), fill_mode="nearest", interpolation="nearest"), image),
    "rotation_single": random(layers.RandomRotation((0.1, 0.1)), small),
    "zoom": random(layers.RandomZoom((0.3, 0.3)), image),
    "zoom_in": random(layers.RandomZoom((-0.4, -0.4), (0.2, 0.2), fill_mode="constant"), image),
    "translation": random(layers.RandomTranslation((0.3, 0.3), (-0.25, -0.25)), image),
    "brightness": random(layers.RandomBrightness((0.2, 0.2)), image),
    "contrast": random(layers.RandomContrast((0.0, 0.0)), image),
    "contrast_less": random(layers.RandomContrast((0.4, 0.4), value_range=(0, 200)), image),
}

sequences = [[1.5, 2, 3], [4], [], [5, 6, 7, 8, 9]]
pad = keras.utils.pad_sequences
series = np.arange(20) * 10


def windows(**options):
    data = keras.utils.timeseries_dataset_from_array(series, np.arange(20), batch_size=100, **options)
    x, y = next(iter(data))
    return {"x": out(x), "y": out(y)}


utilities = {
    "pad": out(pad(sequences)),
    "pad_post": out(pad(sequences, padding="post", truncating="post", maxlen=3, dtype="float32", value=-1.0)),
    "pad_cut": out(pad(sequences, maxlen=2)),
    "categorical": out(keras.utils.to_categorical([[0], [2], [1]])),
    "windows": windows(sequence_length=4),
    "windows_stride": windows(sequence_length=3, sequence_stride=2, sampling_rate=3),
}
write("preprocessing", {"texts": texts, "words": words, "integers": ints, "lookups": lookups,
                        "vectorizations": vectorizations, "integer_lookups": integer_lookups, "hashes": hashes,
                        "arrays": arrays, "augmentations": augmentations, "utilities": utilities})
