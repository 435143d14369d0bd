"""A module, its training and its validation"""

from recipes import F, L, initialize, nn, torch, train_data, val_data


# docs: begin
class PointSorter(L.LightningModule):
    """Sorts points of four coordinates into three kinds."""

    rate = 0.02

    def __init__(self, hidden=10):
        super().__init__()
        self.inner, self.outer = nn.Linear(4, hidden), nn.Linear(hidden, 3)

    def forward(self, points):
        return self.outer(F.silu(self.inner(points)))

    def scores(self, batch):
        points, kinds = batch
        logits = self(points)
        hits = logits.argmax(dim=1) == kinds
        return F.cross_entropy(logits, kinds), hits.float().mean()

    def validation_step(self, batch):
        loss, hits = self.scores(batch)
        self.log_dict({"held_out_loss": loss, "held_out_hits": hits})

    def training_step(self, batch):
        loss, hits = self.scores(batch)
        self.log("hits", hits, on_epoch=True, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(lr=self.rate, params=self.parameters())
# docs: end


def record():
    known, held_out = train_data(), val_data()
    # docs: begin
    sorter = PointSorter(hidden=12)
    # docs: end
    shapes = initialize(sorter)
    # docs: begin
    trainer = L.Trainer(max_epochs=5)
    trainer.fit(sorter, known, held_out)
    [final] = trainer.validate(sorter, held_out)
    # docs: end
    return {"shapes": shapes, "final": final}
