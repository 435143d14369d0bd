"""Records preprocessing layers of Keras on unknown tokens, without a vocabulary, and on images of other sizes than those
of the first call."""

from common import array, keras, np, numbers, write

layers = keras.layers


def result(function):
    try:
        out = function()
    except Exception as error:  # of any backend
        return {"error": type(error).__name__}
    out = np.asarray(out.numpy() if hasattr(out, "numpy") else out)
    if out.dtype.kind == "f":
        out = np.round(out.astype("float32"), 4)  # for short JSON
    return {"output": array(out.astype("int64") if out.dtype.kind in "iub" else out)}


def lookup(make, x, adapt=None):
    def run():
        layer = make()
        if adapt is not None:
            layer.adapt(adapt)
        return layer(x)

    return result(run)


words, texts, ints = np.array([["b", "z"]]), np.array(["dog z", ""]), np.array([[7, 9]])
no_words, no_ints = np.array([], dtype=str), np.array([], dtype=int)
lookups = {}
for name, layer, x, known, nothing in [("string", layers.StringLookup, words, ["a", "b"], no_words),
                                       ("text", layers.TextVectorization, texts, ["cat", "dog"], no_words),
                                       ("integer", layers.IntegerLookup, ints, [5, 7], no_ints)]:
    lookups[f"{name}_unknown"] = lookup(lambda: layer(vocabulary=known), x)
    lookups[f"{name}_empty"] = lookup(lambda: layer(vocabulary=[]), x)
    lookups[f"{name}_not_adapted"] = lookup(layer, x)
    lookups[f"{name}_adapted_to_nothing"] = lookup(layer, x, nothing)
    if name != "text":
        lookups[f"{name}_without_oov"] = lookup(lambda: layer(vocabulary=known, num_oov_indices=0), x)
        lookups[f"{name}_counts_unknown"] = lookup(lambda: layer(vocabulary=known, output_mode="multi_hot"), x)
lookups["text_adapted_to_empty_texts"] = lookup(layers.TextVectorization, texts, np.array(["", " "]))

makers = {
    "resizing": lambda: layers.Resizing(3, 4),
    "resizing_crop": lambda: layers.Resizing(3, 4, crop_to_aspect_ratio=True),
    "resizing_pad": lambda: layers.Resizing(3, 4, pad_to_aspect_ratio=True),
    "center_crop": lambda: layers.CenterCrop(3, 4),
    "rotation": lambda: layers.RandomRotation((0.1, 0.1)),
    "zoom": lambda: layers.RandomZoom((0.3, 0.3)),
    "translation": lambda: layers.RandomTranslation((0.3, 0.3), (-0.25, -0.25)),
    "brightness": lambda: layers.RandomBrightness((0.2, 0.2)),
}
first = np.round(numbers(3, (1, 6, 5, 3)) * 255)
others = {"pixel": np.round(numbers(4, (1, 1, 1, 3)) * 255), "wide": np.round(numbers(5, (1, 2, 9, 3)) * 255),
          "single": np.round(numbers(6, (7, 2, 1)) * 255), "no_image": np.zeros((0, 6, 5, 3))}
images = {}
for name, make in makers.items():
    layer = make()
    layer(first, training=True)
    for size, x in others.items():
        images[f"{name}_{size}"] = result(lambda: layer(x, training=True))
write("edge_preprocessing", {"lookups": lookups, "images": images, "first": array(first),
                             "others": {name: array(x) for name, x in others.items()}})
