"""lightning.ai: Lightning in 15 minutes. A LightningModule and fit"""

from recipes import F, L, initialize, nn, torch, train_data, val_data


# docs: begin
class LitClassifier(L.LightningModule):
    def __init__(self, width=8):
        super().__init__()
        self.l1 = nn.Linear(4, width)
        self.l2 = nn.Linear(width, 3)

    def forward(self, x):
        return self.l2(torch.relu(self.l1(x)))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.log("val_acc", (logits.argmax(dim=1) == y).float().mean(), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.02)
# docs: end


def record():
    train_loader, val_loader = train_data(), val_data()
    # docs: begin
    model = LitClassifier()
    # docs: end
    shapes = initialize(model)
    # docs: begin
    trainer = L.Trainer(max_epochs=5)
    trainer.fit(model, train_loader, val_loader)
    results = trainer.validate(model, val_loader)
    # docs: end
    return {"shapes": shapes, "results": results[0]}
