"""Draws colour pictures of droplets by two networks that play against each other (Goodfellow et al., 2014), made of
convolutions (Radford, Metz and Chintala, 2016), with a one-sided smoothing of the labels (Salimans et al., 2016)."""

from programs import epochs, initialize, keras, minimize, normal, np, uniform

layers, ops = keras.layers, keras.ops
SIDE, SEED, COUNT, BATCH = 12, 5, 32, 8


def droplets():
    """Round spots that fade towards their rim, on a dark ground: (COUNT, SIDE, SIDE, 3)."""
    axis = np.linspace(-1, 1, SIDE)
    row, column = uniform(1, (COUNT, 1, 1), -0.4, 0.4), uniform(2, (COUNT, 1, 1), -0.4, 0.4)
    radius = uniform(3, (COUNT, 1, 1), 0.5, 0.9)
    distance = ((axis[:, None] - row)**2 + (axis - column)**2) / radius**2
    return np.exp(-distance)[..., None] * uniform(4, (COUNT, 1, 1, 3), 0.2, 1.0)


def painter():
    stack = keras.Sequential([keras.Input((SEED,)), layers.Dense(3 * 3 * 8), layers.Reshape((3, 3, 8))], name="painter")
    for channels in (6, 4):
        stack.add(layers.LeakyReLU(negative_slope=0.1))
        stack.add(layers.Conv2DTranspose(channels, kernel_size=4, strides=2, padding="same"))
    stack.add(layers.Conv2D(3, kernel_size=3, padding="same", activation="sigmoid"))
    return stack


def expert():
    stack = keras.Sequential([keras.Input((SIDE, SIDE, 3))], name="expert")
    for channels, stride in ((4, 2), (6, 1), (8, 2)):
        stack.add(layers.Conv2D(channels, kernel_size=3, strides=stride, padding="same"))
        stack.add(layers.LeakyReLU(negative_slope=0.1))
    stack.add(layers.Flatten())
    stack.add(layers.Dense(1, activation="sigmoid"))
    return stack


def record():
    loss = keras.losses.BinaryCrossentropy()
    paint, judge = painter(), expert()
    shapes = initialize(paint) + initialize(judge, 200)
    of_paint, of_judge = (keras.optimizers.Adam(learning_rate=rate) for rate in (0.004, 0.002))
    of_paint.build(paint.trainable_weights)
    of_judge.build(judge.trainable_weights)
    real, seeds = droplets(), normal(5, (COUNT, 2, SEED))
    genuine, forged = np.ones((BATCH, 1)), np.zeros((BATCH, 1))
    smoothed = np.concatenate([0.9 * genuine, forged], axis=0)

    def turns(batch):
        # The expert looks at both kinds in one call, then the painter is told what would have fooled it.
        forgery = paint(seeds[batch, 0])
        both = ops.concatenate([real[batch], forgery], axis=0)
        seen = minimize(of_judge, judge.trainable_weights, lambda: loss(smoothed, judge(both)))
        fooled = minimize(of_paint, paint.trainable_weights, lambda: loss(genuine, judge(paint(seeds[batch, 1]))))
        return {"expert": seen["loss"], "painter": fooled["loss"]}

    history = epochs(3, COUNT, BATCH, turns)
    pictures = paint.predict(seeds[:4, 0], verbose=0)
    verdicts = judge.predict(real[:4], verbose=0)
    return {
        "shapes": shapes,
        "history": history,
        "colours": pictures.mean(axis=(1, 2)).ravel().tolist(),
        "middle": pictures[0, SIDE // 2].ravel().tolist(),
        "verdicts": verdicts.ravel().tolist(),
    }
