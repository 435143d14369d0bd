"""Records values and gradients of Keras' elementwise ops and activations."""

import math

from common import array as finite_array
from common import integers, np, numbers, write

import jax
from keras import activations, ops


def array(x):
    """NaN and infinities as texts, which JSON lacks."""
    out = finite_array(x)
    return out | {"data": [str(v) if isinstance(v, float) and not math.isfinite(v) else v for v in out["data"]]}


def record(function, *inputs):
    """Output, and the gradients of sum(output * cotangent) for float inputs if the output is float."""
    def call(*xs):
        return jax.numpy.asarray(function(*xs))

    xs = [jax.numpy.asarray(x) for x in inputs]
    output = call(*xs)
    case = {"inputs": [array(x) for x in xs], "output": array(output)}
    places = tuple(i for i, x in enumerate(xs) if x.dtype == np.float64)
    if output.dtype == np.float64 and places:
        cotangent = numbers(50, output.shape, -2, 2)
        gradients = jax.grad(lambda *at: (call(*at) * cotangent).sum(), argnums=places)(*xs)
        case |= {"cotangent": array(cotangent), "gradients": [array(g) for g in gradients]}
    return case


inf, nan = math.inf, math.nan
any_number = np.concatenate([numbers(1, (11,), -3, 3), [0.5, -0.5, 2.5, -7.5, 40.0]])
positive, inside, above = numbers(2, (12,), 0.05, 9), numbers(3, (12,), -0.95, 0.95), numbers(4, (12,), 1.05, 5)
special = np.array([inf, -inf, nan, 0.0, -0.0, 1.0])

cases = {}

domains = {
    any_number.tobytes(): (any_number, "abs ceil cos cosh deg2rad erf erfc exp exp2 expm1 floor negative rad2deg sign sin "
                           "sinc sinh square tan tanh trunc arcsinh arctan cbrt reciprocal sigmoid relu softplus round"),
    positive.tobytes(): (positive, "log log10 log1p log2 rsqrt sqrt"),
    inside.tobytes(): (inside, "arccos arcsin arctanh erfinv"),
    above.tobytes(): (above, "arccosh"),
}
for x, names in domains.values():
    for name in names.split():
        cases[name] = record(getattr(ops, name), x)
for name in ("isnan isinf isfinite isposinf isneginf signbit logical_not nan_to_num angle sqrt exp floor round sign tanh "
             "arctan log1p expm1 erf sigmoid softplus relu").split():
    function = getattr(ops, name)
    cases[name + "_special"] = {"inputs": [array(special)], "output": array(function(special))}
cases["round_decimals"] = record(lambda x: ops.round(x, 1), any_number)
cases["nan_to_num_options"] = record(lambda x: ops.nan_to_num(x, nan=7.0, posinf=8.0, neginf=-9.0), special)

a, b = numbers(5, (4, 5), -3, 3), np.where(numbers(6, (5,), -3, 3) == 0, 1.25, numbers(6, (5,), -3, 3))
apart = b + 0.003  # no quotient is an integer in one precision alone
for name in ("mod", "fmod", "floor_divide"):
    cases[name] = record(getattr(ops, name), a, apart)
for name in "add subtract multiply divide maximum minimum fmax fmin arctan2 hypot logaddexp " \
            "logaddexp2 divide_no_nan equal not_equal less less_equal greater greater_equal heaviside".split():
    cases[name] = record(getattr(ops, name), a, b)
