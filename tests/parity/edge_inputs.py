"""Records what layers, losses and metrics of Keras give for masks that are all false and for sequences of no step or of
one. Errors of Keras and results that are not finite are recorded as such."""

from common import array, keras, np, numbers, write
from keras.src.backend import get_keras_mask, set_keras_mask

import jax

layers = keras.layers
arrays = []


def shared(values):
    """Index of the array in `arrays`, since many cases have the same inputs and weights. 12 decimals."""
    values = np.asarray(values)
    entry = array(values.astype(int) if values.dtype == bool else np.round(values, 12))
    if entry not in arrays:
        arrays.append(entry)
    return arrays.index(entry)


def result(function):
    try:
        out = function()
    except Exception as error:  # of any backend
        return {"error": type(error).__name__}
    out = [np.asarray(y) for y in (out if isinstance(out, (tuple, list)) else [out])]
    if not all(np.isfinite(y).all() for y in out):
        return {"not_finite": True}
    return {"outputs": [shared(y) for y in out]}


def record(make, inputs, masks, **call):
    """`masks`: one for each input, or None."""
    xs = [jax.numpy.asarray(x) for x in inputs]

    def given(xs):
        xs = [x * 1 for x in xs]
        for x, mask in zip(xs, masks):
            if mask is not None:
                set_keras_mask(x, jax.numpy.asarray(mask, bool))
        return xs if len(xs) > 1 else xs[0]

    layer = make()
    several = isinstance(layer, (layers.MultiHeadAttention, layers.GroupQueryAttention))

    def run(xs):
        xs = given(xs)
        return layer(*xs, **call) if several else layer(xs, **call)

    # Weights are made for sequences of 2 steps.
    run_masks, masks = masks, [None] * len(inputs)
    run([jax.numpy.asarray(numbers(9, (x.shape[0], 2, *x.shape[2:]))) for x in xs])
    masks = run_masks
    for i, weight in enumerate(layer.weights):
        if "seed" not in weight.path:
            weight.assign(numbers(100 + i, weight.shape))
    out = result(lambda: run(xs))
    if "outputs" in out:
        y = run(xs)
        mask = get_keras_mask(y[0] if isinstance(y, (tuple, list)) else y)
        out["mask"] = None if mask is None else shared(mask)
    return {"inputs": [shared(x) for x in xs], "masks": [None if m is None else shared(m) for m in masks],
            "weights": [shared(w.value) for w in layer.weights if "seed" not in w.path], **out}


def sequence(steps, *sizes):
    return numbers(3, (2, steps, *(sizes or (4,))))


makers = {
    "simple_rnn": lambda **o: layers.SimpleRNN(2, **o),
    "lstm": lambda **o: layers.LSTM(2, **o),
    "gru": lambda **o: layers.GRU(2, **o),
    "rnn": lambda **o: layers.RNN([layers.LSTMCell(2), layers.GRUCell(3)], **o),
    "bidirectional": lambda **o: layers.Bidirectional(layers.GRU(2, **o)),
    "conv_lstm1d": lambda **o: layers.ConvLSTM1D(2, 2, **o),
}
# 3 steps whose mask is all false; all false in one sample; sequences of no step and of one step.
never, one_never = np.zeros((2, 3), int), np.array([[0, 0, 0], [1, 0, 1]])
settings = {
    "never": (3, never),
    "one_never": (3, one_never),
    "no_step": (0, None),
    "no_step_masked": (0, np.zeros((2, 0), int)),
    "one_step": (1, None),
    "one_step_never": (1, np.zeros((2, 1), int)),
}
cases = {}
for name, make in makers.items():
    for setting, (steps, mask) in settings.items():
        x = sequence(steps, 4, 3) if name == "conv_lstm1d" else sequence(steps)
        cases[f"{name}_{setting}"] = record(make, [x], [mask])
        cases[f"{name}_sequences_{setting}"] = record(lambda: make(return_sequences=True), [x], [mask])
    if name in ("simple_rnn", "lstm", "gru"):
        zeroes = lambda: make(return_sequences=True, zero_output_for_mask=True, return_state=True)  # noqa: E731
        cases[f"{name}_zeroes_one_never"] = record(zeroes, [sequence(3)], [one_never])
for setting, (steps, mask) in settings.items():
    plain = {"time_distributed": lambda: layers.TimeDistributed(layers.Dense(2)),
             "global_average_pooling1d": layers.GlobalAveragePooling1D,
             "global_max_pooling1d": layers.GlobalMaxPooling1D}
    for name, make in plain.items():
        cases[f"{name}_{setting}"] = record(make, [sequence(steps)], [mask])
    flat = None if mask is None else np.repeat(mask[..., None], 4, -1)
    cases[f"softmax_{setting}"] = record(layers.Softmax, [sequence(steps)], [flat])
    cases[f"softmax_steps_{setting}"] = record(lambda: layers.Softmax(axis=1), [sequence(steps)], [flat])
    attention = {"attention": layers.Attention, "additive_attention": layers.AdditiveAttention,
                 "heads": lambda: layers.MultiHeadAttention(2, 3), "groups": lambda: layers.GroupQueryAttention(3, 4, 2)}
    for name, make in attention.items():
        # With scores, since Keras gives the mean of all values for queries without a key else.
        query, scores = numbers(4, (2, 2, 4)), {"return_attention_scores": True}
        cases[f"{name}_keys_{setting}"] = record(make, [query, sequence(steps)], [None, mask], **scores)
        cases[f"{name}_queries_{setting}"] = record(make, [sequence(steps), query], [mask, None], **scores)

y_true, y_pred = numbers(1, (2, 3), 0.1, 0.9), numbers(2, (2, 3), 0.1, 0.9)


def masked(values, mask):
    values = jax.numpy.asarray(values)
    set_keras_mask(values, jax.numpy.asarray(mask, bool))
    return values


for reduction in ("sum_over_batch_size", "sum", "mean_with_sample_weight"):
    for kind, shape in {"loss_never": (2,), "loss_one_never": (2,)}.items():
        mask = np.zeros(shape, int) if kind == "loss_never" else np.array([0, 1])
        loss = keras.losses.MeanSquaredError(reduction=reduction)
        cases[f"{kind}_{reduction}"] = result(lambda: loss(y_true, masked(y_pred, mask)))
    empty = np.zeros((0, 3))
    cases[f"loss_no_sample_{reduction}"] = result(lambda: keras.losses.MeanSquaredError(reduction=reduction)(empty, empty))
metrics = {"mse": keras.metrics.MeanSquaredError, "accuracy": keras.metrics.BinaryAccuracy, "auc": keras.metrics.AUC,
           "precision": keras.metrics.Precision}
for name, metric in metrics.items():
    def updated(*arguments):
        one = metric()
        one.update_state(*arguments)
        return one.result()

    labels = np.round(y_true)
    cases[f"metric_{name}_never"] = result(lambda: updated(labels, masked(y_pred, np.zeros(2, int))))
    cases[f"metric_{name}_new"] = result(lambda: metric().result())
cases["data"] = {"y_true": shared(y_true), "y_pred": shared(y_pred)}
cases["arrays"] = arrays
write("edge_inputs", cases)
