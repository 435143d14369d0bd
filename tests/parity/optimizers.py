"""Records ten steps of Keras' optimizers on two variables with given gradients, and of LARS by its paper's formula."""

from common import array, keras, np, numbers, write

optimizers = keras.optimizers
STEPS = 10
SHAPES = [(3,), (2, 2)]
MANY_SHAPES = [(3,), (3, 2), (2, 3), (2, 2, 3)]


def record(optimizer, shapes=SHAPES):
    start = [numbers(1 + i, shape) for i, shape in enumerate(shapes)]
    variables = [keras.Variable(x) for x in start]
    gradients = [[numbers(10 + len(shapes) * step + i, x.shape, -2, 2) for i, x in enumerate(start)] for step in range(STEPS)]
    trajectory = []
    for step in gradients:
        optimizer.apply([keras.ops.convert_to_tensor(g) for g in step], variables)
        trajectory.append([array(np.array(v.value)) for v in variables])
    if optimizer.use_ema:
        trajectory.append([array(np.array(v.value)) for v in optimizer._model_variables_moving_average])
    return {"start": [array(x) for x in start], "gradients": [[array(g) for g in step] for step in gradients],
            "trajectory": trajectory}


class Lars:
    """Layer-wise adaptive rate scaling (You et al., 2017), as in timm: weights with decay are adapted, others are not."""

    use_ema = False

    def __init__(self, learning_rate, momentum=0.0, weight_decay=0.0, trust=0.001, epsilon=1e-8, nesterov=False,
                 always=False):
        self.rate, self.momentum, self.decay, self.trust = learning_rate, momentum, weight_decay, trust
        self.epsilon, self.nesterov, self.always, self.velocities = epsilon, nesterov, always, {}

    def apply(self, gradients, variables):
        for i, (gradient, variable) in enumerate(zip(gradients, variables)):
            g, w = np.array(gradient), np.array(variable.value)
            if self.decay != 0 or self.always:
                norm, of_gradient = np.sqrt((w * w).sum()), np.sqrt((g * g).sum())
                ratio = self.trust * norm / (of_gradient + norm * self.decay + self.epsilon)
                g = (g + self.decay * w) * (ratio if norm > 0 and of_gradient > 0 else 1.0)
            if self.momentum != 0:
                velocity = self.momentum * self.velocities.get(i, 0) + g
                self.velocities[i] = velocity
                g = g + self.momentum * velocity if self.nesterov else velocity
            variable.assign(w - self.rate * g)


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
    "sgd_ema": record(optimizers.SGD(0.1, momentum=0.9, use_ema=True, ema_momentum=0.7)),
    "sgd_ema_overwriting": record(optimizers.SGD(0.1, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=3)),
    "sgd_accumulating": record(optimizers.SGD(0.1, momentum=0.9, global_clipnorm=0.5, gradient_accumulation_steps=3)),
    "adam_amsgrad": record(optimizers.Adam(0.05, beta_2=0.8, amsgrad=True)),
    "adam_accumulating": record(optimizers.Adam(0.05, weight_decay=0.1, clipvalue=0.3, gradient_accumulation_steps=2)),
    "adamax": record(optimizers.Adamax()),
    "adamax_options": record(optimizers.Adamax(0.05, beta_1=0.8, beta_2=0.9, epsilon=1e-3, weight_decay=0.1)),
    "nadam": record(optimizers.Nadam()),
    "nadam_options": record(optimizers.Nadam(0.05, beta_1=0.8, beta_2=0.9, epsilon=1e-3, clipnorm=1.0)),
    "adagrad": record(optimizers.Adagrad()),
    "adagrad_options": record(optimizers.Adagrad(0.1, initial_accumulator_value=0.5, epsilon=1e-3, weight_decay=0.1)),
    "adadelta": record(optimizers.Adadelta()),
    "adadelta_options": record(optimizers.Adadelta(1.0, rho=0.8, epsilon=1e-3, clipvalue=0.5)),
    "rmsprop": record(optimizers.RMSprop()),
    "rmsprop_momentum": record(optimizers.RMSprop(0.05, rho=0.8, momentum=0.7, weight_decay=0.1)),
    "rmsprop_centered": record(optimizers.RMSprop(0.05, centered=True, epsilon=1e-3)),
    "rmsprop_centered_momentum": record(optimizers.RMSprop(0.05, momentum=0.9, centered=True, global_clipnorm=1.5)),
    "ftrl": record(optimizers.Ftrl()),
    "ftrl_options": record(optimizers.Ftrl(0.5, l1_regularization_strength=0.05, l2_regularization_strength=0.1,
                                           l2_shrinkage_regularization_strength=0.02, beta=0.1,
                                           initial_accumulator_value=0.2, weight_decay=0.1)),
    "ftrl_power": record(optimizers.Ftrl(0.5, learning_rate_power=-0.3)),
    "lion": record(optimizers.Lion()),
    "lion_options": record(optimizers.Lion(0.05, beta_1=0.8, beta_2=0.9, weight_decay=0.1, clipvalue=0.5)),
    "lamb": record(optimizers.Lamb()),
    "lamb_options": record(optimizers.Lamb(0.05, beta_1=0.8, beta_2=0.9, epsilon=1e-3, weight_decay=0.1,
                                           global_clipnorm=1.5)),
    "adafactor": record(optimizers.Adafactor(), MANY_SHAPES),
    "adafactor_options": record(optimizers.Adafactor(0.1, beta_2_decay=-0.6, epsilon_1=1e-10, epsilon_2=1e-2,
                                                     clip_threshold=0.7, relative_step=False, weight_decay=0.1),
                                MANY_SHAPES),
    "muon": record(optimizers.Muon(), MANY_SHAPES),
    "muon_options": record(optimizers.Muon(0.05, adam_beta_1=0.8, adam_beta_2=0.9, adam_weight_decay=0.2,
                                           epsilon=1e-3, weight_decay=0.1, adam_lr_ratio=0.5, momentum=0.9, ns_steps=3,
                                           nesterov=False, rms_rate=0.3, clipvalue=0.5), MANY_SHAPES),
    "schedule_free_adamw": record(optimizers.ScheduleFreeAdamW()),
    "schedule_free_adamw_options": record(optimizers.ScheduleFreeAdamW(
        0.05, beta_1=0.8, beta_2=0.9, epsilon=1e-3, warmup_steps=4, weight_decay=0.1)),
    "lars": record(Lars(1.0, momentum=0.9, weight_decay=0.01)),
    "lars_options": record(Lars(0.5, momentum=0.8, weight_decay=0.05, trust=0.02, epsilon=1e-3, nesterov=True)),
    "lars_without_decay": record(Lars(0.1)),
    "lars_always": record(Lars(0.1, trust=0.1, always=True)),
})
