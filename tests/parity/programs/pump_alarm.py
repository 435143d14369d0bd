"""Raises an alarm where a convolutional autoencoder fails to reconstruct the discharge pressure of a piston pump.

Anomalies by reconstruction error: Malhotra et al., LSTM-based Encoder-Decoder for Multi-sensor Anomaly Detection, 2016.
"""

from programs import initialize, keras, normal, np

layers = keras.layers

STROKE, SPAN, HOP = 14, 28, 3


def pressure(strokes, stream):
    """Bars measured 14 times a stroke: the main pulse, its third harmonic and noise."""
    turn = 2 * np.pi / STROKE * np.arange(STROKE)
    pulse = 6 + 1.5 * np.sin(turn) + 0.5 * np.cos(3 * turn)
    return np.tile(pulse, strokes) + 0.2 * normal(stream, (strokes * STROKE,))


def spans(series):
    """All spans that begin HOP samples apart, (spans, SPAN, 1): column k is the series moved by k samples."""
    last = len(series) - SPAN + 1
    return np.stack([series[k:last + k:HOP] for k in range(SPAN)], axis=1)[:, :, None]


def autoencoder(*stages):
    net = keras.Sequential([layers.Input(shape=(SPAN, 1))])
    for maps in stages:
        net.add(layers.Conv1D(filters=maps, kernel_size=5, strides=2, padding="same", activation="relu"))
        net.add(layers.Dropout(rate=0.0))
    for maps in reversed(stages):
        net.add(layers.Conv1DTranspose(filters=maps, kernel_size=5, strides=2, padding="same", activation="relu"))
    net.add(layers.Conv1DTranspose(filters=1, kernel_size=3, padding="same"))
    return net


def errors_of(net, given):
    """The mean absolute error of each span."""
    misses = np.abs(net.predict(given, verbose=0) - given)
    return np.mean(misses, axis=1)[:, 0]


def record():
    healthy, watched = pressure(28, 31), pressure(12, 21)
    # A valve that sticks halves the pressure in one of the watched strokes.
    watched = np.where(np.arange(len(watched)) // STROKE == 7, 0.5 * watched, watched)
    center, scale = np.mean(healthy), np.std(healthy)
    normals, checked = (spans((series - center) / scale) for series in (healthy, watched))

    net = autoencoder(8, 6)
    shapes = initialize(net)
    net.compile(loss="mse", optimizer=keras.optimizers.Adam(learning_rate=0.01))
    stopping = keras.callbacks.EarlyStopping(monitor="val_loss", mode="min", patience=1)
    history = net.fit(normals, normals, batch_size=8, epochs=8, verbose=0, shuffle=False, validation_split=0.2,
                      callbacks=[stopping])

    limit = np.max(errors_of(net, normals))
    errors = errors_of(net, checked)
    return {
        "shapes": shapes,
        "history": history.history,
        "limit": float(limit),
        "errors": errors.tolist(),
        "alarms": np.flatnonzero(errors > limit).tolist(),
        "worst": int(np.argmax(errors)) * HOP,
    }
