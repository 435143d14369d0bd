"""Records outputs and gradients of Keras' MultiHeadAttention."""

from common import array, keras, np, numbers, write

import jax


def record(shapes, mask=None, causal=False, **options):
    """Inputs are query, value and optionally key. The loss is sum(output * cotangent)."""
    layer = keras.layers.MultiHeadAttention(name="attention", **options)
    inputs = [jax.numpy.asarray(numbers(i, shape)) for i, shape in enumerate(shapes)]
    layer(*inputs, return_attention_scores=True)
    for i, weight in enumerate(layer.weights):
        weight.assign(numbers(100 + i, weight.shape))
    names = [w.path for w in layer.weights]
    values = [w.value for w in layer.weights]

    def run(weights, xs):
        # With scores, since Keras' other implementation rejects value_dim != key_dim.
        options = {"attention_mask": mask, "use_causal_mask": causal, "return_attention_scores": True}
        return layer.stateless_call(weights, [], *xs, **options)[0][0]

    output = run(values, inputs)
    cotangent = numbers(50, output.shape)
    gradients = jax.grad(lambda w, xs: (run(w, xs) * cotangent).sum(), argnums=(0, 1))(values, inputs)
    return {
        "inputs": [array(x) for x in inputs],
        **({} if mask is None else {"mask": array(mask.astype(int))}),
        "weights": [{"name": n, "value": array(v)} for n, v in zip(names, values)],
        "output": array(output),
        "cotangent": array(cotangent),
        "input_gradients": [array(g) for g in gradients[1]],
        "weight_gradients": {n: array(g) for n, g in zip(names, gradients[0])},
    }


query, value, key = (2, 3, 5), (2, 4, 6), (2, 4, 7)
mask = np.array([[[1, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 1]], [[1, 1, 1, 1], [0, 1, 0, 1], [1, 0, 0, 0]]], bool)
write("attention", {
    "self": record([query, query], num_heads=2, key_dim=3),
    "causal": record([query, query], causal=True, num_heads=3, key_dim=2),
    "value_of_another_size": record([query, value], num_heads=2, key_dim=3, value_dim=4, output_shape=6),
    "key_and_mask_without_bias": record([query, value, key], mask=mask, num_heads=2, key_dim=3, use_bias=False),
    "mask_per_head": record([query, value], mask=np.stack([mask, ~mask], 1), num_heads=2, key_dim=3),
})
