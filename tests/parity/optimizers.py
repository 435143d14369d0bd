"""Records ten steps of Keras' optimizers on two variables with given gradients."""

from common import array, keras, np, numbers, write

optimizers = keras.optimizers
STEPS = 10


def record(optimizer):
    start = [numbers(1, (3,)), numbers(2, (2, 2))]
    variables = [keras.Variable(x) for x in start]
    gradients = [[numbers(10 + 2 * step + i, x.shape, -2, 2) for i, x in enumerate(start)] for step in range(STEPS)]
    trajectory = []
    for step in gradients:
        optimizer.apply([keras.ops.convert_to_tensor(g) for g in step], variables)
        trajectory.append([array(np.array(v.value)) for v in variables])
    return {"start": [array(x) for x in start], "gradients": [[array(g) for g in step] for step in gradients],
            "trajectory": trajectory}


write("optimizers", {
    "sgd": record(optimizers.SGD()),
    "sgd_momentum": record(optimizers.SGD(0.1, momentum=0.9)),
    "sgd_nesterov": record(optimizers.SGD(0.1, momentum=0.8, nesterov=True)),
    "sgd_weight_decay": record(optimizers.SGD(0.1, momentum=0.9, weight_decay=0.05)),
    "sgd_clipnorm": record(optimizers.SGD(0.1, clipnorm=1.0)),
    "sgd_clipvalue": record(optimizers.SGD(0.1, momentum=0.5, clipvalue=0.5)),
    "sgd_global_clipnorm": record(optimizers.SGD(0.1, global_clipnorm=1.5)),
    "adam": record(optimizers.Adam()),
    "adam_options": record(optimizers.Adam(0.05, beta_1=0.8, beta_2=0.95, epsilon=1e-3)),
    "adam_weight_decay": record(optimizers.Adam(0.05, weight_decay=0.1)),
    "adam_clipnorm": record(optimizers.Adam(0.05, clipnorm=1.0)),
    "adam_clipvalue": record(optimizers.Adam(0.05, clipvalue=0.5)),
    "adam_global_clipnorm": record(optimizers.Adam(0.05, global_clipnorm=1.5)),
    "adamw": record(optimizers.AdamW()),
    "adamw_options": record(optimizers.AdamW(0.05, weight_decay=0.2, beta_1=0.7, beta_2=0.9, epsilon=1e-4)),
    "adamw_cosine_decay": record(optimizers.AdamW(
        optimizers.schedules.CosineDecay(0.01, 6, alpha=0.1, warmup_target=0.1, warmup_steps=3))),
})
