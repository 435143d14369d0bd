"""Records values of Keras' learning rate schedules."""

from common import keras, write

schedules = keras.optimizers.schedules
STEPS = [0, 1, 2, 3, 5, 9, 10, 11, 12, 20, 99, 100, 101, 1000]


def record(schedule):
    return {"steps": STEPS, "rates": [float(schedule(step)) for step in STEPS]}


write("schedules", {
    "cosine_decay": record(schedules.CosineDecay(0.1, 100)),
    "cosine_decay_alpha": record(schedules.CosineDecay(0.1, 10, alpha=0.2)),
    "cosine_decay_warmup": record(schedules.CosineDecay(0.01, 90, alpha=0.1, warmup_target=0.5, warmup_steps=10)),
    "exponential_decay": record(schedules.ExponentialDecay(0.1, 10, 0.9)),
    "exponential_decay_staircase": record(schedules.ExponentialDecay(0.1, 10, 0.5, staircase=True)),
    "inverse_time_decay": record(schedules.InverseTimeDecay(0.1, 10, 0.5)),
    "inverse_time_decay_staircase": record(schedules.InverseTimeDecay(0.1, 10, 0.5, staircase=True)),
    "polynomial_decay": record(schedules.PolynomialDecay(0.1, 100)),
    "polynomial_decay_power": record(schedules.PolynomialDecay(0.1, 50, 0.01, power=2.0)),
    "polynomial_decay_cycle": record(schedules.PolynomialDecay(0.1, 10, 0.01, power=0.5, cycle=True)),
    "cosine_decay_restarts": record(schedules.CosineDecayRestarts(0.1, 7)),
    "cosine_decay_restarts_options": record(schedules.CosineDecayRestarts(0.1, 7, t_mul=1.5, m_mul=0.8, alpha=0.1)),
    "cosine_decay_restarts_equal": record(schedules.CosineDecayRestarts(0.1, 7, t_mul=1.0, m_mul=0.5)),
    "piecewise_constant_decay": record(schedules.PiecewiseConstantDecay([2, 10, 100], [1.0, 0.5, 0.1, 0.01])),
})
