"""Numbers in several loggers, and profiles"""

import csv

from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from recipes import Classifier, F, L, Path, initialize, train_data


# docs: begin
class LoggingClassifier(Classifier):
    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        loss = F.cross_entropy(logits, y)
        acc = (logits.argmax(dim=1) == y).float().mean()
        self.log("train_loss", loss, on_step=True, on_epoch=True, prog_bar=True)
        self.log_dict({"acc": acc, "largest": logits.max()}, on_step=False, on_epoch=True)
        return loss
# docs: end


def record():
    model, train_loader = LoggingClassifier(), train_data()
    shapes = initialize(model)
    # docs: begin
    logger = TensorBoardLogger("logs")
    trainer = L.Trainer(
        max_epochs=2,
        logger=[logger, CSVLogger("logs", name="csv")],
        log_every_n_steps=3,
        profiler="simple",
    )
    trainer.fit(model, train_loader)
    # docs: end
    rows = list(csv.DictReader(Path("logs/csv/version_0/metrics.csv").open()))
    columns = {name: [float(row[name]) for row in rows if row[name]] for name in rows[0]}
    return {"shapes": shapes, "columns": columns}
