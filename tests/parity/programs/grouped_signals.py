"""Learns codes of vibrations by the groups of their machines, then reads the groups off the frozen codes.

Khosla et al. (2020), "Supervised Contrastive Learning": each sample has the others of its group as positives.
"""

from programs import initialize, keras, normal, np, uniform

layers, ops = keras.layers, keras.ops

TICKS, SENSORS, GROUPS, BATCH = 20, 5, 4, 16


def vibrations(count, stream):
    """Signals (count, TICKS, SENSORS, 1) with a tone and a delay between sensors by group, and groups in turn."""
    group = np.arange(count) % GROUPS
    shape = (count, 1, 1)
    tone, delay = (0.5 + 0.25 * group).reshape(shape), (1.2 - 0.5 * group).reshape(shape)
    tick, sensor = np.mgrid[:TICKS, :SENSORS]
    angle = tone * tick + delay * sensor + uniform(stream, shape, 0.0, 6.0)
    return (np.sin(angle) + 0.4 * normal(stream + 1, angle.shape))[..., None], group


class GroupContrast(keras.losses.Loss):
    """Cross-entropy between the nearest codes of a batch and the codes of a sample's own group."""

    def __init__(self, temperature, name="group_contrast"):
        self.temperature = temperature
        super().__init__(name=name)

    def call(self, groups, codes):
        unit = ops.normalize(codes, axis=1, order=2)
        itself = ops.eye(ops.shape(codes)[0])
        # A sample is neither a positive nor a negative of itself.
        closeness = ops.divide(ops.matmul(unit, ops.transpose(unit)), self.temperature) - 1e4 * itself
        column = ops.expand_dims(groups, axis=1)
        positive = ops.cast(ops.equal(column, ops.transpose(column)), codes.dtype) - itself
        share = ops.divide(positive, ops.sum(positive, axis=1, keepdims=True))
        return ops.categorical_crossentropy(share, closeness, from_logits=True)


def listener():
    """Encoder with two residual parts: (TICKS, SENSORS, 1) to a code of 8 numbers."""
    signal = layers.Input((TICKS, SENSORS, 1))
    state = layers.Conv2D(8, 3, strides=(2, 1), use_bias=False)(signal)
    for dilation in (1, 2):
        change = layers.ReLU()(layers.BatchNormalization()(state))
        change = layers.Conv2D(8, (3, 1), padding="same", dilation_rate=(dilation, 1))(change)
        state = layers.Add()([state, change])
    return keras.Model(inputs=signal, outputs=layers.GlobalAveragePooling2D()(layers.ReLU()(state)), name="listener")


def cohesion(codes):
    """Mean cosine between the codes of each group and the group's mean code."""
    unit, cosines = ops.normalize(ops.convert_to_tensor(codes), axis=1, order=2), []
    for group in range(GROUPS):
        members = unit[group::GROUPS]
        center = ops.normalize(ops.mean(members, axis=0, keepdims=True), axis=1, order=2)
        cosines.append(float(ops.mean(ops.squeeze(ops.matmul(members, ops.transpose(center)), axis=1))))
    return cosines


def record():
    encoder = listener()
    shapes = initialize(encoder)
    signals, group = vibrations(48, 1)
    fresh, fresh_group = vibrations(16, 21)
    encoder.compile(optimizer=keras.optimizers.Adam(0.01), loss=GroupContrast(temperature=0.4))
    contrast = encoder.fit(signals, group, epochs=3, batch_size=BATCH, shuffle=False, verbose=0)
    codes = encoder.predict(fresh, verbose=0)

    encoder.trainable = False
    signal = layers.Input((TICKS, SENSORS, 1))
    guess = layers.Dense(GROUPS, activation="softmax")(layers.Dropout(0.0)(encoder(signal)))
    reader = keras.Model(inputs=signal, outputs=guess, name="reader")
    initialize(reader.layers[-1], 200)
    reader.compile(
        metrics=[keras.metrics.SparseCategoricalAccuracy()],
        loss=keras.losses.SparseCategoricalCrossentropy(),
        optimizer=keras.optimizers.Adam(0.05),
    )
    reading = reader.fit(signals, group, epochs=4, batch_size=BATCH, shuffle=False, verbose=0)
    return {
        "shapes": shapes + [list(weight.shape) for weight in reader.layers[-1].weights],
        "contrast": contrast.history,
        "codes": codes.reshape(-1).tolist(),
        "cohesion": cohesion(codes),
        "trained": len(reader.trainable_weights),
        "reading": reading.history,
        "scores": reader.evaluate(fresh, fresh_group, verbose=0, return_dict=True),
        "codes_after": encoder.predict(fresh, verbose=0).reshape(-1).tolist(),
    }
