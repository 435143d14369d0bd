"""HDF5 files for the tests: of Keras 2, and odd ones."""

import numpy as np

from keras_models import flat


def record_keras_2(recorded):
    """Files of Keras 2: tf_keras, in the layouts of whole models and of weights."""
    import tf_keras
    from tf_keras import layers as old

    tf_keras.utils.set_random_seed(1)
    a, b = old.Input((5, 8), name="a"), old.Input((5, 8), name="b")
    x = old.Add()([old.MultiHeadAttention(2, 4)(a, b), a])
    inner = tf_keras.Sequential([old.Dense(4, activation="relu"), old.BatchNormalization(), old.Dense(3)], name="inner")
    shared = old.Dense(3)
    outputs = [shared(inner(old.GlobalAveragePooling1D()(x))), shared(old.Dense(3)(old.Bidirectional(old.LSTM(3))(x)))]
    model = tf_keras.Model([a, b], outputs)
    model.compile("adam", ["mse", "mae"], metrics=[["mae"], ["mse"]])
    rng = np.random.default_rng(0)
    inputs = [rng.uniform(-1, 1, (2, 5, 8)).astype("float32") for _ in range(2)]
    model.train_on_batch(inputs, [np.zeros((2, 3)), np.zeros((2, 3))])
    write_keras_2(model, recorded / "keras_2_graph", inputs)
    model = tf_keras.Sequential([old.Conv2D(3, 3, input_shape=(6, 6, 2), activation="relu"), old.BatchNormalization(),
                                 old.MaxPooling2D(2), old.Flatten(), old.Dropout(0.3),
                                 old.Dense(4, activation="softmax")])
    model.compile(tf_keras.optimizers.legacy.SGD(0.1, momentum=0.9), "sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    write_keras_2(model, recorded / "keras_2_list", [rng.uniform(-1, 1, (2, 6, 6, 2)).astype("float32")])


def write_keras_2(model, folder, inputs):
    folder.mkdir(parents=True)
    model.save(folder / "keras.h5")
    model.save_weights(folder / "weights.h5")
    outputs = model.predict(inputs if len(inputs) > 1 else inputs[0], verbose=0)
    np.savez(folder / "expected.npz", **{f"x{i}": x for i, x in enumerate(inputs)},
             **{f"y{i}": y for i, y in enumerate(flat(outputs))})


def record_hdf5(folder):
    """Files with what mezzo reads beyond Keras' weights, and with what it refuses."""
    import h5py

    folder.mkdir()
    with h5py.File(folder / "numbers.h5", "w") as f:
        for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"):
            f[f"group/{name}"] = (np.arange(6).reshape(2, 3) % 2).astype(name)
        f["big_endian"] = np.arange(3, dtype=">f4")
        f["scalar"] = np.float32(1.5)
        f["empty"] = np.zeros((0, 3), "float32")
        f.create_dataset("packed", data=np.arange(100.0), compression="gzip", shuffle=True)
        f.attrs["one"], f.attrs["fixed"] = "text", np.array([b"ab", b"cde"])
    refused = {
        "external_link": lambda f: f.__setitem__("x", h5py.ExternalLink("/etc/passwd", "/")),
        "soft_link": lambda f: f.__setitem__("x", h5py.SoftLink("/y")),
        "external_storage": lambda f: f.create_dataset("x", (4,), "f4", external=[("/etc/passwd", 0, 16)]),
        "virtual": lambda f: f.create_virtual_dataset("x", virtual_layout(h5py)),
        "lzf": lambda f: f.create_dataset("x", data=np.zeros(9), compression="lzf"),
        "fletcher32": lambda f: f.create_dataset("x", data=np.zeros(9), fletcher32=True),
        "compound": lambda f: f.create_dataset("x", data=np.zeros(3, [("a", "f4"), ("b", "i4")])),
        "texts": lambda f: f.create_dataset("x", data=[b"a", b"b"]),
        "references": lambda f: f.create_dataset("x", (1,), h5py.ref_dtype),
        "not_stored": lambda f: f.create_dataset("x", (1000000, 1000), "f4"),
        "null": lambda f: f.create_dataset("x", data=h5py.Empty("f4")),
        "cycle": lambda f: f.create_group("a").__setitem__("b", f["/"]),
        "named_type": lambda f: f.__setitem__("x", np.dtype("f4")),
    }
    for name, write in refused.items():
        with h5py.File(folder / f"refused_{name}.h5", "w") as f:
            write(f)


def virtual_layout(h5py):
    layout = h5py.VirtualLayout((4,), "f4")
    layout[:] = h5py.VirtualSource("/etc/passwd", "y", (4,))
    return layout
