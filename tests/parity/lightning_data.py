"""Records the order in which Lightning calls a LightningDataModule, and the names of numbers of several loaders."""

import json
import logging
import pathlib
import warnings

import torch
from lightning import Callback, LightningDataModule, LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


def loader(samples):
    return DataLoader(TensorDataset(torch.arange(float(samples))[:, None]), batch_size=1)


class Data(LightningDataModule):
    def __init__(self, calls):
        super().__init__()
        self.calls = calls

    def prepare_data(self):
        self.calls.append("data.prepare_data")

    def setup(self, stage):
        self.calls.append(f"data.setup {stage.value}")

    def teardown(self, stage):
        self.calls.append(f"data.teardown {stage.value}")

    def on_exception(self, exception):
        self.calls.append("data.on_exception")

    def state_dict(self):
        return {"seen": 7}

    def load_state_dict(self, state_dict):
        self.calls.append(f"data.load_state_dict {state_dict['seen']}")

    def train_dataloader(self):
        self.calls.append("data.train_dataloader")
        return loader(2)

    def val_dataloader(self):
        self.calls.append("data.val_dataloader")
        return loader(1)

    def test_dataloader(self):
        self.calls.append("data.test_dataloader")
        return loader(1)

    def predict_dataloader(self):
        self.calls.append("data.predict_dataloader")
        return loader(1)


class Watcher(Callback):
    def __init__(self, calls):
        self.calls = calls

    def setup(self, trainer, module, stage):
        self.calls.append(f"callback.setup {stage.value}")

    def teardown(self, trainer, module, stage):
        self.calls.append(f"callback.teardown {stage.value}")

    def on_train_epoch_start(self, trainer, module):
        self.calls.append("callback.on_train_epoch_start")


class Line(LightningModule):
    def __init__(self, calls, fails=False):
        super().__init__()
        self.layer, self.calls, self.fails = torch.nn.Linear(1, 1), calls, fails

    def setup(self, stage):
        self.calls.append(f"module.setup {stage.value}")

    def teardown(self, stage):
        self.calls.append(f"module.teardown {stage.value}")

    def training_step(self, batch, batch_idx):
        if self.fails:
            raise ValueError("planned")
        return self.layer(batch[0]).sum()

    def validation_step(self, batch, batch_idx, dataloader_idx=0):
        self.log("mean", batch[0].mean() + dataloader_idx)
        self.log(f"own_{dataloader_idx}", batch[0].mean(), add_dataloader_idx=False)

    test_step = validation_step

    def predict_step(self, batch, batch_idx, dataloader_idx=0):
        return batch[0] + 10 * dataloader_idx

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.0)


def trainer_of(calls, **options):
    return Trainer(accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                   enable_model_summary=False, num_sanity_val_steps=0, callbacks=[Watcher(calls)], **options)


def run(verb="fit", fails=False, **options):
    calls = []
    module = Line(calls, fails)
    try:
        getattr(trainer_of(calls, **options), verb)(module, datamodule=Data(calls))
    except ValueError as error:
        calls.append(f"error: {error}")
    return calls


def resumed(path="/tmp/mezzo_lightning_data.ckpt"):
    trainer = trainer_of([], max_epochs=1)
    trainer.fit(Line([]), datamodule=Data([]))
    trainer.save_checkpoint(path)
    calls = []
    trainer_of(calls, max_epochs=2).fit(Line(calls), datamodule=Data(calls), ckpt_path=path, weights_only=False)
    pathlib.Path(path).unlink()
    return calls


def numbers(verb):
    module = Line([])
    results = getattr(trainer_of([]), verb)(module, [loader(2), loader(4)], verbose=False)
    return {k: v for result in results for k, v in result.items()}


recorded = {
    "fit": run(max_epochs=2),
    "reload": run(max_epochs=4, reload_dataloaders_every_n_epochs=2),
    "exception": run(max_epochs=1, fails=True),
    "resume": resumed(),
    "validate": run("validate"),
    "test": run("test"),
    "predict": run("predict"),
    "validated": numbers("validate"),
    "tested": numbers("test"),
}
path = pathlib.Path(__file__).parent / "recorded" / "lightning_data.json"
path.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in recorded.items()) + "\n}\n")
