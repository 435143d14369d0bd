"""Names the pattern of noisy mosaics by a small vision transformer (Dosovitskiy et al., 2021)."""

import tempfile

from programs import initialize, integers, keras, np, uniform

layers, ops = keras.layers, keras.ops
STONES, PIXELS, PIECE, DEPTH = 10, 12, 4, 12
# Factors of row and column, and the width of a stripe: rows, columns, checks, diagonals, broad columns.
PATTERNS = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1], [1, 1, 2], [0, 1, 2]])


def mosaics(stream, count):
    kinds = integers(stream, (count,), len(PATTERNS))
    by_row, by_column, width = PATTERNS[kinds].T[:, :, None, None]
    row, column = np.arange(STONES)[:, None], np.arange(STONES)
    dark = ((by_row * row + by_column * column) // width % 2)[..., None]
    tint = uniform(stream + 1, (count, 1, 1, 3), 0.4, 1.0)
    return dark * tint + 0.5 * uniform(stream + 2, (count, STONES, STONES, 3)), kinds


class Pieces(layers.Layer):
    """Cuts pictures into squares, each a row of its colors."""

    def __init__(self, side):
        super().__init__()
        self.side = side

    def call(self, pictures):
        squares = ops.image.extract_patches(pictures, size=self.side)
        count, height, width, colors = ops.shape(squares)
        return ops.reshape(squares, (count, height * width, colors))


class Placed(layers.Layer):
    """Projects pieces and adds a vector of their place."""

    def __init__(self, places, units):
        super().__init__()
        self.places = places
        self.look = layers.Dense(units=units)
        self.place = layers.Embedding(input_dim=places, output_dim=units)

    def call(self, pieces):
        numbers = ops.arange(step=1, stop=self.places, start=0)
        return self.look(pieces) + self.place(ops.expand_dims(numbers, axis=0))


def leveled(x):
    return layers.LayerNormalization(epsilon=1e-5)(x)


def mixing(x):
    """One residual layer of the encoder among the places, and one at each place."""
    even = leveled(x)
    x = layers.Add()([x, layers.MultiHeadAttention(key_dim=5, num_heads=2, dropout=0.0)(even, even)])
    wide = layers.Dense(2 * DEPTH, activation=keras.activations.gelu)(leveled(x))
    return layers.Add()([layers.Dropout(0.0)(layers.Dense(DEPTH)(wide)), x])


def transformer(prepare):
    pictures = keras.Input((STONES, STONES, 3))
    x = Placed((PIXELS // PIECE) ** 2, DEPTH)(Pieces(PIECE)(prepare(pictures)))
    for _ in range(2):
        x = mixing(x)
    x = layers.Flatten()(leveled(x))
    return keras.Model(inputs=pictures, outputs=layers.Dense(len(PATTERNS), name="kind")(x))


def record():
    pictures, kinds = mosaics(1, 50)
    scale = layers.Normalization()
    scale.adapt(pictures[:40])
    model = transformer(keras.Sequential([scale, layers.Resizing(PIXELS, PIXELS)], name="prepare"))
    shapes = initialize(model)
    model.compile(
        metrics=[keras.metrics.SparseTopKCategoricalAccuracy(2, name="second_guess"),
                 keras.metrics.SparseCategoricalAccuracy(name="right")],
        optimizer=keras.optimizers.AdamW(weight_decay=0.02, learning_rate=4e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    unseen = mosaics(11, 30)
    with tempfile.TemporaryDirectory() as folder:
        best = f"{folder}/best.weights.h5"
        keep = keras.callbacks.ModelCheckpoint(best, save_weights_only=True, save_best_only=True, monitor="val_right",
                                               mode="max")
        history = model.fit(x=pictures, y=kinds, epochs=4, batch_size=10, validation_split=0.2, callbacks=[keep],
                            shuffle=False, verbose=0).history
        last = model.evaluate(*unseen, return_dict=True, verbose=0)
        model.load_weights(best)
    return {
        "shapes": shapes,
        "history": history,
        "last": last,
        "best": model.evaluate(*unseen, return_dict=True, verbose=0),
        "logits": model.predict(unseen[0][:6], verbose=0).ravel().tolist(),
    }
