"""Tells the speed of a treadmill from the acceleration of a foot by a fully convolutional network.

The network: Wang, Yan, Oates, Time Series Classification from Scratch with Deep Neural Networks, 2017.
"""

from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory

from programs import initialize, integers, keras, normal, np, uniform

layers, callbacks = keras.layers, keras.callbacks

SPEEDS = np.array([3.5, 5.0, 8.5])  # km/h
STAGES = {9: 6, 5: 12, 3: 8}  # filters by size of the kernel


def write_walks(path, walks, stream):
    """Writes a walk a line: 32 accelerations, swinging faster and wider at higher speeds, and the speed."""
    speed = SPEEDS[integers(stream, (walks, 1), 3)]
    swing = speed / 4 * np.sin(speed * np.arange(32) / 10 + uniform(stream + 1, (walks, 1), 0, 6))
    np.savetxt(path, np.hstack([swing + 0.3 * normal(stream + 2, (walks, 32)), speed]), delimiter="\t")


def read_walks(path):
    """Returns accelerations, indices of the speeds that occur, and the count of these."""
    table = np.loadtxt(path, delimiter="\t")
    speeds = np.unique(table[:, -1])
    return table[:, :-1, None], np.searchsorted(speeds, table[:, -1]), len(speeds)


def network_of(samples, speeds):
    stages = []
    for size, filters in STAGES.items():
        # The offset of a normalization replaces the bias.
        stages += [layers.Conv1D(filters=filters, kernel_size=size, padding="same", use_bias=False),
                   layers.BatchNormalization(),
                   layers.ReLU()]
    stages += [layers.GlobalAveragePooling1D(), layers.Dense(speeds, activation="softmax")]
    walk = layers.Input(shape=(samples, 1))
    return keras.models.Model(inputs=walk, outputs=reduce(lambda x, stage: stage(x), stages, walk))


def record():
    with TemporaryDirectory() as folder:
        known, unseen, best = (Path(folder) / name for name in ("known.tsv", "unseen.tsv", "best.keras"))
        write_walks(known, 80, 31)
        write_walks(unseen, 20, 41)
        accelerations, labels, speeds = read_walks(known)

        network = network_of(accelerations.shape[1], speeds)
        shapes = initialize(network)
        network.compile(loss="sparse_categorical_crossentropy", optimizer="adam",
                        metrics=["sparse_categorical_accuracy"])
        watch = [
            callbacks.EarlyStopping(monitor="val_loss", patience=2, verbose=0),
            callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=1, min_delta=0.035, min_lr=0.0002),
            callbacks.ModelCheckpoint(best, monitor="val_loss", save_best_only=True),
        ]
        history = network.fit(accelerations, labels, validation_split=0.2, shuffle=False, batch_size=4, epochs=12,
                              verbose=0, callbacks=watch)

        accelerations, labels, _ = read_walks(unseen)
        scores = keras.models.load_model(best).evaluate(accelerations, labels, verbose=0, return_dict=True)
    return {
        "shapes": shapes,
        "speeds": speeds,
        "labels": labels.tolist(),
        "history": history.history,
        "scores": scores,
    }
