"""Learning rate schedules, and the callback that logs the rates"""

import csv

from lightning.pytorch.callbacks import LearningRateMonitor
from lightning.pytorch.loggers import CSVLogger
from recipes import Classifier, L, Path, initialize, score, torch, train_data, val_data


# docs: begin
class Scheduled(Classifier):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.5)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=18)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}
# docs: end


def record():
    model, train_loader, val_loader = Scheduled(), train_data(), val_data()
    shapes = initialize(model)
    # docs: begin
    monitor = LearningRateMonitor(logging_interval="step")
    trainer = L.Trainer(max_epochs=3, callbacks=[monitor], logger=CSVLogger("logs"), log_every_n_steps=1)
    trainer.fit(model, train_loader, val_loader)
    # docs: end
    rows = list(csv.DictReader(Path("logs/lightning_logs/version_0/metrics.csv").open()))
    return {"shapes": shapes, "score": [score(model)], "rates": [float(r["lr-SGD"]) for r in rows if r["lr-SGD"]]}
