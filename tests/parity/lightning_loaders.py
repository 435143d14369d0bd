"""Records the batches of Lightning's CombinedLoader, and the numbers that loggers get in evaluations."""

import json
import logging
import pathlib
import warnings

import torch
from lightning import LightningModule, Trainer
from lightning.pytorch.loggers.logger import Logger
from lightning.pytorch.utilities import CombinedLoader
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


def loader(samples, first=0):
    return DataLoader(TensorDataset(first + torch.arange(float(samples))[:, None]), batch_size=1)


class Recorder(Logger):
    def __init__(self):
        super().__init__()
        self.calls = []

    name = version = "recorder"

    def log_hyperparams(self, *args, **kwargs):
        pass

    def log_metrics(self, metrics, step):
        self.calls.append({"step": step, "metrics": {name: float(value) for name, value in metrics.items()}})


class Line(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0)


class Combined(Line):
    def __init__(self):
        super().__init__()
        self.batches = []

    def training_step(self, batch, batch_idx):
        names = {name: None if part is None else part[0].item() for name, part in batch.items()}
        self.batches.append([self.current_epoch, batch_idx, names])
        return self.layer.weight.sum() * 0


class Logging(Line):
    def training_step(self, batch, batch_idx):
        return self.layer.weight.sum() * 0

    def validation_step(self, batch, batch_idx, dataloader_idx=0):
        self.log("step", batch[0].mean(), on_step=True, on_epoch=False)
        self.log("both", batch[0].mean() + dataloader_idx, on_step=True, on_epoch=True)
        self.log("index", float(batch_idx))

    def test_step(self, batch, batch_idx):
        self.log("both", batch[0].mean(), on_step=True, on_epoch=True)

    def on_validation_epoch_end(self):
        self.log("hook", 7.0)


def run(module, train, validation=None, recorder=None, **options):
    trainer = Trainer(max_epochs=2, logger=recorder or False, enable_checkpointing=False, enable_progress_bar=False,
                      enable_model_summary=False, accelerator="cpu", **options)
    trainer.fit(module, train, validation)
    return trainer


def main():
    recorded = {}
    for mode in ("min_size", "max_size_cycle", "max_size"):
        module = Combined()
        run(module, CombinedLoader({"a": loader(3), "b": loader(5, 10), "c": loader(2, 20)}, mode))
        recorded[mode] = module.batches
    try:
        run(Combined(), CombinedLoader({"a": loader(3)}, "sequential"))
        recorded["fit takes sequential"] = True
    except ValueError:
        recorded["fit takes sequential"] = False
    for loaders in (1, 2):
        recorder = Recorder()
        validation = [loader(2), loader(3, 10)][:loaders]
        trainer = run(Logging(), loader(4), validation[0] if loaders == 1 else validation, recorder,
                      val_check_interval=0.5, num_sanity_val_steps=1)
        if loaders == 1:
            trainer.test(Logging(), loader(2), verbose=False)
        recorded[f"logged with {loaders}"] = recorder.calls
    path = pathlib.Path(__file__).parent / "recorded" / "lightning_loaders.json"
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in recorded.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


main()
