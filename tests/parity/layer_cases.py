"""Cases of layers: weights, outputs, gradients and moving statistics."""

from common import array, integers, np, numbers

import jax


def record(layer, *shapes, training=False, frozen=False, low=-1.0, below=None):
    """Weights are random, since some of Keras' initial weights are zeros and ones. The loss is sum(output * cotangent).
    Inputs are floats; with `below`, integers, which have no gradients."""
    draw = (lambda i, shape: numbers(i, shape, low)) if below is None else (lambda i, shape: integers(i, shape, below))
    inputs = [jax.numpy.asarray(draw(i, shape)) for i, shape in enumerate(shapes)]
    layer.build([x.shape for x in inputs] if len(inputs) > 1 else inputs[0].shape)
    for i, weight in enumerate(layer.weights):
        weight.assign(numbers(100 + i, weight.shape, 0.5 if "variance" in weight.name else -1.0, 1.5))
    names = [w.name for w in layer.weights]
    values = [np.array(w.value) for w in layer.weights]
    layer.trainable = not frozen
    fixed = [w.value for w in layer.non_trainable_variables]
    trained = [w.value for w in layer.trainable_variables]

    def run(trainable, xs):
        x = xs if len(xs) > 1 else xs[0]
        kwargs = {"training": training} if layer._call_has_training_arg else {}
        return layer.stateless_call(trainable, fixed, x, **kwargs)

    output, moved = run(trained, inputs)
    cotangent = numbers(50, output.shape)
    sources = (0, 1) if below is None else (0,)
    gradients = jax.grad(lambda t, xs: (run(t, xs)[0] * cotangent).sum(), argnums=sources)(trained, inputs)
    trained_names = [w.name for w in layer.trainable_variables]
    fixed_names = [w.name for w in layer.non_trainable_variables]
    return {
        "training": training,
        "inputs": [array(x) for x in inputs],
        "weights": [{"name": n, "value": array(v)} for n, v in zip(names, values)],
        "output": array(output),
        "cotangent": array(cotangent),
        "input_gradients": [array(g) for grads in gradients[1:] for g in grads],
        "weight_gradients": {n: array(g) for n, g in zip(trained_names, gradients[0])},
        "moved": {n: array(m) for n, m in zip(fixed_names, moved) if "seed" not in n},
    }
