"""Removes noise from seismograms by a convolutional denoising autoencoder (Vincent et al., 2008)."""

from programs import initialize, keras, normal, np, uniform

layers = keras.layers

TIMES, RECEIVERS = 16, 12


def wavefronts(stream, shots):
    """Amplitudes (shots, times, receivers, 1) of the wave along the ground and of its echo from one layer below."""
    slowness = uniform(stream, (shots, 1, 1, 1), 0.3, 1.2)
    depth = uniform(stream + 1, (shots, 1, 1, 1), 4.0, 9.0)
    time = np.arange(TIMES).reshape(TIMES, 1, 1)
    direct = slowness * np.arange(RECEIVERS).reshape(RECEIVERS, 1)
    echo = np.sqrt(np.square(direct) + np.square(depth))
    return np.maximum(np.exp(-np.square(time - direct)), 0.6 * np.exp(-np.square(time - echo)))


def corrupt(stream, amplitudes):
    return np.clip(amplitudes + 0.4 * normal(stream, amplitudes.shape), 0.0, 1.0)


def autoencoder(widths):
    """Halves the picture once for each width, and doubles it as often."""
    seismogram = layers.Input(shape=(TIMES, RECEIVERS, 1))
    code = seismogram
    for width in widths:
        code = layers.Conv2D(kernel_size=(5, 3), filters=width, activation="relu", padding="same")(code)
        code = layers.MaxPooling2D(3, padding="same", strides=2)(code)
    picture = code
    for width in reversed(widths):
        picture = layers.Conv2DTranspose(width, 3, activation="relu", strides=2, padding="same")(picture)
    return keras.Model(seismogram, layers.Conv2D(1, (3, 5), activation="sigmoid", padding="same")(picture))


def record():
    quiet, quiet_later = wavefronts(1, 64), wavefronts(3, 10)
    noisy, noisy_later = corrupt(10, quiet), corrupt(20, quiet_later)

    model = autoencoder(widths=[12, 8])
    shapes = initialize(model)
    model.compile(loss="binary_crossentropy", optimizer="adam")
    run = model.fit(x=noisy, y=quiet, validation_data=(noisy_later, quiet_later),
                    shuffle=False, batch_size=2, verbose=0, epochs=4)

    cleaned = model.predict(noisy_later, verbose=0)
    errors = np.mean(np.square(cleaned - quiet_later), axis=(1, 2, 3))
    return {"weights": shapes, "history": run.history, "errors": errors.tolist(), "trace": cleaned[0, :, 3, 0].tolist()}
