"""Checkpoints of the best epochs, and early stopping"""

from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from recipes import Classifier, L, initialize, name_of, torch, train_data, val_data


def record():
    model, train_loader, val_loader = Classifier(learning_rate=2.5), train_data(), val_data()
    shapes = initialize(model)
    # docs: begin
    checkpoint = ModelCheckpoint(
        dirpath="checkpoints",
        filename="{epoch:02d}-{val_loss:.2f}",
        monitor="val_loss",
        mode="min",
        save_top_k=2,
        save_last=True,
    )
    stopping = EarlyStopping(monitor="val_loss", mode="min", patience=3)
    trainer = L.Trainer(max_epochs=50, callbacks=[checkpoint, stopping])
    trainer.fit(model, train_loader, val_loader)

    print(checkpoint.best_model_path, checkpoint.best_model_score, stopping.stopped_epoch)
    best = Classifier.load_from_checkpoint(checkpoint.best_model_path)
    # docs: end
    return {"shapes": shapes, "best": name_of(checkpoint.best_model_path), "stopped": stopping.stopped_epoch,
            "models": sorted(name_of(path) for path in checkpoint.best_k_models),
            "score": [float(checkpoint.best_model_score)], "loaded": float(best.l2.bias.abs().sum())}
