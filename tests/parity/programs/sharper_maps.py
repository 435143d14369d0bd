"""Upscales pictures of contour lines by a network whose last channels are the pixels of blocks.

Method: Shi et al., 2016, "Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel Convolutional
Neural Network".
"""

from programs import initialize, keras, np, uniform

layers = keras.layers
ops = keras.ops


def contours(stream, count, height, width):
    """Lines of equal height on wavy slopes, (count, height, width, 1): 1 on a line, near 0 between two."""
    slope = uniform(stream, (count, 1, 1), 2, 3)
    wave = uniform(stream + 1, (count, 1, 1), 0.5, 1.5)
    shift = uniform(stream + 2, (count, 1, 1), 0, 6)
    down = np.arange(height).reshape(-1, 1) / 8
    right = np.arange(width) / 8
    ground = slope * down + wave * np.sin(shift + 2 * right)
    return np.exp(-4 * np.sin(ground) ** 2)[..., np.newaxis]


# docs: begin
class PixelsOfBlocks(layers.Layer):
    """Lays side * side channels out as a square of pixels."""

    def __init__(self, side):
        super().__init__()
        self.side = side

    def call(self, x):
        _, rows, columns, _ = ops.shape(x)
        squares = ops.reshape(x, (-1, rows, columns, self.side, self.side))
        lines = ops.transpose(squares, (0, 1, 3, 2, 4))
        return ops.reshape(lines, (-1, rows * self.side, columns * self.side, 1))


def upscaler(side):
    small = keras.Input(shape=(None, None, 1))
    features = small
    for filters, window, activation in [(8, 5, "tanh"), (6, 3, "relu")]:
        features = layers.Conv2D(filters, kernel_size=window, padding="same", activation=activation)(features)
    # The network learns how the pixels of a block differ from the small pixel.
    change = layers.Conv2D(side * side, kernel_size=3, padding="same")(features)
    return keras.Model(small, PixelsOfBlocks(side)(layers.Add()([small, change])))
# docs: end


# docs: begin
class Decibels(keras.callbacks.Callback):
    """PSNR of the validation in each epoch, for pixels up to 1, and the brightest pixel of an upscaled picture."""

    def __init__(self, picture):
        super().__init__()
        self.picture, self.psnr, self.brightest = picture, [], []

    def on_epoch_begin(self, epoch, logs=None):
        self.of_batches = []

    def on_test_batch_end(self, batch, logs=None):
        self.of_batches.append(-10 * np.log10(logs["loss"]))

    def on_epoch_end(self, epoch, logs=None):
        self.psnr.append(sum(self.of_batches) / len(self.of_batches))
        self.brightest.append(np.max(self.model.predict(self.picture, verbose=0)))
# docs: end


def record():
    sharp, unseen, wide = contours(20, 32, 16, 16), contours(30, 10, 16, 16), contours(40, 2, 12, 24)
    model = upscaler(2)
    shapes = initialize(model)
    # docs: begin
    small, small_unseen, small_wide = (
        ops.image.resize(maps, (maps.shape[1] // 2, maps.shape[2] // 2), interpolation="bilinear", antialias=True)
        for maps in (sharp, unseen, wide))
    decibels = Decibels(small_wide)
    patience = keras.callbacks.EarlyStopping(monitor="loss", min_delta=0.006, patience=2)
    model.compile(loss=keras.losses.MeanSquaredError(), optimizer=keras.optimizers.Adam(learning_rate=0.01))
    history = model.fit(small, sharp, epochs=20, batch_size=8, shuffle=False, verbose=0, validation_batch_size=4,
                        validation_data=(small_unseen, unseen), callbacks=[decibels, patience])
    upscaled = model.predict(small_wide, verbose=0)
    # docs: end
    return {"shapes": shapes, "history": history.history, "psnr": decibels.psnr,
            "brightest": [float(pixel) for pixel in decibels.brightest],
            "small": np.mean(small_wide, axis=(0, 2, 3)).tolist(),
            "upscaled": np.mean(upscaled, axis=(0, 2, 3)).tolist()}
