"""Records a recurrent layer: outputs, states and gradients."""

from common import array, np, numbers

import jax
import keras

batch, steps, features = 2, 4, 3
mask = np.array([[1, 1, 0, 1], [0, 1, 1, 0]], bool)


def joined(outputs):
    """All outputs of a layer beside each other: (batch, ...)."""
    flat = keras.tree.flatten(outputs)
    return jax.numpy.concatenate([jax.numpy.reshape(x, (batch, -1)) for x in flat], axis=-1)


def record(layer, masked=False, states=(), shape=(batch, steps, features)):
    """Inputs are the sequence and the initial states, of these shapes. The loss is sum(joined outputs * cotangent)."""
    inputs = [jax.numpy.asarray(numbers(1, shape))]
    inputs += [jax.numpy.asarray(numbers(2 + i, state)) for i, state in enumerate(states)]
    options = {"mask": mask[:, :shape[1]]} if masked else {}

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
        **({"mask": array(mask[:, :shape[1]].astype(int))} if masked else {}),
        "weights": [{"name": n, "value": array(v)} for n, v in zip(names, values)],
        "output": array(output),
        "cotangent": array(cotangent),
        "input_gradients": [array(g) for g in gradients[1]],
        "weight_gradients": {n: array(g) for n, g in zip(names, gradients[0])},
    }


def stateful(layer, masked=False, shape=(batch, steps, features)):
    """Outputs of two calls, of the second one with the states of the first, and of a third after reset_state()."""
    x = numbers(1, shape)
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
