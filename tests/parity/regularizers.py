"""Records penalties of Keras' regularizers with gradients, projections of its constraints, and a fit with both."""

from common import array, keras, np, numbers, write

import jax

regularizers, constraints, layers = keras.regularizers, keras.constraints, keras.layers

PENALTIES = {
    "l1": regularizers.L1(0.3),
    "l2": regularizers.L2(0.2),
    "l1_l2": regularizers.L1L2(0.3, 0.2),
    "name l1": regularizers.get("l1"),
    "name l2": regularizers.get("l2"),
    "orthogonal rows": regularizers.OrthogonalRegularizer(0.5),
    "orthogonal columns": regularizers.OrthogonalRegularizer(0.5, mode="columns"),
}
CONSTRAINTS = {
    "max_norm": (constraints.MaxNorm(1.2), (4, 3)),
    "max_norm axis 1": (constraints.MaxNorm(0.7, axis=1), (4, 3)),
    "max_norm of filters": (constraints.MaxNorm(0.7, axis=[0, 1, 2]), (2, 2, 3, 4)),
    "min_max_norm": (constraints.MinMaxNorm(0.9, 1.1), (4, 3)),
    "min_max_norm rate": (constraints.MinMaxNorm(0.9, 1.1, rate=0.25), (4, 3)),
    "non_neg": (constraints.NonNeg(), (4, 3)),
    "unit_norm": (constraints.UnitNorm(), (4, 3)),
    "unit_norm axis 1": (constraints.UnitNorm(axis=1), (4, 3)),
}


def penalty(regularizer):
    x = jax.numpy.asarray(numbers(1, (4, 3)))
    return {"x": array(x), "value": float(regularizer(x)), "gradient": array(jax.grad(regularizer)(x))}


def projection(constraint, shape):
    x = numbers(2, shape)
    return {"x": array(x), "value": array(constraint(jax.numpy.asarray(x)))}


def fit(functional):
    hidden = layers.Dense(5, activation="tanh", kernel_regularizer=regularizers.L2(0.1),
                          activity_regularizer=regularizers.L1(0.05), kernel_constraint=constraints.MaxNorm(0.9))
    norm = layers.BatchNormalization(gamma_regularizer="l2", beta_constraint="non_neg")
    out = layers.Dense(2, kernel_regularizer=regularizers.OrthogonalRegularizer(0.3, mode="columns"),
                       bias_regularizer=regularizers.L1(0.2), bias_constraint=constraints.NonNeg())
    if functional:
        x = keras.Input((3,))
        model = keras.Model(x, out(norm(hidden(x))))
    else:
        model = keras.Sequential([keras.Input((3,)), hidden, norm, out])
    for i, weight in enumerate(model.weights):
        weight.assign(numbers(100 + i, weight.shape, 0.5 if "variance" in weight.name else -1.0, 1.5))
    initial = [array(w) for w in model.get_weights()]
    model.compile(keras.optimizers.Adam(0.05), "mse")
    x, y = numbers(3, (10, 3)), numbers(4, (10, 2))
    before = model.evaluate(x, y, batch_size=4, verbose=0)
    history = model.fit(x, y, batch_size=4, epochs=3, shuffle=False, verbose=0).history["loss"]
    return {"x": array(x), "y": array(y), "initial": initial, "evaluate": before, "loss": history,
            "final": [array(w) for w in model.get_weights()]}


write("regularizers", {
    "penalties": {name: penalty(regularizer) for name, regularizer in PENALTIES.items()},
    "constraints": {name: projection(*case) for name, case in CONSTRAINTS.items()},
    "fit": fit(False),
    "fit functional": fit(True),
})
