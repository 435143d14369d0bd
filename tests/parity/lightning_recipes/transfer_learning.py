"""A frozen backbone under a new head"""

from recipes import F, L, initialize, nn, score, torch, train_data


# docs: begin
class NewHead(L.LightningModule):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        for parameter in self.backbone.parameters():
            parameter.requires_grad = False
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.backbone(x))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.head.parameters(), lr=0.5)
# docs: end


def record():
    backbone, train_loader = nn.Sequential(nn.Linear(4, 8), nn.ReLU()), train_data()
    # docs: begin
    model = NewHead(backbone)
    # docs: end
    shapes = initialize(model)
    before = backbone[0].weight.detach().clone()
    # docs: begin
    L.Trainer(max_epochs=4).fit(model, train_loader)
    # docs: end
    assert torch.equal(before, backbone[0].weight)
    return {"shapes": shapes, "score": [score(model)]}
