"""Records layers of Keras with masks, attention layers, and models whose losses are under masks."""

from common import array, integers, keras, np, numbers, write
from keras.src.backend import get_keras_mask, set_keras_mask

import jax

layers = keras.layers


def optional(mask):
    return None if mask is None else array(np.asarray(mask).astype(int))


def record(layer, inputs, masks=(), as_list=False, training=False, **call):
    """Results of a call whose inputs carry the masks, with gradients of sum(first output * cotangent). Shapes of inputs
    stand for random numbers."""
    xs = [jax.numpy.asarray(numbers(i, x) if isinstance(x, tuple) else x) for i, x in enumerate(inputs)]
    masks = [*masks, *[None] * (len(xs) - len(masks))]
    floats = [i for i, x in enumerate(xs) if np.issubdtype(x.dtype, np.floating)]

    def give(xs):
        for x, mask in zip(xs, masks):
            if mask is not None:
                set_keras_mask(x, jax.numpy.asarray(mask, bool))
        return [xs] if as_list else xs

    layer(*give(xs), **call)
    for i, weight in enumerate(layer.weights):
        low = 0.5 if "variance" in weight.path else -1
        weight.assign(numbers(100 + i, weight.shape, low))
    trained = [v.value for v in layer.trainable_variables]
    others = [v.value for v in layer.non_trainable_variables]

    def run(weights, chosen):
        full = list(xs)
        for i, x in zip(floats, chosen):
            full[i] = x * 1  # another object, without the mask of the first call
        extra = {"training": True} if training else {}
        # Not stateless_call(), which doesn't handle masks.
        state = [*zip(layer.trainable_variables, weights), *zip(layer.non_trainable_variables, others)]
        with keras.StatelessScope(state_mapping=state) as scope:
            out = layer(*give(full), **call, **extra)
        moved = [scope.get_current_value(v) for v in layer.non_trainable_variables]
        out = list(out) if isinstance(out, (tuple, list)) else [out]
        return out, moved, get_keras_mask(out[0])

    chosen = [xs[i] for i in floats]
    outputs, moved, mask = run(trained, chosen)
    cotangent = numbers(50, outputs[0].shape)
    gradients = jax.grad(lambda w, c: (run(w, c)[0][0] * cotangent).sum(), argnums=(0, 1))(trained, chosen)
    return {
        "inputs": [array(x) for x in xs],
        "masks": [optional(m) for m in masks],
        "weights": [array(w.value) for w in layer.weights],
        "outputs": [array(y) for y in outputs],
        "mask": optional(mask),
        "cotangent": array(cotangent),
        "input_gradients": [array(g) for g in gradients[1]],
        "weight_gradients": [array(g) for g in gradients[0]],
        "moved": [array(m) for m in moved] if training else [],
    }


steps = np.array([[1, 0, 1], [1, 1, 0]])
other_steps = np.array([[0, 0, 1], [1, 0, 0]])
values = np.array([[1, 0, 1, 1], [1, 1, 0, 0]])
x, value, key = (2, 3, 5), (2, 4, 6), (2, 4, 5)
padded = numbers(7, (2, 3, 4))
padded[0, 1] = padded[1, 2] = 0.25
attention_mask = np.array([[[1, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 1]], [[1, 1, 1, 1], [0, 1, 0, 1], [1, 0, 0, 0]]], bool)
heads = dict(num_heads=2, key_dim=3)
groups = dict(head_dim=3, num_query_heads=4, num_key_value_heads=2)

