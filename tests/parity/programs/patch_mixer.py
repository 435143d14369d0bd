"""Names the patterns of beadwork by a network that mixes the patches of a picture and their features in turn.

Tolstikhin et al. (2021), "MLP-Mixer: An all-MLP Architecture for Vision".
"""

from programs import initialize, integers, keras, normal, np, uniform

layers, ops = keras.layers, keras.ops

# (a, b, period, run): beads have the first color where (a row + b column) % period < run.
PATTERNS = np.array([(1, 1, 2, 1), (1, 1, 4, 2), (2, 1, 5, 1), (1, 2, 4, 2)])  # checks, slants, dots, steps
SIDE = 12


def beadwork(count):
    """Pictures of two colors with two channels, and the numbers of their patterns."""
    kinds = integers(1, (count,), len(PATTERNS))
    a, b, period, run = PATTERNS[kinds].T.reshape(4, count, 1, 1)
    beads = np.arange(SIDE)
    is_first = (a * beads.reshape(SIDE, 1) + b * beads + integers(2, (count, 1, 1), 5)) % period < run
    first, second = uniform(3, (count, 1, 1, 2)), uniform(4, (count, 1, 1, 2))
    return np.where(is_first[..., None], first, second) + 0.3 * normal(5, (count, SIDE, SIDE, 2)), kinds


class Cutter(layers.Layer):
    """Cuts pictures into square tiles and maps each tile to `width` features."""

    def __init__(self, side, width):
        super().__init__()
        self.side = side
        self.features = layers.Dense(units=width)

    def call(self, pictures):
        tiles = ops.image.extract_patches(pictures, self.side)
        count, rows, columns, pixels = ops.shape(tiles)
        return self.features(ops.reshape(tiles, (count, rows * columns, pixels)))


class Mix(layers.Layer):
    """Adds to its input what two dense layers make of it, across the tiles (axis 1) or the features (axis 2)."""

    def __init__(self, axis, hidden):
        super().__init__()
        self.axis = axis
        self.hidden = hidden

    def build(self, input_shape):
        self.norm = layers.LayerNormalization(epsilon=1e-5)
        self.dense = keras.Sequential([layers.Dense(activation="gelu", units=self.hidden), layers.Dropout(rate=0.0),
                                       layers.Dense(units=input_shape[self.axis])])

    def call(self, x):
        y = self.norm(x)
        if self.axis == 2:
            return x + self.dense(y)
        return x + ops.transpose(self.dense(ops.transpose(y, axes=(0, 2, 1))), axes=(0, 2, 1))


def record():
    picture = keras.Input((SIDE, SIDE, 2))
    tiles = Cutter(3, 8)(picture)
    for axis, hidden in [(1, 20), (2, 12)] * 2:
        tiles = Mix(axis, hidden)(tiles)
    summary = layers.GlobalAveragePooling1D()(layers.LayerNormalization(epsilon=1e-5)(tiles))
    model = keras.Model(inputs=picture, outputs=layers.Dense(units=len(PATTERNS))(summary))
    weights = initialize(model)
    hits = [keras.metrics.SparseCategoricalAccuracy(name="acc"),
            keras.metrics.SparseTopKCategoricalAccuracy(name="top_two", k=2)]
    model.compile(metrics=hits, loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  optimizer=keras.optimizers.AdamW(weight_decay=0.01, learning_rate=0.03))
    pictures, kinds = beadwork(64)
    slower = keras.callbacks.ReduceLROnPlateau(factor=0.5, monitor="val_loss", patience=1)
    enough = keras.callbacks.EarlyStopping(restore_best_weights=True, monitor="val_loss", patience=3)
    history = model.fit(x=pictures, y=kinds, callbacks=[slower, enough], validation_split=0.25, epochs=12,
                        batch_size=16, shuffle=False, verbose=0)
    best = model.evaluate(pictures[48:], kinds[48:], verbose=0, return_dict=True)
    return {"weights": weights, "history": history.history, "best": best}
