"""Precision as an option of the Trainer"""

from recipes import Classifier, L, initialize, score, train_data, val_data


def record():
    model, train_loader, val_loader = Classifier(), train_data(), val_data()
    shapes = initialize(model)
    # docs: begin
    trainer = L.Trainer(max_epochs=5, precision="bf16-mixed")
    trainer.fit(model, train_loader, val_loader)
    # docs: end
    return {"shapes": shapes, "dtype": str(model.l1.weight.dtype).split(".")[1], "score": [score(model)]}
