"""Functional models for keras_files.py: layers that models share, outputs in a dict, open lengths, keras.ops."""

import keras
import numpy as np
from keras import layers, ops


def shared_inside():
    """A layer of a model that is also in a model inside it."""
    a, b = keras.Input((4,)), keras.Input((4,))
    dense = layers.Dense(3, name="shared")
    inner = keras.Sequential([keras.Input((4,)), dense], name="inner")
    return keras.Model([a, b], dense(a) + inner(b))


def shared_encoder():
    x = keras.Input((4,))
    first = layers.Dense(3, name="first")(x)
    encoder = keras.Model(x, first, name="encoder")
    y = keras.Input((4,))
    whole = keras.Model(y, layers.Dense(2)(encoder(y)) + layers.Dense(2)(encoder.layers[1](y)))
    return whole


def named_outputs():
    x = keras.Input((4,))
    y = layers.Dense(3, activation="relu")(x)
    return keras.Model(x, {"price": layers.Dense(1)(y), "kind": layers.Dense(2, activation="softmax")(y)})


def open_dropout():
    x = keras.Input((None, 3))
    y = layers.LSTM(4, dropout=0.2, return_sequences=True)(x)
    y = layers.Bidirectional(layers.GRU(3, recurrent_dropout=0.2, return_sequences=True))(y)
    y = layers.RNN([layers.LSTMCell(3, dropout=0.1), layers.GRUCell(2)])(y)
    return keras.Model(x, y)


def of(function, *shapes, dtype="float32"):
    xs = [keras.Input(shape, dtype=dtype) for shape in shapes or [(4, 3)]]
    return keras.Model(xs if len(xs) > 1 else xs[0], function(*xs))


def operation_models():
    """A model for each operation."""
    two = (4, 3), (4, 3)
    return {
        "op_argmax": of(lambda x: ops.argmax(x, axis=1)),
        "op_argmin": of(lambda x: ops.argmin(x, axis=-1, keepdims=True)),
        "op_clip": of(lambda x: ops.clip(x, -0.5, 0.25)),
        "op_cumsum": of(lambda x: ops.cumsum(x, axis=1)),
        "op_dot": of(lambda x, y: ops.matmul(x, ops.swapaxes(y, 1, 2)), *two),
        "op_einsum": of(lambda x, y: ops.einsum("bij,bkj->bik", x, y), *two),
        "op_elu": of(lambda x: ops.elu(x, 0.5)),
        "op_expand_dims": of(lambda x: ops.expand_dims(x, 1)),
        "op_flip": of(lambda x: ops.flip(x, axis=1)),
        "op_get_item": of(lambda x: x[:, 1:3, ::2] + x[:, :2, -1:]),
        "op_get_item_of_open": of(lambda x: x[:, 1:] * x[:, -1:], (None, 3)),
        "op_get_item_ellipsis": of(lambda x: x[..., 0]),
        "op_get_item_axis": of(lambda x: x[:, None, 2]),
        "op_glu": of(lambda x: ops.glu(x, axis=1)),
        "op_hard_silu": of(lambda x: ops.hard_silu(x) + ops.hard_sigmoid(x) + ops.hard_tanh(x)),
        "op_leaky_relu": of(lambda x: ops.leaky_relu(x, 0.1)),
        "op_less": of(lambda x, y: ops.cast(ops.less(x, y), "float32") + ops.cast(x >= y, "float32"), *two),
        "op_log_softmax": of(lambda x: ops.log_softmax(x, axis=1)),
        "op_logsumexp": of(lambda x: ops.logsumexp(x, axis=-1, keepdims=True)),
        "op_negative": of(lambda x: -x - ops.absolute(x)),
        "op_moveaxis": of(lambda x: ops.moveaxis(x, 1, 2)),
        "op_normalize": of(lambda x: ops.normalize(x, axis=-1)),
        "op_one_hot": of(lambda x: ops.one_hot(x, 6), (4,), dtype="int32"),
        "op_pad": of(lambda x: ops.pad(x, [[0, 0], [1, 2], [0, 1]])),
        "op_power": of(lambda x: ops.power(ops.abs(x) + 1.0, 1.5) + x ** 2),
        "op_prod": of(lambda x: ops.prod(x, axis=1)),
        "op_repeat": of(lambda x: ops.repeat(x, 2, axis=1)),
        "op_reciprocal": of(lambda x: ops.reciprocal(x + 3.0)),
        "op_roll": of(lambda x: ops.roll(x, 1, axis=1)),
        "op_round": of(lambda x: ops.round(x * 10, 0)),
        "op_selu": of(lambda x: ops.selu(x) + ops.softsign(x) + ops.relu6(x)),
        "op_soft_shrink": of(lambda x: ops.soft_shrink(x, 0.25) + ops.hard_shrink(x, 0.25)),
        "op_sort": of(lambda x: ops.sort(x, axis=1)),
        "op_split": of(lambda x: ops.concatenate(ops.split(x, 2, axis=1)[::-1], axis=-1)),
        "op_split_at": of(lambda x: ops.split(x, [1], axis=1)[1]),
        "op_square": of(lambda x: ops.square(x) + ops.sqrt(ops.abs(x))),
        "op_squeeze": of(lambda x: ops.squeeze(x, 2), (4, 1)),
        "op_stack": of(lambda x, y: ops.stack([x, y], axis=1), *two),
        "op_std": of(lambda x: ops.std(x, axis=1) + ops.var(x, axis=1)),
        "op_take": of(lambda x: ops.take(x, [2, 0], axis=1)),
        "op_tanh_shrink": of(lambda x: ops.tanh_shrink(x) + ops.celu(x, 0.5) + ops.log_sigmoid(x)),
        "op_tensordot": of(lambda x: ops.tensordot(x, np.float32([[1], [2], [0.5]]), axes=1)),
        "op_tile": of(lambda x: ops.tile(x, [1, 2, 1])),
        "op_where": of(lambda x, y: ops.where(x > y, x, 0.0) + ops.mod(x, 2.0), *two),
        "op_zeros_like": of(lambda x: ops.zeros_like(x) + ops.ones_like(x)),
    }


def graph_models():
    return {
        "shared_inside": shared_inside(),
        "shared_encoder": shared_encoder(),
        "named_outputs": named_outputs(),
        "open_dropout": open_dropout(),
        **operation_models(),
    }
