"""Records what Lightning's callbacks decide, compute and write in trainings of y = w x."""

import json
import tempfile
from pathlib import Path

import lightning.pytorch as pl
import torch
from lightning.pytorch import callbacks
from lightning.pytorch.loggers import Logger
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
X, Y = [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 7.0, 7.0, 12.0]
SEQUENCES = {
    "falling": [1.0, 0.8, 0.7, 0.65, 0.64, 0.63],
    "late": [0.5, 0.7, 0.6, 0.49, 0.6, 0.6, 0.6, 0.3],
    "rising": [0.1, 0.2, 0.15, 0.3, 0.25, 0.28, 0.29, 0.1],
    "nan": [1.0, float("nan"), 0.9, float("nan"), float("nan"), 0.8],
    "diverging": [1.0, 0.9, 2.0, 4.5, 9.0, 1.0],
}


class Line(pl.LightningModule):
    """Logs the numbers of a sequence as "score" in its validations, and notes its weight there."""

    def __init__(self, sequence=None, rate=0.01, optimizer=torch.optim.SGD, **options):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([[0.5]]))
        self.lr, self.optimizer_class, self.optimizer_options = rate, optimizer, options
        self.sequence, self.validated = list(sequence or []), []

    def training_step(self, batch, _):
        x, y = batch
        return ((x * self.weight - y) ** 2).mean()

    def validation_step(self, batch, _):
        self.validated.append(self.weight.item())
        self.log("score", self.sequence[min(self.current_epoch, len(self.sequence) - 1)] if self.sequence else 0.0)

    def configure_optimizers(self):
        return self.optimizer_class(self.parameters(), lr=self.lr, **self.optimizer_options)


def loader(samples=5, batch=2):
    x, y = torch.tensor(X[:samples]).reshape(-1, 1), torch.tensor(Y[:samples]).reshape(-1, 1)
    return DataLoader(TensorDataset(x, y), batch_size=batch)


def fit(model, used, folder, epochs, validates=True, logger=False, **options):
    trainer = pl.Trainer(max_epochs=epochs, callbacks=used, default_root_dir=folder, logger=logger, accelerator="cpu",
                         enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
                         enable_checkpointing=any(isinstance(c, callbacks.Checkpoint) for c in used), **options)
    trainer.fit(model, loader(), DataLoader(TensorDataset(torch.zeros(1, 1), torch.zeros(1, 1))) if validates else None)
    return trainer


class Listing(callbacks.Callback):
    """Notes the files of a folder at the start of each epoch and at the end."""

    def __init__(self, folder):
        self.folder, self.files = Path(folder), []

    def note(self):
        self.files.append(sorted(p.name for p in self.folder.glob("*")))

    def on_train_epoch_start(self, trainer, _):
        if trainer.current_epoch > 0:
            self.note()

    def on_train_end(self, *_):
        self.note()


