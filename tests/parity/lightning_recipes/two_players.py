"""Two networks with an optimizer each: a forger of samples and its judge (Goodfellow et al., 2014)"""

from recipes import F, L, initialize, nn, torch, uniform
from torch.utils.data import DataLoader, TensorDataset


# docs: begin
class Forgery(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.forger = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 4))
        self.judge = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

    def verdict(self, samples, genuine):
        """Mean cost of the judge's logits if all samples are genuine, or none."""
        return F.softplus(self.judge(samples) * (-1 if genuine else 1)).mean()

    def descend(self, optimizer, cost):
        optimizer.zero_grad()
        self.manual_backward(cost)
        optimizer.step()

    def training_step(self, batch):
        for_forger, for_judge = self.optimizers()
        samples, seeds = batch

        forged = self.forger(seeds).detach()
        judged = self.verdict(samples, genuine=True) + self.verdict(forged, genuine=False)
        self.descend(for_judge, judged)

        fooled = self.verdict(self.forger(seeds), genuine=True)
        self.descend(for_forger, fooled)
        self.log("judged", judged, on_step=False, on_epoch=True)
        self.log("fooled", fooled, on_step=False, on_epoch=True)

    def configure_optimizers(self):
        return [torch.optim.SGD(part.parameters(), lr=rate) for part, rate in ((self.forger, 0.1), (self.judge, 0.2))]
# docs: end


def record():
    pair = Forgery()
    shapes = initialize(pair)
    data = TensorDataset(torch.tensor(uniform(3, (32, 4))), torch.tensor(uniform(4, (32, 3))))
    trainer = L.Trainer(max_epochs=3)
    trainer.fit(pair, DataLoader(data, batch_size=8))
    return {"shapes": shapes, **{name: [float(trainer.callback_metrics[name])] for name in ("judged", "fooled")}}
