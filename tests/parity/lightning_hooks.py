"""Records the order in which Lightning calls the hooks that mezzo has, for calls of a Trainer.

A line is "<owner>.<hook>", owner is "callback" or "module". Hooks that Lightning calls on the strategy, for transfers of
batches and for changes of the mode are left out, as are those of zero_grad, which mezzo lacks.
"""

import json
import logging
import pathlib
import warnings

import torch
from lightning import Callback, LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")

PHASES = ("train", "validation", "test", "predict")
CALLBACK_HOOKS = ["setup", "teardown", "on_fit_start", "on_fit_end", "on_sanity_check_start", "on_sanity_check_end"]
CALLBACK_HOOKS += ["on_train_start", "on_train_end", "on_train_epoch_start", "on_train_epoch_end"]
CALLBACK_HOOKS += [f"on_{p}_batch_{w}" for p in PHASES for w in ("start", "end")]
MODULE_HOOKS = [h for h in CALLBACK_HOOKS if "sanity" not in h]
EVALUATIONS = ("validation", "test", "predict")
MODULE_HOOKS += [f"on_{p}_{w}" for p in EVALUATIONS for w in ("start", "end", "epoch_start", "epoch_end")]
MODULE_HOOKS += ["configure_callbacks", "on_before_backward", "on_after_backward", "on_before_optimizer_step"]
# mezzo's callbacks have Keras' on_test_begin and on_test_end there.
CALLBACK_HOOKS += [f"on_{p}_{w}" for p in EVALUATIONS for w in ("start", "epoch_end")]


def recording(base, owner, hooks, calls):
    """A subclass of `base` that notes its hooks."""

    def make(name):
        inherited = getattr(base, name)

        def hook(self, *arguments, **options):
            calls.append(f"{owner}.{name}")
            return inherited(self, *arguments, **options)

        return hook

    return type(owner, (base,), {name: make(name) for name in hooks})


class Line(LightningModule):
    def __init__(self, fails_at=None, stops_at=None):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.fails_at, self.stops_at = fails_at, stops_at

    def loss(self, batch):
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def training_step(self, batch, batch_idx):
        return self.loss(batch)

    def on_train_batch_start(self, batch, batch_idx):
        if self.fails_at == self.trainer.fit_loop.epoch_loop.total_batch_idx:
            raise ValueError("planned")

    def on_train_batch_end(self, outputs, batch, batch_idx):
        if self.stops_at == self.trainer.fit_loop.epoch_loop.total_batch_idx:
            self.trainer.should_stop = True

    def validation_step(self, batch, batch_idx):
        self.loss(batch)

    def test_step(self, batch, batch_idx):
        self.loss(batch)

    def predict_step(self, batch, batch_idx):
        return self.layer(batch[0])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def run(verb="fit", validates=True, model_options=None, **options):
    calls = []
    module = recording(Line, "module", MODULE_HOOKS, calls)(**(model_options or {}))
    callback = recording(Callback, "callback", CALLBACK_HOOKS, calls)()
    trainer = Trainer(accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                      enable_model_summary=False, callbacks=[callback], **options)
    data = TensorDataset(torch.arange(3.0)[:, None], torch.arange(3.0)[:, None])
    loader = DataLoader(data, batch_size=1)
    try:
        if verb == "fit":
            trainer.fit(module, loader, loader if validates else None)
        else:
            getattr(trainer, verb)(module, loader, **({} if verb == "predict" else {"verbose": False}))
    except ValueError as error:
        calls.append(f"error: {error}")
    return calls


recorded = {
    "fit": run(max_epochs=2, num_sanity_val_steps=1, limit_val_batches=1),
    "accumulation": run(max_epochs=1, accumulate_grad_batches=2, validates=False),
    "early_stop": run(max_epochs=3, num_sanity_val_steps=0, limit_val_batches=1, model_options={"stops_at": 1}),
    "exception": run(max_epochs=1, validates=False, model_options={"fails_at": 1}),
    "max_steps": run(max_steps=2, num_sanity_val_steps=0, limit_val_batches=1),
    "val_check_interval": run(max_epochs=1, num_sanity_val_steps=0, limit_val_batches=1, val_check_interval=1),
    "every_second_epoch": run(max_epochs=2, num_sanity_val_steps=0, limit_val_batches=1, limit_train_batches=1,
                              check_val_every_n_epoch=2),
    "validate": run("validate", limit_val_batches=2),
    "test": run("test", limit_test_batches=2),
    "predict": run("predict", limit_predict_batches=2),
}
path = pathlib.Path(__file__).parent / "recorded" / "lightning_hooks.json"
path.write_text(json.dumps(recorded, indent=0) + "\n")
