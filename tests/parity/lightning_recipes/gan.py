"""lightning.ai: Manual optimization. A GAN with two optimizers"""

from recipes import F, L, initialize, nn, torch, uniform
from torch.utils.data import DataLoader, TensorDataset


# docs: begin
class GAN(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4))
        self.discriminator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))

    def training_step(self, batch, batch_idx):
        g_opt, d_opt = self.optimizers()
        real, z = batch
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)

        fake = self.generator(z).detach()
        d_loss = F.binary_cross_entropy_with_logits(self.discriminator(real), ones)
        d_loss = d_loss + F.binary_cross_entropy_with_logits(self.discriminator(fake), zeros)
        d_opt.zero_grad()
        self.manual_backward(d_loss)
        d_opt.step()

        g_loss = F.binary_cross_entropy_with_logits(self.discriminator(self.generator(z)), ones)
        g_opt.zero_grad()
        self.manual_backward(g_loss)
        g_opt.step()
        self.log_dict({"g_loss": g_loss, "d_loss": d_loss}, on_epoch=True, prog_bar=True)

    def configure_optimizers(self):
        g_opt = torch.optim.SGD(self.generator.parameters(), lr=0.1)
        d_opt = torch.optim.SGD(self.discriminator.parameters(), lr=0.2)
        return g_opt, d_opt
# docs: end


def record():
    model = GAN()
    shapes = initialize(model)
    real, z = torch.tensor(uniform(3, (32, 4))), torch.tensor(uniform(4, (32, 3)))
    trainer = L.Trainer(max_epochs=3)
    trainer.fit(model, DataLoader(TensorDataset(real, z), batch_size=8))
    return {"shapes": shapes, **{name: [float(trainer.callback_metrics[name + "_epoch"])] for name in ("g_loss", "d_loss")}}
