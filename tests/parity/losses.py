"""Records values and gradients of Keras' losses."""

from common import array, integers, keras, np, numbers, write

import jax


def record(function, loss, y_true, y_pred):
    """Values of the function, their reduced loss, and the gradient of the sum of the values times cotangents."""
    values = function(y_true, jax.numpy.asarray(y_pred))
    cotangent = numbers(50, values.shape)
    return {
        "y_true": array(y_true),
        "y_pred": array(y_pred),
        "values": array(values),
        "mean": float(loss(y_true, y_pred)),
        "cotangent": array(cotangent),
        "gradient": array(jax.grad(lambda p: (function(y_true, p) * cotangent).sum())(jax.numpy.asarray(y_pred))),
    }


def named(name, y_true, y_pred, **options):
    """A loss by the names of its function and class."""
    function = getattr(keras.losses, name)
    return record(lambda t, p: function(t, p, **options), CLASSES[name](**options), y_true, y_pred)


CLASSES = {
    "mean_absolute_percentage_error": keras.losses.MeanAbsolutePercentageError,
    "mean_squared_logarithmic_error": keras.losses.MeanSquaredLogarithmicError,
    "cosine_similarity": keras.losses.CosineSimilarity,
    "huber": keras.losses.Huber,
    "log_cosh": keras.losses.LogCosh,
    "poisson": keras.losses.Poisson,
    "hinge": keras.losses.Hinge,
    "squared_hinge": keras.losses.SquaredHinge,
    "categorical_hinge": keras.losses.CategoricalHinge,
    "kl_divergence": keras.losses.KLDivergence,
    "binary_crossentropy": keras.losses.BinaryCrossentropy,
    "categorical_crossentropy": keras.losses.CategoricalCrossentropy,
    "binary_focal_crossentropy": keras.losses.BinaryFocalCrossentropy,
    "categorical_focal_crossentropy": keras.losses.CategoricalFocalCrossentropy,
    "categorical_generalized_cross_entropy": keras.losses.CategoricalGeneralizedCrossEntropy,
    "dice": keras.losses.Dice,
    "tversky": keras.losses.Tversky,
    "circle": keras.losses.Circle,
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

# A class that does not count.
for from_logits, scores in ((True, logits), (False, probabilities)):
    cases["ignored_logits" if from_logits else "ignored_probabilities"] = record(
        lambda t, p, f=from_logits: keras.losses.sparse_categorical_crossentropy(t, p, from_logits=f, ignore_class=2),
        keras.losses.SparseCategoricalCrossentropy(from_logits=from_logits, ignore_class=2),
        np.array([2, 0, 2, 4, 1, 3]), scores)

real, other = numbers(70, (4, 3), -2, 2), numbers(71, (4, 3), -2, 2)
positive, likely = numbers(72, (4, 3), 0.1, 3), numbers(73, (4, 3), 0.05, 0.95)
binary = integers(74, (4, 3), 2).astype("float64")
one_hot = np.eye(3)[integers(75, (4,), 3)]
scaled = likely / likely.sum(axis=1, keepdims=True)
huge = real * 400
for name in ("mean_absolute_percentage_error", "huber", "log_cosh", "cosine_similarity"):
    cases[name] = named(name, real, other)
    cases[name + "_rank_3"] = named(name, numbers(76, (2, 3, 2)), numbers(77, (2, 3, 2)))
cases["huber_delta"] = named("huber", real, other, delta=0.3)
cases["cosine_similarity_axis"] = named("cosine_similarity", real, other, axis=0)
cases["log_cosh_large"] = named("log_cosh", real, huge)
cases["mean_squared_logarithmic_error"] = named("mean_squared_logarithmic_error", positive, positive + other / 40)
cases["poisson"] = named("poisson", positive, positive + 0.5)
for name in ("hinge", "squared_hinge"):
    cases[name] = named(name, binary, other)
    cases[name + "_signed"] = named(name, 2 * binary - 1, other)
cases["categorical_hinge"] = named("categorical_hinge", one_hot, other)
cases["kl_divergence"] = named("kl_divergence", likely, likely[::-1].copy())
cases["binary_crossentropy"] = named("binary_crossentropy", binary, likely)
cases["binary_crossentropy_logits"] = named("binary_crossentropy", binary, huge, from_logits=True)
cases["binary_crossentropy_smoothed"] = named("binary_crossentropy", binary, likely, label_smoothing=0.2)
cases["binary_crossentropy_axis"] = named("binary_crossentropy", binary, likely, axis=0)
cases["categorical_crossentropy"] = named("categorical_crossentropy", one_hot, likely)
cases["categorical_crossentropy_logits"] = named("categorical_crossentropy", one_hot, huge, from_logits=True)
cases["categorical_crossentropy_smoothed"] = named("categorical_crossentropy", one_hot, other, from_logits=True,
                                                   label_smoothing=0.1)
cases["categorical_crossentropy_axis"] = named("categorical_crossentropy", one_hot.T.copy(), likely.T.copy(), axis=0)
cases["binary_focal_crossentropy"] = named("binary_focal_crossentropy", binary, likely)
cases["binary_focal_crossentropy_balanced"] = named("binary_focal_crossentropy", binary, other, from_logits=True,
                                                    apply_class_balancing=True, alpha=0.3, gamma=1.5)
cases["categorical_focal_crossentropy"] = named("categorical_focal_crossentropy", one_hot, scaled)
cases["categorical_focal_crossentropy_logits"] = named("categorical_focal_crossentropy", one_hot, other,
                                                       from_logits=True, gamma=1.5, alpha=0.4, label_smoothing=0.1)
cases["categorical_generalized_cross_entropy"] = named("categorical_generalized_cross_entropy",
                                                       integers(78, (4,), 3), scaled, q=0.7)
cases["dice"] = named("dice", binary, likely)
cases["dice_axis"] = named("dice", binary, likely, axis=1)
cases["tversky"] = named("tversky", binary, likely)
cases["tversky_axis"] = named("tversky", binary, likely, axis=1, alpha=0.3, beta=0.8)
unit = numbers(79, (5, 3))
unit /= np.linalg.norm(unit, axis=1, keepdims=True)
cases["circle"] = named("circle", np.array([0, 1, 0, 1, 2]), unit)
cases["circle_diagonal"] = named("circle", np.array([0, 1, 0, 1, 2]), unit, gamma=10.0, margin=0.2,
                                 remove_diagonal=False)

# Reductions with sample weights of each sample, and of each element.
three, four = numbers(80, (3, 2, 2)), numbers(81, (3, 2, 2))
cases["reductions"] = {"y_true": array(three), "y_pred": array(four)}
for weight, shape in (("none", None), ("samples", (3, 1)), ("elements", (3, 2))):
    factors = None if shape is None else numbers(82, shape, 0, 2)
    if factors is not None:
        cases["reductions"]["weight_" + weight] = array(factors)
    for reduction in ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight"):
        loss = keras.losses.MeanAbsoluteError(reduction=reduction)
        cases["reductions"][f"{reduction}_{weight}"] = float(
            loss(three, four, sample_weight=None if factors is None else np.broadcast_to(factors, (3, 2))))
write("losses", cases)
