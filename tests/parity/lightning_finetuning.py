"""Records learning rates and weights under Lightning's BackboneFinetuning, for y = head * backbone * x."""

import json
import tempfile
from pathlib import Path

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import BackboneFinetuning, Callback
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
X, Y = [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 7.0, 7.0, 12.0]


def weight(value):
    layer = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.constant_(layer.weight, value)
    return layer


class Line(pl.LightningModule):
    def __init__(self, gamma=None):
        super().__init__()
        self.backbone, self.head = weight(0.5), weight(1.5)
        self.gamma = gamma

    def training_step(self, batch, _):
        x, y = batch
        return ((self.head(self.backbone(x)) - y) ** 2).mean()

    def configure_optimizers(self):
        trained = [p for p in self.parameters() if p.requires_grad]
        optimizer = torch.optim.SGD(trained, lr=0.01)
        if self.gamma is None:
            return optimizer
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, self.gamma)]


class Notes(Callback):
    def __init__(self):
        self.rates, self.weights = [], []

    def on_train_batch_start(self, trainer, *_):
        self.rates.append([group["lr"] for group in trainer.optimizers[0].param_groups])

    def on_train_epoch_end(self, trainer, model):
        self.weights.append([model.backbone.weight.item(), model.head.weight.item()])


def finetuned(gamma=None, **options):
    notes, model = Notes(), Line(gamma)
    x, y = torch.tensor(X).reshape(-1, 1), torch.tensor(Y).reshape(-1, 1)
    with tempfile.TemporaryDirectory() as folder:
        pl.Trainer(max_epochs=5, callbacks=[BackboneFinetuning(**options), notes], default_root_dir=folder, logger=False,
                   accelerator="cpu", enable_progress_bar=False, enable_model_summary=False,
                   enable_checkpointing=False).fit(model, DataLoader(TensorDataset(x, y), batch_size=2))
    return {"rates": notes.rates, "weights": notes.weights}


cases = {
    "doubled": finetuned(unfreeze_backbone_at_epoch=2),
    "initial": finetuned(unfreeze_backbone_at_epoch=1, backbone_initial_lr=0.004, lambda_func=lambda epoch: 1 + epoch / 10),
    "aligned": finetuned(unfreeze_backbone_at_epoch=1, backbone_initial_ratio_lr=0.5, lambda_func=lambda epoch: 1.5,
                         gamma=0.7),
    "not_aligned": finetuned(unfreeze_backbone_at_epoch=0, backbone_initial_ratio_lr=0.5, should_align=False,
                             lambda_func=lambda epoch: 1.5),
}
lines = [f"{json.dumps(key)}: {json.dumps(case, separators=(',', ':'))}" for key, case in cases.items()]
Path(__file__).parent.joinpath("recorded", "lightning_finetuning.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
