"""A training that goes on from a checkpoint, and hyperparameters of a module"""

from recipes import Classifier, L, initialize, score, train_data, val_data


def record():
    model, train_loader, val_loader = Classifier(), train_data(), val_data()
    shapes = initialize(model)
    # docs: begin
    trainer = L.Trainer(max_epochs=2)
    trainer.fit(model, train_loader, val_loader)
    trainer.save_checkpoint("two.ckpt")

    model = Classifier()
    trainer = L.Trainer(max_epochs=5)
    trainer.fit(model, train_loader, val_loader, ckpt_path="two.ckpt")
    # docs: end
    return {"shapes": shapes, "epochs": trainer.current_epoch, "score": [score(model)]}
