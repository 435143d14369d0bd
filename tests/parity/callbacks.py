"""Records what Keras' callbacks decide and write for given numbers of epochs."""

import tempfile
from pathlib import Path

from common import keras, write

callbacks = keras.callbacks
SEQUENCES = {
    "falling": [1.0, 0.8, 0.7, 0.65, 0.64, 0.63],
    "plateau": [1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9],
    "late": [0.5, 0.7, 0.6, 0.49, 0.6, 0.6, 0.6, 0.3],
    "small_steps": [1.0, 0.995, 0.99, 0.985, 0.98, 0.97, 0.969, 0.968],
    "rising": [0.1, 0.2, 0.15, 0.3, 0.25, 0.28, 0.29, 0.1],
    "nan": [1.0, float("nan"), 0.9, float("nan"), float("nan"), 0.8],
    "flat": [1.0] * 14,
}


def model():
    out = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1)])
    out.compile(keras.optimizers.SGD(0.5), "mse")
    out.stop_training = False
    return out


def run(callback, sequence, name="val_loss"):
    """Steps of a callback on the numbers of a sequence: its stops, counters and the learning rate after each epoch."""
    owner = model()
    callback.set_model(owner)
    callback.on_train_begin()
    rows = []
    for epoch, number in enumerate(SEQUENCES[sequence]):
        callback.on_epoch_begin(epoch)
        logs = {"loss": 1.0, name: number}
        callback.on_epoch_end(epoch, logs)
        best = getattr(callback, "best", None)
        rows.append({
            "stop": owner.stop_training,
            "wait": getattr(callback, "wait", 0),
            "best": None if best is None else float(best),
            "learning_rate": float(owner.optimizer.learning_rate),
            "logged_rate": logs.get("learning_rate"),
        })
        if owner.stop_training:
            break
    callback.on_train_end()
    return {"sequence": [repr(x) for x in SEQUENCES[sequence]], "monitor": name, "rows": rows,
            "stopped_epoch": getattr(callback, "stopped_epoch", 0), "best_epoch": getattr(callback, "best_epoch", 0)}


def saved(sequence, **options):
    """Names of the files of a ModelCheckpoint, by epoch; "" for none."""
    owner, names = model(), []
    owner.save_weights = lambda path, overwrite: names.append(Path(path).name)
    callback = callbacks.ModelCheckpoint("{epoch:02d}_{val_loss:.3f}.weights.h5", save_weights_only=True, **options)
    callback.set_model(owner)
    callback.on_train_begin()
    files = []
    for epoch, number in enumerate(SEQUENCES[sequence]):
        before = len(names)
        callback.on_epoch_begin(epoch)
        callback.on_epoch_end(epoch, {"loss": 1.0, "val_loss": number})
        files.append(names[-1].replace(".weights.h5", "") if len(names) > before else "")
    return {"sequence": [repr(x) for x in SEQUENCES[sequence]], "files": files}


def csv(rows, **options):
    """Bytes of the file that CSVLogger writes in two fits."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        for _ in range(2):
            callback = callbacks.CSVLogger(path, **options)
            callback.set_model(model())
            callback.on_train_begin()
            for epoch, logs in enumerate(rows):
                callback.on_epoch_end(epoch, dict(logs))
            callback.on_train_end()
        return {"rows": rows, "text": path.read_bytes().decode()}


early, plateau = callbacks.EarlyStopping, callbacks.ReduceLROnPlateau
ROWS = [{"loss": 1.0, "mae": 0.25, "val_loss": 1e-05}, {"loss": 0.1 + 0.2, "mae": 123456789.0, "val_loss": 1e17},
        {"loss": 0.5, "mae": 2.0}]
write("callbacks", {
    "early_defaults": run(early(), "late"),
    "early_falling": run(early(patience=2), "falling"),
    "early_plateau": run(early(patience=3), "plateau"),
    "early_late": run(early(patience=4), "late"),
    "early_min_delta": run(early(patience=2, min_delta=0.006), "small_steps"),
    "early_baseline": run(early(patience=3, baseline=0.4), "late"),
    "early_baseline_reached": run(early(patience=3, baseline=0.55), "late"),
    "early_start": run(early(patience=1, start_from_epoch=3), "late"),
    "early_max": run(early(monitor="val_score", patience=2, mode="max"), "rising", "val_score"),
    "early_accuracy": run(early(monitor="val_score", patience=3, min_delta=0.05, mode="max"), "rising", "val_score"),
    "early_nan": run(early(patience=3), "nan"),
    "early_restore": run(early(patience=2, restore_best_weights=True), "late"),
    "plateau_defaults": run(plateau(), "flat"),
    "plateau_patience": run(plateau(factor=0.5, patience=2), "plateau"),
    "plateau_cooldown": run(plateau(factor=0.5, patience=1, cooldown=2), "flat"),
    "plateau_min_lr": run(plateau(factor=0.3, patience=1, min_lr=0.1), "flat"),
    "plateau_min_delta": run(plateau(factor=0.5, patience=2, min_delta=0.006), "small_steps"),
    "plateau_patience_0": run(plateau(factor=0.5, patience=0), "late"),
    "plateau_max": run(plateau(monitor="val_score", factor=0.2, patience=2, mode="max"), "rising", "val_score"),
    "plateau_nan": run(plateau(factor=0.5, patience=1), "nan"),
    "checkpoint": saved("late"),
    "checkpoint_best": saved("late", save_best_only=True),
    "checkpoint_threshold": saved("late", save_best_only=True, initial_value_threshold=0.45),
    "checkpoint_max": saved("rising", save_best_only=True, mode="max"),
    "csv": csv(ROWS),
    "csv_append": csv(ROWS, append=True),
    "csv_separator": csv(ROWS, separator=";"),
    "csv_without_validation": csv([{"loss": 1.0, "b": 2.0, "a": 3.0}, {"loss": 0.5, "a": 1.5}]),
})
