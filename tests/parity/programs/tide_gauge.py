"""Forecasts the level of a tide gauge five hours ahead from level, air pressure and wind by an LSTM.

The LSTM: Hochreiter, Schmidhuber, Long Short-Term Memory, 1997.
"""

import os
import tempfile

from programs import initialize, keras, normal, np

LENGTH, RATE, LEAD = 8, 2, 5
REACH = (LENGTH - 1) * RATE + LEAD  # from the first hour of a window to the hour of its forecast


class Gauge:
    """Hourly rows of level (m), pressure (hPa) and onshore wind (m/s), standardized by the first `known` hours."""

    def __init__(self, hours, known):
        hour = np.arange(hours)
        pressure = 1012 + 9 * np.sin(hour / 31) + normal(51, (hours,))
        wind = 6 * np.cos(hour / 17) + normal(61, (hours,))
        moon, sun = (np.sin(2 * np.pi / period * hour) for period in (12.42, 12))
        level = 4 + 1.8 * moon + 0.6 * sun - 0.01 * (pressure - 1012) + 0.03 * wind
        rows = np.stack([level, pressure, wind], axis=1)
        self.mean, self.std = rows[:known].mean(axis=0), rows[:known].std(axis=0)
        self.rows = (rows - self.mean) / self.std

    def windows(self, begin, end):
        part = self.rows[begin:end]
        return keras.utils.timeseries_dataset_from_array(
            part, part[REACH:, 0], sequence_length=LENGTH, sampling_rate=RATE, batch_size=16)

    def metres(self, scaled):
        return scaled * self.std[0] + self.mean[0]


def record():
    gauge = Gauge(hours=220, known=150)
    past, recent = gauge.windows(0, 150), gauge.windows(150, 220)

    columns = keras.Input(shape=(LENGTH, 3))
    forecast = keras.layers.Dense(1)(keras.layers.LSTM(5)(columns))
    model = keras.Model(inputs=columns, outputs=forecast)
    shapes = initialize(model)
    model.compile(keras.optimizers.Adam(learning_rate=0.03), loss="mse")

    with tempfile.TemporaryDirectory() as folder:
        best = os.path.join(folder, "best.weights.h5")
        keep = keras.callbacks.ModelCheckpoint(
            filepath=best, monitor="val_loss", verbose=0, save_best_only=True, save_weights_only=True)
        stop = keras.callbacks.EarlyStopping(monitor="val_loss", min_delta=0.002, patience=2)
        history = model.fit(past, validation_data=recent, epochs=10, verbose=0, callbacks=[keep, stop])
        model.load_weights(best)
    return {"shapes": shapes, "history": history.history, "scores": model.evaluate(recent, verbose=0),
            "levels": gauge.metres(model.predict(recent.take(2), verbose=0))[:, 0].tolist()}
