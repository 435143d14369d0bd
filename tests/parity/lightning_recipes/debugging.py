"""Options that find mistakes early"""

from recipes import Classifier, L, initialize, score, train_data, val_data


def record():
    model, train_loader, val_loader = Classifier(), train_data(), val_data()
    shapes = initialize(model)
    # docs: begin
    # Runs one batch of training and validation.
    L.Trainer(fast_dev_run=True).fit(model, train_loader, val_loader)
    # docs: end
    out = {"shapes": shapes, "dev": [score(model)]}
    # docs: begin
    # The loss must fall to about 0 on two batches.
    L.Trainer(max_epochs=20, overfit_batches=2).fit(model, train_loader, train_loader)
    # docs: end
    out["overfit"] = [score(model)]
    # docs: begin
    # Shorter epochs, and an error at the first number that is not finite.
    trainer = L.Trainer(max_epochs=2, limit_train_batches=0.5, limit_val_batches=1, detect_anomaly=True)
    trainer.fit(model, train_loader, val_loader)
    # docs: end
    return {**out, "short": [score(model)], "steps": trainer.global_step}
