"""Records the learning rates of each batch that Lightning's scheduler configurations give.

The monitored numbers are given, so that training has no effect on them.
"""

import json
import logging
import pathlib
import warnings

import torch
from lightning import LightningModule, Trainer
from torch.optim.lr_scheduler import LambdaLR, ReduceLROnPlateau
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")

# Of the epochs, or of the validations in the middle of them.
VALIDATIONS = [1.0, 0.5, 0.5, 0.50001, 0.6, 0.4, 0.4, 0.4, 0.4, 0.4]


class Rated(LightningModule):
    def __init__(self, config):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.config, self.rates, self.validations = config, [], 0

    def training_step(self, batch, batch_idx):
        self.rates.append(self.trainer.optimizers[0].param_groups[0]["lr"])
        return self.layer(batch[0]).sum() * 0

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", VALIDATIONS[self.validations])

    def on_validation_epoch_end(self):
        self.validations += 1

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=1.0)
        return {"optimizer": optimizer, "lr_scheduler": {**self.config, "scheduler": self.config["scheduler"](optimizer)}}


def run(config, batches=4, **options):
    module = Rated(config)
    options = {"max_epochs": 4, "num_sanity_val_steps": 0, **options}
    trainer = Trainer(accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                      enable_model_summary=False, **options)
    data = TensorDataset(torch.ones(batches, 1))
    trainer.fit(module, DataLoader(data, batch_size=1), DataLoader(TensorDataset(torch.ones(1, 1))))
    return module.rates


def halves(optimizer):
    return LambdaLR(optimizer, lambda step: 0.5**step)


def plateau(**options):
    return lambda optimizer: ReduceLROnPlateau(optimizer, **{"factor": 0.5, "patience": 1, **options})


monitored = {"monitor": "val_loss"}
recorded = {
    "epoch": run({"scheduler": halves}),
    "every_second_epoch": run({"scheduler": halves, "frequency": 2}, max_epochs=5),
    "step": run({"scheduler": halves, "interval": "step"}, max_epochs=2),
    "every_third_step": run({"scheduler": halves, "interval": "step", "frequency": 3}),
    "accumulated_steps": run({"scheduler": halves, "interval": "step"}, batches=5, accumulate_grad_batches=2),
    "accumulated_every_second_step": run({"scheduler": halves, "interval": "step", "frequency": 2}, batches=5,
                                         accumulate_grad_batches=2),
    "max_steps": run({"scheduler": halves}, max_epochs=-1, max_steps=10),
    "plateau": run({"scheduler": plateau(), **monitored}, batches=1, max_epochs=10),
    "plateau_abs": run({"scheduler": plateau(threshold=0.2, threshold_mode="abs"), **monitored}, batches=1,
                       max_epochs=10),
    "plateau_max": run({"scheduler": plateau(mode="max"), **monitored}, batches=1, max_epochs=10),
    "plateau_cooldown": run({"scheduler": plateau(patience=0, cooldown=2), **monitored}, batches=1, max_epochs=10),
    "plateau_min_lr": run({"scheduler": plateau(patience=0, min_lr=0.3), **monitored}, batches=1, max_epochs=10),
    "plateau_every_second_epoch": run({"scheduler": plateau(patience=0), "frequency": 2, **monitored}, batches=1,
                                      max_epochs=10),
    "plateau_rare_validation": run({"scheduler": plateau(), "strict": False, **monitored}, batches=1, max_epochs=10,
                                   check_val_every_n_epoch=2),
    "plateau_step": run({"scheduler": plateau(patience=0), "interval": "step", "frequency": 2, **monitored}, batches=4,
                        max_epochs=4, val_check_interval=2),
}
path = pathlib.Path(__file__).parent / "recorded" / "lightning_schedulers.json"
path.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in recorded.items()) + "\n}\n")
