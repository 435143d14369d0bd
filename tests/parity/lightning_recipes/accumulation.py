"""Accumulated and clipped gradients"""

from lightning.pytorch.callbacks import GradientAccumulationScheduler
from recipes import Classifier, L, initialize, score, train_data, val_data


def record():
    model, train_loader, val_loader = Classifier(), train_data(), val_data()
    shapes = initialize(model)
    # docs: begin
    # Batches 0, 1 and 2 make an update together; its gradients are scaled to a norm of at most 0.1.
    trainer = L.Trainer(max_epochs=3, accumulate_grad_batches=3, gradient_clip_val=0.1)
    trainer.fit(model, train_loader, val_loader)
    # docs: end
    out = {"shapes": shapes, "clipped": [score(model)], "steps": trainer.global_step}
    # docs: begin
    # From epoch 1 on 2 batches, from epoch 2 on 6; elements of the gradients lie in [-0.05, 0.05].
    scheduler = GradientAccumulationScheduler(scheduling={1: 2, 2: 6})
    trainer = L.Trainer(max_epochs=4, callbacks=[scheduler], gradient_clip_val=0.05, gradient_clip_algorithm="value")
    trainer.fit(model, train_loader, val_loader)
    # docs: end
    return {**out, "scheduled": [score(model)], "scheduled_steps": trainer.global_step}
