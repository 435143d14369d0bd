"""Two networks with an optimizer each: a forger of samples and its judge (Goodfellow et al., 2014)"""

from recipes import F, L, initialize, nn, torch, uniform
from torch.utils.data import DataLoader, TensorDataset


# docs: begin
class Forgery(L.LightningModule):
    def __init__(self):
        super().__init__()
        # Both parts have two dense layers with a tanh in between.
        self.forger, self.judge = (
            nn.Sequential(nn.Linear(inputs, 8), nn.Tanh(), nn.Linear(8, outputs))
            for inputs, outputs in ((3, 4), (4, 1)))
        self.automatic_optimization = False

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
        for name, cost in (("judged", judged), ("fooled", fooled)):
            self.log(name, cost, on_epoch=True, on_step=False)

    def configure_optimizers(self):
        parts = (self.forger, 0.1), (self.judge, 0.2)
        return [torch.optim.SGD(lr=rate, params=part.parameters()) for part, rate in parts]
# docs: end


def record():
    pair = Forgery()
    shapes = initialize(pair)
    data = TensorDataset(torch.tensor(uniform(3, (32, 4))), torch.tensor(uniform(4, (32, 3))))
    loop = L.Trainer(max_epochs=3)
    loop.fit(pair, DataLoader(data, batch_size=8))
    return {"shapes": shapes, **{name: [float(loop.callback_metrics[name])] for name in ("judged", "fooled")}}
