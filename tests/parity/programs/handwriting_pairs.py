"""Decides whether two strokes were drawn by one hand, from the distance of their codes in a twin network.

Hadsell, Chopra and LeCun (2006), "Dimensionality Reduction by Learning an Invariant Mapping".
"""

from programs import initialize, integers, keras, np, uniform

layers, ops = keras.layers, keras.ops

SIDE = 14
# Slant, height of the waves and width of the strokes of each hand.
HANDS = np.array([[-0.5, 0.3, 0.9], [0.1, 1.8, 1.2], [0.6, 0.6, 1.8]])


def draw(hands, stream):
    """Draws one stroke by each of these hands, at some place and with some waves."""
    slant, wave, width = HANDS[hands].T[:, :, None, None]
    place, turn = uniform(stream, (2, len(hands), 1, 1), -1.5, 1.5)
    row, column = np.mgrid[:SIDE, :SIDE] - SIDE / 2
    ink = column - place - slant * row - wave * np.sin(row + turn)
    return np.exp(-np.square(ink / width))[..., None]


def pairs(count, stream):
    """Returns two arrays of strokes, and 1 where the hands differ, else 0."""
    hands = integers(stream, (count,), 3)
    differ = integers(stream + 1, (count,), 2)
    other = (hands + differ * (1 + integers(stream + 2, (count,), 2))) % 3
    return [draw(hands, stream + 3), draw(other, stream + 4)], differ.reshape(-1, 1)


# docs: begin
def separation(codes):
    gaps = ops.square(codes[0] - codes[1])
    return ops.sqrt(ops.sum(gaps, axis=-1, keepdims=True) + keras.config.epsilon())


def keep_apart(margin):
    """Pulls pairs of one hand together and pushes others apart, up to the margin."""
    def penalty(differ, distance):
        missing = ops.maximum(margin - distance, 0.0)
        return 0.5 * ops.square(ops.where(differ > 0, missing, distance))

    return penalty


def contrast(differ, distance):
    return ops.where(differ > 0, distance, -distance)
# docs: end


def record():
    # docs: begin
    reader = keras.Sequential([
        layers.Input((SIDE, SIDE, 1)),
        layers.Conv2D(5, 3, activation="tanh"),
        layers.BatchNormalization(),
        layers.AveragePooling2D(pool_size=2),
        layers.Conv2D(8, 3, activation="tanh"),
        layers.AveragePooling2D(pool_size=2),
        layers.Flatten(),
        layers.Dense(6, activation="tanh"),
    ])
    one, two = layers.Input((SIDE, SIDE, 1)), layers.Input((SIDE, SIDE, 1))
    distance = layers.Lambda(separation, output_shape=(1,))([reader(one), reader(two)])
    judge = keras.Model(inputs=[one, two], outputs=distance)
    # docs: end
    shapes = initialize(judge)
    (left, right), differ = pairs(48, 1)
    (fresh_left, fresh_right), fresh_differ = pairs(24, 11)
    # docs: begin
    judge.compile(optimizer="RMSprop", loss=keep_apart(margin=1.0), metrics=["accuracy", contrast])
    history = judge.fit([left, right], differ, epochs=4, batch_size=12, shuffle=False, verbose=0,
                        validation_data=([fresh_left, fresh_right], fresh_differ))
    scores = judge.evaluate([fresh_left, fresh_right], fresh_differ, verbose=0, return_dict=True)
    distances = judge.predict([fresh_left, fresh_right], verbose=0)
    # docs: end
    return {
        "shapes": shapes,
        "history": history.history,
        "scores": scores,
        "distances": distances.reshape(-1).tolist(),
        "moving": [weight.numpy().tolist() for weight in judge.non_trainable_weights],
    }
