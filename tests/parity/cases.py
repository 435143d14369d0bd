"""Cases of functions: inputs, outputs, and the gradients of sum(first output * cotangent) by the floating inputs."""

from common import array, np, numbers

import jax


def numbers_of(x):
    """array(x), with 0 and 1 for bools."""
    x = np.asarray(x)
    return array(x) if x.dtype != bool else array(x.astype("uint8")) | {"dtype": "bool"}


def record(function, *inputs):
    """The case of `function` of the inputs."""
    outputs = function(*inputs)
    outputs = [np.asarray(y) for y in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]
    case = {"inputs": [numbers_of(x) for x in inputs], "outputs": [numbers_of(y) for y in outputs]}
    floats = [i for i, x in enumerate(inputs) if np.issubdtype(np.asarray(x).dtype, np.floating)]
    if floats and np.issubdtype(outputs[0].dtype, np.floating):
        cotangent = numbers(99, outputs[0].shape)

        def loss(*xs):
            full = list(inputs)
            for i, x in zip(floats, xs):
                full[i] = x
            y = function(*full)
            return ((y[0] if isinstance(y, (list, tuple)) else y) * cotangent).sum()

        gradients = jax.grad(loss, argnums=tuple(range(len(floats))))(*[jax.numpy.asarray(inputs[i]) for i in floats])
        case.update(cotangent=array(cotangent), differentiable=floats, gradients=[array(g) for g in gradients])
    return case
