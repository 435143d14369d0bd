"""Records Keras' RNN with a cell of a program, ConvLSTM layers, and activations that the fused op lacks."""

from common import keras, write
from recurrent_cases import batch, record, stateful, steps

import jax.numpy as jnp

layers = keras.layers


class Squares(layers.Layer):
    """A cell with a vector and a matrix as states, whose output is none of them."""

    state_size = [2, 4]
    output_size = 4

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], 2), name="kernel")
        self.recurrent_kernel = self.add_weight(shape=(2, 2), name="recurrent_kernel")
        self.bias = self.add_weight(shape=(2,), name="bias")

    def get_initial_state(self, batch_size=None):
        return [jnp.zeros((batch_size, 2)), jnp.zeros((batch_size, 2, 2))]

    def call(self, x, states):
        vector, matrix = states
        z = jnp.tanh(x @ self.kernel.value + vector @ self.recurrent_kernel.value + self.bias.value)
        matrix = 0.5 * matrix + z[:, :, None] * z[:, None, :]
        vector = keras.ops.sigmoid(matrix.sum(-1)) * z
        return jnp.concatenate([vector, z], axis=-1), [vector, matrix]


def squares(**options):
    return layers.RNN(Squares(name="cell"), return_state=True, name="layer", **options)


states = [(batch, 2), (batch, 2, 2)]
cases = {
    "squares": record(squares()),
    "squares_sequences": record(squares(return_sequences=True), states=states),
    "squares_backwards": record(squares(return_sequences=True, go_backwards=True)),
    # Unrolled: otherwise Keras takes the first state for the output of the step before.
    "squares_masked": record(squares(return_sequences=True, unroll=True), masked=True, states=states),
    "squares_masked_last": record(squares(unroll=True), masked=True),
    "squares_one_step": record(squares(return_sequences=True), states=states, shape=(batch, 1, 3)),
    "squares_stateful": stateful(squares(return_sequences=True, stateful=True)),
}

for axes, layer in ((1, layers.ConvLSTM1D), (2, layers.ConvLSTM2D), (3, layers.ConvLSTM3D)):
    shape = (batch, steps) + (5, 4, 3)[:axes] + (2,)
    same = [(batch,) + (5, 4, 3)[:axes] + (2,)] * 2

    def make(**options):
        options = {"kernel_size": 3 if axes < 3 else 2, "padding": "same", "return_state": True, **options}
        return layer(2, name="layer", **options)

    name = f"conv_lstm{axes}d"
    cases[name] = record(make(), shape=shape)
    cases[f"{name}_sequences"] = record(make(return_sequences=True), states=same, shape=shape)
    if axes == 3:
        continue
    cases[f"{name}_backwards"] = record(make(return_sequences=True, go_backwards=True), shape=shape)
    cases[f"{name}_strides"] = record(make(strides=2, padding="valid", use_bias=False), shape=shape)
    cases[f"{name}_dilated"] = record(make(dilation_rate=2, kernel_size=2, padding="valid", activation="relu",
                                           recurrent_activation="hard_sigmoid"), shape=shape)
    cases[f"{name}_masked"] = record(make(return_sequences=True, unroll=True), masked=True, states=same, shape=shape)
    cases[f"{name}_masked_last"] = record(make(unroll=True), masked=True, shape=shape)
    cases[f"{name}_stateful"] = stateful(make(return_sequences=True, stateful=True), shape=shape)

kinds = {"simple_rnn": (layers.SimpleRNN, {"activation": "gelu"}, 1),
         "lstm": (layers.LSTM, {"activation": "silu", "recurrent_activation": "softmax"}, 2),
         "gru": (layers.GRU, {"activation": "gelu"}, 1),
         "gru_reset_before": (layers.GRU, {"activation": "tanh", "recurrent_activation": "mish",
                                           "reset_after": False}, 1)}
for name, (layer, options, count) in kinds.items():
    def make(**others):
        return layer(2, return_state=True, return_sequences=True, name="layer", **options, **others)

    cases[f"{name}_unfused"] = record(make())
    cases[f"{name}_unfused_masked"] = record(make(), masked=True, states=[(batch, 2)] * count)
    cases[f"{name}_unfused_without_bias"] = record(make(use_bias=False))
write("recurrent_cells", cases)
