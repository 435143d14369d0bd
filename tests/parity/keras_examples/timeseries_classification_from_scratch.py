"""keras.io/examples/timeseries/timeseries_classification_from_scratch"""

import tempfile
from pathlib import Path

from examples import initialize, keras, np, uniform


def series(count, stream):
    """Labels, -1 or 1, and series of 24 steps, of the period 6 or 8."""
    y = 1 - 2 * (np.arange(count) * 7 % 5 % 2)
    steps = np.arange(24) + np.arange(count)[:, None] % 6
    x = np.sin(2 * np.pi * steps / (7 + y[:, None])) + 0.8 * uniform(stream, (count, 24))
    return np.concatenate([y[:, None], np.round(x, 4)], axis=1)


def readucr(filename):
    data = np.loadtxt(filename, delimiter="\t")
    y = data[:, 0]
    x = data[:, 1:]
    return x, y.astype(int)


def make_model(input_shape, num_classes):
    input_layer = keras.layers.Input(input_shape)

    conv1 = keras.layers.Conv1D(filters=8, kernel_size=3, padding="same")(input_layer)
    conv1 = keras.layers.BatchNormalization()(conv1)
    conv1 = keras.layers.ReLU()(conv1)

    conv2 = keras.layers.Conv1D(filters=8, kernel_size=3, padding="same")(conv1)
    conv2 = keras.layers.BatchNormalization()(conv2)
    conv2 = keras.layers.ReLU()(conv2)

    conv3 = keras.layers.Conv1D(filters=8, kernel_size=3, padding="same")(conv2)
    conv3 = keras.layers.BatchNormalization()(conv3)
    conv3 = keras.layers.ReLU()(conv3)

    gap = keras.layers.GlobalAveragePooling1D()(conv3)

    output_layer = keras.layers.Dense(num_classes, activation="softmax")(gap)

    return keras.models.Model(inputs=input_layer, outputs=output_layer)


def run(folder):
    np.savetxt(folder / "TRAIN.tsv", series(40, 1), delimiter="\t")
    np.savetxt(folder / "TEST.tsv", series(16, 2), delimiter="\t")

    x_train, y_train = readucr(folder / "TRAIN.tsv")
    x_test, y_test = readucr(folder / "TEST.tsv")
    x_train = x_train.reshape((x_train.shape[0], x_train.shape[1], 1))
    x_test = x_test.reshape((x_test.shape[0], x_test.shape[1], 1))
    num_classes = len(np.unique(y_train))
    y_train[y_train == -1] = 0
    y_test[y_test == -1] = 0

    model = make_model(x_train.shape[1:], num_classes)
    shapes = initialize(model)
    callbacks = [
        keras.callbacks.ModelCheckpoint(folder / "best_model.keras", save_best_only=True, monitor="val_loss"),
        keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=1, min_delta=0.05, min_lr=0.0001),
        keras.callbacks.EarlyStopping(monitor="val_loss", patience=3, verbose=0),
    ]
    model.compile(
        optimizer="adam",
        loss="sparse_categorical_crossentropy",
        metrics=["sparse_categorical_accuracy"],
    )
    history = model.fit(x_train, y_train, batch_size=8, epochs=5, callbacks=callbacks, validation_split=0.2,
                        shuffle=False, verbose=0)
    model = keras.models.load_model(folder / "best_model.keras")
    test_loss, test_acc = model.evaluate(x_test, y_test, verbose=0)
    test = {"loss": test_loss, "sparse_categorical_accuracy": test_acc}
    return {"shapes": shapes, "history": history.history, "test": test}


def record():
    with tempfile.TemporaryDirectory() as folder:
        return run(Path(folder))