cases = {
    "masking": record(layers.Masking(0.25), [padded]),
    "embedding": record(layers.Embedding(7, 3, mask_zero=True), [integers(1, (3, 5), 3)]),
    "dense": record(layers.Dense(3), [x], [steps]),
    "global_average_pooling1d": record(layers.GlobalAveragePooling1D(), [x], [steps]),
    "global_average_pooling1d_keepdims": record(layers.GlobalAveragePooling1D(keepdims=True), [x], [steps]),
    "softmax": record(layers.Softmax(), [(2, 3)], [np.array([[1, 0, 1], [0, 0, 0]])]),
    "batch_normalization": record(layers.BatchNormalization(), [x], [steps], training=True),
    "batch_normalization_inference": record(layers.BatchNormalization(), [x], [steps]),
    "add": record(layers.Add(), [x, x], [steps, other_steps], as_list=True),
    "add_of_one_mask": record(layers.Add(), [x, x], [steps], as_list=True),
    "multiply": record(layers.Multiply(), [x, x], [steps, other_steps], as_list=True),
    "multiply_of_one_mask": record(layers.Multiply(), [x, x], [steps], as_list=True),
    "concatenate": record(layers.Concatenate(), [x, x], [steps, other_steps], as_list=True),
    "concatenate_of_one_mask": record(layers.Concatenate(), [x, x], [None, other_steps], as_list=True),
    "concatenate_steps": record(layers.Concatenate(axis=1), [x, (2, 2, 5)], [steps], as_list=True),
    "attention": record(layers.Attention(), [x, key, key], as_list=True, return_attention_scores=True),
    "attention_scale": record(layers.Attention(use_scale=True), [x, key], [steps, values], as_list=True,
                              return_attention_scores=True, use_causal_mask=True),
    "attention_concat": record(layers.Attention(score_mode="concat"), [x, key], [None, values], as_list=True),
    "attention_concat_scale": record(layers.Attention(score_mode="concat", use_scale=True), [x, value, key],
                                     as_list=True),
    "attention_all_masked": record(layers.Attention(), [x, key], [steps, values * 0], as_list=True),
    "additive_attention": record(layers.AdditiveAttention(), [x, value, key], [steps, values], as_list=True,
                                 return_attention_scores=True),
    "additive_attention_without_scale": record(layers.AdditiveAttention(use_scale=False), [x, key], as_list=True),
    "heads": record(layers.MultiHeadAttention(**heads), [x, value], [steps, values], return_attention_scores=True),
    "heads_gate": record(layers.MultiHeadAttention(**heads, use_gate=True, value_dim=4, output_shape=(2, 3)), [x, value],
                         return_attention_scores=True, attention_mask=attention_mask),
    "heads_window": record(layers.MultiHeadAttention(**heads, sliding_window=2), [(2, 6, 5), (2, 6, 5)],
                           return_attention_scores=True, use_causal_mask=True),
    "heads_all_masked": record(layers.MultiHeadAttention(**heads), [x, value], [steps, values * 0],
                               return_attention_scores=True),
    "heads_two_axes": record(layers.MultiHeadAttention(**heads), [(2, 2, 3, 4), (2, 3, 2, 4)],
                             return_attention_scores=True),
    "heads_second_axis": record(layers.MultiHeadAttention(**heads, attention_axes=2), [(2, 2, 3, 4), (2, 2, 4, 4)],
                                return_attention_scores=True, attention_mask=attention_mask[:, None]),
    "heads_first_axis": record(layers.MultiHeadAttention(**heads, attention_axes=(1,)), [(2, 3, 2, 4), (2, 4, 2, 4)],
                               return_attention_scores=True, use_causal_mask=True),
    "groups": record(layers.GroupQueryAttention(**groups), [x, (2, 4, 5)], [steps, values],
                     return_attention_scores=True),
    "groups_gate": record(layers.GroupQueryAttention(**groups, use_gate=True, use_bias=False, sliding_window=2), [x, key],
                          return_attention_scores=True, attention_mask=attention_mask, use_causal_mask=True),
}



def functional():
    x = keras.Input((3, 5))
    return keras.Model(x, layers.GlobalAveragePooling1D()(layers.Dense(4, activation="tanh")(x)))


def functional_branches():
    """The sum of layers has a mask, true where one of them is. The product of an op has none."""
    a, b = keras.Input((3, 5)), keras.Input((3, 5))
    left = layers.Dense(4)(a)
    summed = layers.GRU(2)(layers.Add()([left, layers.Dense(4)(b)]))
    return keras.Model([a, b], layers.Concatenate()([summed, layers.GlobalAveragePooling1D()(left * 2.0)]))


def functional_sequence():
    x = keras.Input((3, 5))
    return keras.Model(x, layers.SimpleRNN(2, return_sequences=True)(layers.Dense(4)(x)))


def functional_in_functional():
    x = keras.Input((3, 5))
    inner = functional()
    return keras.Model(x, layers.Dense(2)(inner(layers.Dropout(0.5)(x, training=False))))


cases.update({
    "functional": record(functional(), [x], [steps]),
    "functional_branches": record(functional_branches(), [x, x], [steps, other_steps], as_list=True),
    "functional_branches_of_one_mask": record(functional_branches(), [x, x], [None, other_steps], as_list=True),
    "functional_sequence": record(functional_sequence(), [x], [steps]),
    "functional_in_functional": record(functional_in_functional(), [x], [steps]),
})

