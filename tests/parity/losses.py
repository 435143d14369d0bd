"""Records values and gradients of Keras' losses."""

from common import array, integers, keras, np, numbers, write

import jax


def record(function, loss, y_true, y_pred):
    """Keras averages over the last axis; mezzo gives one number per sample."""
    def per_sample(p):
        values = function(y_true, p)
        return values.reshape(values.shape[0], -1).mean(axis=1) if values.ndim > 1 else values

    cotangent = numbers(50, (y_pred.shape[0],))
    return {
        "y_true": array(y_true),
        "y_pred": array(y_pred),
        "values": array(per_sample(jax.numpy.asarray(y_pred))),
        "mean": float(loss(y_true, y_pred)),
        "cotangent": array(cotangent),
        "gradient": array(jax.grad(lambda p: (per_sample(p) * cotangent).sum())(jax.numpy.asarray(y_pred))),
    }


def simple(name, y_true, y_pred):
    loss = {"mean_squared_error": keras.losses.MeanSquaredError,
            "mean_absolute_error": keras.losses.MeanAbsoluteError}[name]
    return record(getattr(keras.losses, name), loss(), y_true, y_pred)


def sparse(y_true, y_pred, from_logits):
    def function(t, p):
        return keras.losses.sparse_categorical_crossentropy(t, p, from_logits=from_logits)

    return record(function, keras.losses.SparseCategoricalCrossentropy(from_logits=from_logits), y_true, y_pred)


cases = {}
for name in ("mean_squared_error", "mean_absolute_error"):
    cases[name] = simple(name, numbers(1, (5, 3)), numbers(2, (5, 3)))
    cases[name + "_rank_3"] = simple(name, numbers(3, (4, 2, 3)), numbers(24, (4, 2, 3)))
    cases[name + "_column"] = simple(name, numbers(5, (4,)), numbers(6, (4, 1)))
    cases[name + "_integers"] = simple(name, integers(7, (4, 2), 3), numbers(8, (4, 2)))
logits = numbers(10, (6, 5), -9, 9)
probabilities = np.asarray(keras.ops.softmax(logits))
cases["logits"] = sparse(integers(11, (6,), 5), logits, True)
cases["logits_column"] = sparse(integers(11, (6, 1), 5), logits, True)
cases["logits_large"] = sparse(integers(12, (6,), 5), logits * 1000, True)
cases["logits_rank_3"] = sparse(integers(13, (3, 4), 5), numbers(14, (3, 4, 5), -3, 3), True)
cases["probabilities"] = sparse(integers(11, (6,), 5), probabilities, False)
cases["probabilities_not_scaled"] = sparse(integers(15, (4,), 3), numbers(16, (4, 3), 0.1, 5), False)
cases["probabilities_clipped"] = sparse(np.array([0, 1, 0]), np.array([[1.0, 0.0], [1.0, 0.0], [1e-9, 1.0]]), False)
write("losses", cases)