def saved(sequence, runs=1, trainer=None, **options):
    """Files of a ModelCheckpoint after each epoch, and its attributes at the end."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for _ in range(runs):
            checkpoint = callbacks.ModelCheckpoint(dirpath=folder, **options)
            listing = Listing(folder)
            fit(Line(SEQUENCES[sequence]), [listing, checkpoint], folder, len(SEQUENCES[sequence]), **(trainer or {}))
            files += listing.files
        name = lambda path: Path(path).name if path else ""  # noqa: E731
        score = checkpoint.best_model_score
        return {"sequence": [repr(x) for x in SEQUENCES[sequence]], "files": files,
                "best": name(checkpoint.best_model_path), "score": None if score is None else float(score),
                "models": {name(p): float(s) for p, s in checkpoint.best_k_models.items()},
                "kth": name(checkpoint.kth_best_model_path), "last": name(checkpoint.last_model_path)}


def stopped(sequence, **options):
    callback = callbacks.EarlyStopping("score", **options)
    model = Line(SEQUENCES[sequence])
    with tempfile.TemporaryDirectory() as folder:
        trainer = fit(model, [callback], folder, len(SEQUENCES[sequence]))
    return {"sequence": [repr(x) for x in SEQUENCES[sequence]], "epochs": trainer.current_epoch,
            "wait": callback.wait_count, "stopped_epoch": callback.stopped_epoch,
            "reason": callback.stopping_reason.value}


def found(rate=0.01, **options):
    callback = callbacks.LearningRateFinder(**options)
    model = Line(rate=rate)
    with tempfile.TemporaryDirectory() as folder:
        fit(model, [callback], folder, 20, validates=False)
    return {"lrs": callback.optimal_lr.results["lr"], "losses": callback.optimal_lr.results["loss"],
            "suggestion": callback.optimal_lr.suggestion(), "all": callback.optimal_lr.suggestion(0, 1)}


def averaged(callback, epochs=3):
    model = Line()
    with tempfile.TemporaryDirectory() as folder:
        fit(model, [callback], folder, epochs)
    return {"validated": model.validated, "weight": model.weight.item()}


class Rates(callbacks.Callback):
    def __init__(self):
        self.rates = []

    def on_train_batch_start(self, trainer, *_):
        self.rates.append(trainer.optimizers[0].param_groups[0]["lr"])


def swa(epochs=6, **options):
    model, rates = Line(), Rates()
    with tempfile.TemporaryDirectory() as folder:
        fit(model, [callbacks.StochasticWeightAveraging(**options), rates], folder, epochs, validates=False)
    return {"rates": rates.rates, "weight": model.weight.item()}


class Recorder(Logger):
    def __init__(self):
        super().__init__()
        self.rows = []

    name, version = "recorder", 0

    def log_hyperparams(self, *_):
        pass

    def log_metrics(self, metrics, step):
        rates = {k: v for k, v in metrics.items() if k != "epoch" and ("lr" in k)}
        if rates:
            self.rows.append([step, rates])


def monitored(optimizer, options, every=1, **monitor):
    logger = Recorder()
    with tempfile.TemporaryDirectory() as folder:
        fit(Line(optimizer=optimizer, **options), [callbacks.LearningRateMonitor(**monitor)], folder, 2, logger=logger,
            log_every_n_steps=every)
    return logger.rows


SGD, Adam = torch.optim.SGD, torch.optim.Adam
average, ema = callbacks.WeightAveraging, callbacks.EMAWeightAveraging
cases = {
    "checkpoint": saved("late"),
    "checkpoint_all": saved("late", save_top_k=-1, filename="{epoch:03d}"),
    "checkpoint_best": saved("late", monitor="score", filename="{epoch}-{score:.2f}"),
    "checkpoint_two": saved("late", monitor="score", save_top_k=2, filename="{epoch}", save_last=True),
    "checkpoint_max": saved("rising", monitor="score", mode="max", save_top_k=2, filename="e{epoch}"),
    "checkpoint_nan": saved("nan", monitor="score", save_top_k=2, filename="{epoch}"),
    "checkpoint_plain": saved("late", monitor="score", filename="m{score:.1f}", auto_insert_metric_name=False),
    "checkpoint_versions": saved("falling", runs=2, monitor="score", save_top_k=2, filename="same"),
    "checkpoint_replaced": saved("falling", runs=2, monitor="score", filename="same", enable_version_counter=False),
    "checkpoint_epochs": saved("late", save_top_k=-1, every_n_epochs=3),
    "checkpoint_steps": saved("falling", save_top_k=-1, every_n_train_steps=5),
    "checkpoint_none": saved("falling", save_top_k=0, save_last=True),
    "checkpoint_link": saved("late", monitor="score", filename="{epoch}", save_last="link"),
    "early": stopped("late", patience=3),
    "early_patience": stopped("late", patience=4),
    "early_nan": stopped("nan", patience=3),
    "early_nan_unchecked": stopped("nan", patience=3, check_finite=False),
    "early_threshold": stopped("falling", patience=3, stopping_threshold=0.66),
    "early_threshold_max": stopped("rising", patience=9, mode="max", stopping_threshold=0.27),
    "early_divergence": stopped("diverging", patience=9, divergence_threshold=4.0),
    "rates": found(num_training_steps=40, min_lr=1e-4, early_stop_threshold=20.0),
    "rates_linear": found(num_training_steps=30, min_lr=1e-4, max_lr=0.1, mode="linear", early_stop_threshold=None),
    "average": averaged(average()),
    "ema": averaged(ema(decay=0.5)),
    "ema_late": averaged(ema(decay=0.75, update_every_n_steps=2, update_starting_at_step=2)),
    "ema_epochs": averaged(ema(decay=0.5, update_every_n_steps=0, update_starting_at_epoch=1)),
    "swa": swa(swa_lrs=0.002, swa_epoch_start=3, annealing_epochs=3),
    "swa_linear": swa(swa_lrs=0.03, swa_epoch_start=0.5, annealing_epochs=2, annealing_strategy="linear"),
    "swa_at_once": swa(swa_lrs=0.03, swa_epoch_start=1, annealing_epochs=0,
                       avg_fn=lambda average, weight, count: average + weight * (count + 1)),
    "monitor": monitored(SGD, {"momentum": 0.5}, log_momentum=True, log_weight_decay=True),
    "monitor_step": monitored(Adam, {"weight_decay": 0.25}, every=2, logging_interval="step", log_momentum=True,
                              log_weight_decay=True),
    "monitor_epoch": monitored(SGD, {}, logging_interval="epoch"),
}
text = json.dumps(cases, indent=1).replace("NaN", "null")
Path(__file__).parent.joinpath("recorded", "lightning_callbacks.json").write_text(text + "\n")
