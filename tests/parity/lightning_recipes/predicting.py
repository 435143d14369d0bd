"""Predictions of a trained module, with and without a Trainer"""

from recipes import Classifier, L, initialize, points, torch, train_data
from torch.utils.data import DataLoader


# docs: begin
class Predictor(Classifier):
    def predict_step(self, batch, batch_idx):
        return torch.softmax(self(batch[0]), dim=1)
# docs: end


def record():
    model, train_loader = Predictor(), train_data()
    shapes = initialize(model)
    predict_loader, x = DataLoader(points(10, 5), batch_size=4), points(10, 5).tensors[0]
    trainer = L.Trainer(max_epochs=3)
    trainer.fit(model, train_loader)
    # docs: begin
    predictions = torch.cat(trainer.predict(model, predict_loader))
    # docs: end
    trainer.save_checkpoint("best.ckpt")
    # docs: begin
    # Without a Trainer.
    model = Predictor.load_from_checkpoint("best.ckpt")
    model.eval()
    with torch.no_grad():
        classes = model(x).argmax(dim=1)
    # docs: end
    return {"shapes": shapes, "predictions": predictions.reshape(-1).tolist(), "classes": classes.tolist()}