ids = np.array([[3, 1, 2, 0, 0], [4, 4, 0, 0, 0], [1, 2, 3, 4, 5], [5, 0, 0, 0, 0]])
other_ids = np.array([[2, 2, 0, 0, 0], [1, 0, 0, 0, 0], [3, 3, 3, 0, 0], [4, 1, 2, 5, 0]])
labels = np.array([[1.0], [0.0], [1.0], [0.0]])
tags = np.array([[1, 0, 2, 0, 0], [2, 1, 0, 0, 0], [0, 1, 2, 2, 1], [1, 0, 0, 0, 0]])
weights_of_tags = numbers(9, tags.shape, 0.5, 2)


def fill(model):
    for i, weight in enumerate(model.weights):
        weight.assign(numbers(200 + i, weight.shape))
    return [array(w.value) for w in model.weights]


def train(model, x, y, compile, rate=0.5, **fit):
    start = fill(model)
    model.compile(optimizer=keras.optimizers.SGD(rate), **compile)
    history = []
    for _ in range(4):
        # Called as objects: the steps of Keras on JAX lose the mask of y_pred before they update metrics.
        metrics = {m.name: m for m in (compile.get("metrics") or []) + (compile.get("weighted_metrics") or [])}
        y_pred = model(x)
        for name, metric in metrics.items():
            metric.reset_state()
            weighted = metric in compile.get("weighted_metrics", [])
            metric.update_state(y, y_pred, fit.get("sample_weight") if weighted else None)
        logs = {name: float(metric.result()) for name, metric in metrics.items()}
        model.reset_metrics()
        history.append({"loss": float(model.train_on_batch(x, y, return_dict=True, **fit)["loss"]), **logs})
    return {"weights": start, "history": history, "prediction": array(model.predict(x, verbose=0))}


def classifier():
    return keras.Sequential([
        layers.Embedding(6, 4, mask_zero=True), layers.GlobalAveragePooling1D(), layers.Dense(3, activation="tanh"),
        layers.Dense(1, activation="sigmoid")])


def tagger():
    return keras.Sequential([layers.Embedding(6, 4, mask_zero=True), layers.Dense(3, activation="softmax")])


def two_branches():
    a, b = keras.Input((5,), dtype="int32"), keras.Input((5,), dtype="int32")
    embedding = layers.Embedding(6, 4, mask_zero=True)
    left, right = embedding(a), embedding(b)
    both = layers.Concatenate(axis=1)([left, layers.Dense(4)(right)])
    attended = layers.MultiHeadAttention(2, 2)(both, left)
    pooled = layers.GlobalAveragePooling1D()(layers.Add()([attended, both]))
    return keras.Model([a, b], layers.Dense(1)(pooled))


def nested_classifier():
    x = keras.Input((5, 4))
    inner = keras.Model(x, layers.GlobalAveragePooling1D()(layers.LSTM(3, return_sequences=True)(x)))
    return keras.Sequential([layers.Embedding(6, 4, mask_zero=True), inner, layers.Dense(1, activation="sigmoid")])


model = classifier()
model(ids)
cases["classifier"] = train(model, ids, labels, {"loss": "binary_crossentropy", "metrics": [keras.metrics.BinaryAccuracy("accuracy")]})
model = nested_classifier()
model(ids)
cases["nested_classifier"] = train(model, ids, labels, {"loss": "binary_crossentropy"})
model = tagger()
model(ids)
compiled = {"loss": "sparse_categorical_crossentropy",
            "metrics": [keras.metrics.SparseCategoricalAccuracy("accuracy")],
            "weighted_metrics": [keras.metrics.SparseCategoricalCrossentropy(name="ce")]}
cases["tagger"] = train(model, ids, tags, compiled)
model = tagger()
model(ids)
cases["tagger_weights"] = train(model, ids, tags, compiled, sample_weight=weights_of_tags)
model = two_branches()
cases["two_branches"] = train(model, [ids, other_ids], labels, {"loss": "mse"}, rate=0.02)
cases["data"] = {"ids": array(ids), "other_ids": array(other_ids), "labels": array(labels), "tags": array(tags),
                 "tag_weights": array(weights_of_tags)}
write("masks", cases)
