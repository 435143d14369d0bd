"""Labels each pixel of small aerial pictures: one crop, the boundary, the other crop.

Encoder and decoder as nested levels with skips (Ronneberger, Fischer and Brox 2015) and projections (He et al. 2016).
"""

from programs import initialize, integers, keras, normal, np

layers = keras.layers
SIZE = 16
COLORS = np.array([[0.3, 0.55, 0.25], [0.2, 0.3, 0.15], [0.7, 0.6, 0.35]])


class Survey:
    """Pictures of two fields with a straight boundary, and the class of each pixel."""

    def __init__(self, stream, count):
        north, east, offset = (integers(stream + i, (count, 1, 1), below) for i, below in enumerate((3, 5, 9)))
        place = np.arange(1 - SIZE, SIZE, 2)
        side = (1 + north) * place[:, None] + (east - 2) * place + 3 * (offset - 4)
        self.labels = np.expand_dims(np.clip((side + 12) // 24, -1, 1) + 1, axis=-1)
        self.pictures = COLORS[self.labels[..., 0]] + 0.1 * normal(stream + 3, (count, SIZE, SIZE, 3))


def activate(pixels):
    return layers.Activation("relu")(layers.BatchNormalization(momentum=0.6)(pixels))


def level(pixels, widths):
    """Works at half the size with the first width, and inside of that with the others; has the shape of its input."""
    if not widths:
        return pixels
    channels = pixels.shape[-1]
    mixed = layers.SeparableConv2D(widths[0], 3, padding="same")(activate(pixels))
    smaller = layers.MaxPooling2D(2, strides=2, padding="same")(mixed)
    projected = layers.Conv2D(widths[0], 1, strides=2, padding="same")(pixels)
    inner = level(layers.add([smaller, projected]), widths[1:])
    larger = layers.UpSampling2D(2)(layers.Conv2DTranspose(channels, 3, padding="same")(activate(inner)))
    return layers.add([larger, layers.UpSampling2D(2)(layers.Conv2D(channels, 1, padding="same")(inner)), pixels])


def segmenter(widths):
    picture = keras.Input(shape=(SIZE, SIZE, 3))
    coarse = level(layers.Conv2D(6, 3, strides=2, padding="same")(picture), widths)
    fine = layers.UpSampling2D(2)(activate(coarse))
    return keras.Model(picture, layers.Conv2D(len(COLORS), 3, padding="same", activation="softmax")(fine))


def record():
    model = segmenter([8, 12])
    shapes = initialize(model)
    known, new = Survey(300, 32), Survey(320, 12)
    model.compile(keras.optimizers.SGD(0.03, momentum=0.8), loss="sparse_categorical_crossentropy")
    fitted = model.fit(known.pictures, known.labels, batch_size=8, epochs=3, shuffle=False, verbose=0,
                       validation_data=(new.pictures, new.labels))
    shares = model.predict(new.pictures, verbose=0)
    masks = np.expand_dims(np.argmax(shares, axis=-1), axis=-1)
    return {
        "shapes": shapes,
        "history": fitted.history,
        "shares": shares[:, 7, 5].ravel().tolist(),
        "mask": masks[3].ravel().tolist(),
        "right": float(np.mean(masks == new.labels)),
    }
