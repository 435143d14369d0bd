"""Records outputs, states and gradients of Keras' recurrent layers."""

from common import array, keras, np, numbers, write

import jax

layers = keras.layers
batch, steps, features = 2, 4, 3
mask = np.array([[1, 1, 0, 1], [0, 1, 1, 0]], bool)


def joined(outputs):
    """All outputs of a layer beside each other: (batch, ...)."""
    flat = keras.tree.flatten(outputs)
    return jax.numpy.concatenate([jax.numpy.reshape(x, (batch, -1)) for x in flat], axis=-1)


def record(layer, masked=False, states=0, size=2, length=steps):
    """Inputs are the sequence and the initial states. The loss is sum(joined outputs * cotangent)."""
    inputs = [jax.numpy.asarray(numbers(1, (batch, length, features)))]
    inputs += [jax.numpy.asarray(numbers(2 + i, (batch, size))) for i in range(states)]
    options = {"mask": mask[:, :length]} if masked else {}

    def call(xs):
        return {"initial_state": list(xs[1:])} if states else {}

    layer(inputs[0], **call(inputs), **options)
    for i, weight in enumerate(layer.weights):
        weight.assign(numbers(100 + i, weight.shape))
    names = [w.path.split("/", 1)[1] for w in layer.weights]
    values = [w.value for w in layer.trainable_variables]
    others = [w.value for w in layer.non_trainable_variables]

    def run(weights, xs):
        return joined(layer.stateless_call(weights, others, xs[0], **call(xs), **options)[0])

    output = run(values, inputs)
    cotangent = numbers(50, output.shape)
    gradients = jax.grad(lambda w, xs: (run(w, xs) * cotangent).sum(), argnums=(0, 1))(values, inputs)
    return {
        "inputs": [array(x) for x in inputs],
        **({"mask": array(mask[:, :length].astype(int))} if masked else {}),
        "weights": [{"name": n, "value": array(v)} for n, v in zip(names, values)],
        "output": array(output),
        "cotangent": array(cotangent),
        "input_gradients": [array(g) for g in gradients[1]],
        "weight_gradients": {n: array(g) for n, g in zip(names, gradients[0])},
    }


def stateful(layer, masked=False):
    """Outputs of two calls, of the second one with the states of the first, and of a third after reset_state()."""
    x = numbers(1, (batch, steps, features))
    options = {"mask": mask} if masked else {}
    layer(x)
    for i, weight in enumerate(layer.trainable_variables):
        weight.assign(numbers(100 + i, weight.shape))
    layer.reset_state()
    outputs = [joined(layer(x, **options)), joined(layer(-x, **options))]
    layer.reset_state()
    outputs.append(joined(layer(-x, **options)))
    return {"input": array(x), "weights": [array(w.value) for w in layer.trainable_variables],
            "outputs": [array(y) for y in outputs]}


kinds = {"simple_rnn": (layers.SimpleRNN, {}, 1), "lstm": (layers.LSTM, {}, 2), "gru": (layers.GRU, {}, 1),
         "gru_reset_before": (layers.GRU, {"reset_after": False}, 1)}
cases = {}
for kind, (layer, options, states) in kinds.items():
    def make(**others):
        return layer(2, return_state=True, name="layer", **options, **others)

    cases[f"{kind}"] = record(make())
    cases[f"{kind}_sequences"] = record(make(return_sequences=True))
    cases[f"{kind}_backwards"] = record(make(return_sequences=True, go_backwards=True), masked=True)
    cases[f"{kind}_masked"] = record(make(return_sequences=True), masked=True, states=states)
    cases[f"{kind}_masked_last"] = record(make(), masked=True)
    cases[f"{kind}_zero_output"] = record(make(return_sequences=True, zero_output_for_mask=True), masked=True,
                                          states=states)
    cases[f"{kind}_zero_last"] = record(make(zero_output_for_mask=True), masked=True)
    cases[f"{kind}_without_bias"] = record(make(use_bias=False), states=states)
    cases[f"{kind}_one_step"] = record(make(return_sequences=True), states=states, length=1)
    cases[f"{kind}_stateful"] = stateful(make(return_sequences=True, stateful=True))
    gates = {} if kind == "simple_rnn" else {"recurrent_activation": "hard_sigmoid"}
    cases[f"{kind}_relu"] = record(make(activation="relu", **gates))
    if kind != "simple_rnn":
        for activation, gate in [("softsign", "softplus"), ("elu", "relu6"), ("selu", "hard_tanh")]:
            if kind == "lstm" or activation == "elu":
                others = make(activation=activation, recurrent_activation=gate)
                cases[f"{kind}_{activation}"] = record(others, states=states)
cases["lstm_exponential"] = record(layers.LSTM(2, return_state=True, activation="leaky_relu", name="layer",
                                               recurrent_activation="exponential"), length=1)
cases["lstm_linear"] = record(layers.LSTM(2, return_state=True, activation=None, name="layer",
                                          recurrent_activation="log_sigmoid"))
stack = [layers.LSTMCell(2, name="one"), layers.GRUCell(2, name="two")]
cases["stacked"] = record(layers.RNN(stack, return_sequences=True, name="layer"), masked=True)
for mode in ("sum", "mul", "concat", "ave", None):
    forward = layers.LSTM(2, return_sequences=True, name="inner")
    cases[f"bidirectional_{mode or 'none'}"] = record(
        layers.Bidirectional(forward, merge_mode=mode, name="layer"), masked=mode != "mul")
cases["bidirectional_last"] = record(layers.Bidirectional(layers.GRU(2, return_state=True, name="inner"), name="layer"))
cases["time_distributed"] = record(layers.TimeDistributed(layers.Dense(2, activation="tanh", name="inner"),
                                                          name="layer"))
write("recurrent", cases)
