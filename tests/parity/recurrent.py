"""Records outputs, states and gradients of Keras' recurrent layers."""

from common import keras, write
from recurrent_cases import batch, record, stateful

layers = keras.layers


def sized(states):
    return [(batch, 2)] * states


kinds = {"simple_rnn": (layers.SimpleRNN, {}, 1), "lstm": (layers.LSTM, {}, 2), "gru": (layers.GRU, {}, 1),
         "gru_reset_before": (layers.GRU, {"reset_after": False}, 1)}
cases = {}
for kind, (layer, options, states) in kinds.items():
    def make(**others):
        return layer(2, return_state=True, name="layer", **options, **others)

    cases[f"{kind}"] = record(make())
    cases[f"{kind}_sequences"] = record(make(return_sequences=True))
    cases[f"{kind}_backwards"] = record(make(return_sequences=True, go_backwards=True), masked=True)
    cases[f"{kind}_masked"] = record(make(return_sequences=True), masked=True, states=sized(states))
    cases[f"{kind}_masked_last"] = record(make(), masked=True)
    cases[f"{kind}_zero_output"] = record(make(return_sequences=True, zero_output_for_mask=True), masked=True,
                                          states=sized(states))
    cases[f"{kind}_zero_last"] = record(make(zero_output_for_mask=True), masked=True)
    cases[f"{kind}_without_bias"] = record(make(use_bias=False), states=sized(states))
    cases[f"{kind}_one_step"] = record(make(return_sequences=True), states=sized(states), shape=(batch, 1, 3))
    cases[f"{kind}_stateful"] = stateful(make(return_sequences=True, stateful=True))
    gates = {} if kind == "simple_rnn" else {"recurrent_activation": "hard_sigmoid"}
    cases[f"{kind}_relu"] = record(make(activation="relu", **gates))
    if kind != "simple_rnn":
        for activation, gate in [("softsign", "softplus"), ("elu", "relu6"), ("selu", "hard_tanh")]:
            if kind == "lstm" or activation == "elu":
                others = make(activation=activation, recurrent_activation=gate)
                cases[f"{kind}_{activation}"] = record(others, states=sized(states))
cases["lstm_exponential"] = record(layers.LSTM(2, return_state=True, activation="leaky_relu", name="layer",
                                               recurrent_activation="exponential"), shape=(batch, 1, 3))
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