cases["maximum_ties"] = record(ops.maximum, np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
cases["minimum_ties"] = record(ops.minimum, np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
cases["power"] = record(ops.power, numbers(7, (4, 5), 0.1, 3), b)
cases["power_of_zero"] = record(ops.power, np.zeros(4), np.array([0.0, 1.0, 2.0, 3.0]))
cases["power_number"] = record(lambda x: ops.power(x, 3.0), a)
cases["power_2"] = record(lambda x: ops.power(x, 2), a)
cases["divide_no_nan_zero"] = record(ops.divide_no_nan, np.array([1.0, 0.0, 2.0]), np.array([0.0, 0.0, 4.0]))
cases["clip"] = record(lambda x: ops.clip(x, -1.0, 1.5), a)
cases["isclose"] = record(ops.isclose, np.array([1.0, 1.0, inf, nan, 0.0]), np.array([1.000001, 1.1, inf, nan, 1e-9]))
cases["isclose_equal_nan"] = record(lambda x, y: ops.isclose(x, y, rtol=0.2, equal_nan=True),
                                    np.array([1.0, inf, nan]), np.array([1.1, -inf, nan]))
cases["where"] = record(ops.where, a > 0, a, b)
cases["select"] = record(lambda x: ops.select([x < -1, x > 1], [x * 2, x * 3], 5.0), a)
cases["ldexp"] = record(lambda x: ops.ldexp(x, np.array([1, -2, 0, 3, 4])), a)
for name in "mod fmod floor_divide maximum less hypot arctan2 logaddexp power".split():
    x = np.array([inf, -inf, nan, 5.0, -5.0, 0.0, 3.0])
    y = np.array([2.0, inf, 1.0, inf, inf, 0.0, nan])
    cases[name + "_special"] = {"inputs": [array(x), array(y)], "output": array(getattr(ops, name)(x, y))}

p, q = integers(8, (4, 5), 19) - 9, integers(9, (5,), 8) + 1
for name in "bitwise_and bitwise_or bitwise_xor maximum minimum mod floor_divide less equal gcd lcm".split():
    cases[name + "_integers"] = record(getattr(ops, name), p, q)
for name in "abs negative sign bitwise_not square".split():
    cases[name + "_integers"] = record(getattr(ops, name), p)
cases["power_integers"] = record(ops.power, p, q % 4)
cases["left_shift"] = record(ops.left_shift, p, q)
cases["right_shift"] = record(ops.right_shift, p, q)
t, f = np.array([True, True, False, False]), np.array([True, False, True, False])
for name in "logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor".split():
    cases[name + "_bools"] = record(getattr(ops, name), t, f)

# Away from kinks, at which conventions differ. Without sparsemax: in Keras 3.15 its rows don't sum to 1, because the
# threshold comes from a sum of cumulative sums. Its conformance rows compare with the definition.
x = numbers(10, (3, 8), -4, 4) + 0.003
for name in ("relu6 leaky_relu elu selu celu silu hard_sigmoid hard_silu hard_tanh hard_shrink soft_shrink tanh_shrink "
             "softsign sparse_plus sparse_sigmoid squareplus log_sigmoid mish glu log_softmax exponential "
             "gelu softmax linear").split():
    cases["activation_" + name] = record(getattr(activations, name), x)
cases["leaky_relu_slope"] = record(lambda v: ops.leaky_relu(v, 0.3), x)
cases["elu_alpha"] = record(lambda v: ops.elu(v, 0.5), x)
cases["celu_alpha"] = record(lambda v: ops.celu(v, 2.0), x)
cases["hard_shrink_threshold"] = record(lambda v: ops.hard_shrink(v, 1.0), x)
cases["soft_shrink_threshold"] = record(lambda v: ops.soft_shrink(v, 1.0), x)
cases["squareplus_b"] = record(lambda v: ops.squareplus(v, 1), x)
cases["threshold"] = record(lambda v: ops.threshold(v, 0.5, -2.0), x)
cases["glu_axis"] = record(lambda v: ops.glu(v, axis=0), numbers(11, (4, 3)))
cases["log_softmax_axis"] = record(lambda v: ops.log_softmax(v, axis=0), x * 30)
for name in "elu selu celu softplus log_sigmoid sigmoid hard_sigmoid softsign".split():
    function = getattr(activations, name)
    cases[f"activation_{name}_large"] = record(function, np.array([-1000.0, -90.0, 90.0, 1000.0]))
write("ops", cases)
