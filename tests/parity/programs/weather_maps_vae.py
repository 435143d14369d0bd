"""Learns a code of pressure maps by a variational autoencoder (Kingma & Welling, 2014), with its noise as an input.

The divergence from the standard normal distribution is the closed form of appendix B of that paper.
"""

from programs import epochs, initialize, keras, minimize, normal, np, uniform

layers, ops = keras.layers, keras.ops
GRID, CODE = 16, 3


def pressure_maps(stream, count):
    """A high and a low at places of their own, relative to 0.5."""
    centers = uniform(stream, (count, 4), 2.0, 13.0)[:, :, None, None]
    y, x = np.arange(GRID)[:, None], np.arange(GRID)[None, :]

    def bump(first, width):
        return np.exp(-((y - centers[:, first]) ** 2 + (x - centers[:, first + 1]) ** 2) / width)
    return (0.5 + 0.45 * (bump(0, 24.0) - bump(2, 12.0)))[..., None]


class Posterior(layers.Layer):
    """Draws a code of each map, and tells how far its distribution is from the prior."""

    def call(self, center, spread, noise):
        variance = ops.exp(spread)
        distance = ops.sum(ops.square(center) + variance - spread - 1, axis=1) / 2
        return center + ops.exp(spread / 2) * noise, distance


def analysis():
    sky = keras.Input((GRID, GRID, 1), name="maps")
    noise = keras.Input((CODE,), name="noise")
    seen = sky
    for filters in (4, 6):
        seen = layers.Conv2D(filters, 3, padding="same", strides=2, activation="relu")(seen)
    seen = layers.Flatten()(seen)
    center, spread = (layers.Dense(CODE, name=name)(seen) for name in ("center", "spread"))
    code, distance = Posterior()(center, spread, noise)
    return keras.Model([sky, noise], [code, distance, center], name="analysis")


def synthesis():
    rest = GRID // 4
    return keras.Sequential([
        keras.Input((CODE,)),
        layers.Dense(rest * rest * 6, activation="relu", name="coarse"),
        layers.Reshape((rest, rest, 6)),
        layers.Conv2DTranspose(6, 3, padding="same", strides=2, activation="relu"),
        layers.Conv2DTranspose(4, 3, padding="same", strides=2, activation="relu"),
        layers.Conv2DTranspose(1, 3, padding="same", activation="sigmoid"),
    ], name="synthesis")


def record():
    maps, noise = pressure_maps(1, 24), normal(2, (24, CODE))
    encoder, decoder = analysis(), synthesis()
    shapes = initialize(encoder) + initialize(decoder, 200)
    optimizer = keras.optimizers.Adam()
    weights = encoder.trainable_variables + decoder.trainable_variables
    optimizer.build(weights)

    def step(batch):
        def bound():
            code, distance, _ = encoder([maps[batch], noise[batch]], training=True)
            errors = keras.losses.binary_crossentropy(maps[batch], decoder(code, training=True))
            misfit = ops.sum(errors, axis=(1, 2))
            return ops.mean(misfit + distance), {"misfit": ops.mean(misfit), "distance": ops.mean(distance)}
        return minimize(optimizer, weights, bound)

    history = epochs(3, len(maps), 8, step)
    code, distance, center = encoder.predict([maps[:3], noise[:3]], verbose=0)
    corner = decoder.predict(np.array([[1.5, -1.0, 0.5]]), verbose=0)
    return {
        "shapes": shapes,
        "history": history,
        "code": code.ravel().tolist(),
        "distance": distance.tolist(),
        "center": center.ravel().tolist(),
        "picture": corner.ravel().tolist(),
    }
