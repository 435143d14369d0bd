"""Tells woven from knitted fabric on color pictures, by a residual network of separable convolutions.

Chollet (2017): Xception. He, Zhang, Ren and Sun (2016): Deep Residual Learning for Image Recognition.
"""

from programs import initialize, integers, keras, np

layers = keras.layers

SIDE = 16
# Filters of the two convolutions of each branch. The shortcut has those of the second one.
FILTERS = ((6, 8), (8, 12))


def swatches(stream, count):
    """Pictures of fabric of two yarns, and 1 for each knitted one, else 0."""
    knitted = integers(stream, (count, 1, 1), 2)
    row = np.arange(SIDE).reshape(1, SIDE, 1) + integers(stream + 1, (count, 1, 1), 4)
    column = np.arange(SIDE)
    checks = (row // 2 + column // 2) % 2
    chevrons = (row + abs(column % 6 - 3)) % 4 // 2
    front = np.expand_dims(np.where(knitted == 1, chevrons, checks), axis=-1)
    weft, warp = (30 + integers(stream + 2 + i, (count, 1, 1, 3), 180) for i in range(2))
    fuzz = integers(stream + 4, (count, SIDE, SIDE, 3), 40)
    return np.where(front == 1, weft, warp) + fuzz, knitted.reshape(count, 1)


def branch(filters):
    """Separable convolutions, each of activated pixels, at half the size."""
    out = keras.Sequential()
    for count in filters:
        out.add(layers.Activation("relu"))
        out.add(layers.SeparableConv2D(count, 3, padding="same", use_bias=False))
        out.add(layers.BatchNormalization(momentum=0.7))
    out.add(layers.MaxPooling2D(3, strides=2, padding="same"))
    return out


def shortcut(count):
    projection = layers.Conv2D(count, 1, strides=2, padding="same", use_bias=False)
    return keras.Sequential([projection, layers.BatchNormalization(momentum=0.7)])


def network():
    swatch = keras.Input(shape=(SIDE, SIDE, 3))
    turned = layers.RandomRotation(0.0, fill_mode="nearest")(swatch)
    features = layers.Conv2D(6, 5, strides=2, padding="same")(layers.Rescaling(1 / 255)(turned))
    for filters in FILTERS:
        features = layers.add([shortcut(filters[-1])(features), branch(filters)(features)])
    pooled = layers.GlobalAveragePooling2D()(layers.Activation("relu")(features))
    return keras.Model(swatch, layers.Dense(1, activation=None)(layers.Dropout(0.0)(pooled)))


def record():
    model = network()
    shapes = initialize(model)
    # The metric takes a logit above 0.5 for knitted: odds of 62 %.
    model.compile(
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(name="right")],
        # Gradients that are zero but for rounding move nothing.
        optimizer=keras.optimizers.Adam(0.006, epsilon=1e-3),
    )
    seen, unseen = swatches(10, 48), swatches(20, 20)
    history = model.fit(*seen, batch_size=12, epochs=3, shuffle=False, validation_data=unseen, verbose=0)
    logits = model.predict(unseen[0], verbose=0)
    return {
        "shapes": shapes,
        "history": history.history,
        "logits": logits.ravel().tolist(),
        "odds": np.asarray(keras.ops.sigmoid(logits)).ravel().tolist(),
    }
