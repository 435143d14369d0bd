"""Records outputs and gradients of Keras' layers with low-rank adapters."""

from common import keras, write
from layer_cases import record

layers = keras.layers


def frozen(case):
    """Without the gradient of the kernel: record() sets layer.trainable, which ends the freezing of the kernel."""
    for name in ("kernel", "embeddings"):
        case["weight_gradients"].pop(name, None)
    return case


def with_alpha(layer, alpha):
    """The layer, whose build() forgets the option lora_alpha."""
    enable_lora = layer.enable_lora
    layer.enable_lora = lambda rank, **_: enable_lora(rank, lora_alpha=alpha)
    return layer


cases = {
    "dense": record(with_alpha(layers.Dense(3, activation="tanh", lora_rank=2), 4), (4, 5)),
    "dense_rank_4": record(layers.Dense(4, use_bias=False, lora_rank=3), (2, 1, 3, 5)),
    "einsum_dense": record(
        with_alpha(layers.EinsumDense("abc,cd->abd", (None, 4), bias_axes="d", lora_rank=2), 1), (2, 3, 5)),
    "einsum_dense_heads": record(
        layers.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="de", lora_rank=2), (2, 3, 5)),
    "einsum_dense_from_heads": record(layers.EinsumDense("abcd,cde->abe", (None, 4), lora_rank=2), (2, 3, 2, 3)),
    "einsum_dense_sums_last": record(layers.EinsumDense("abc,dc->abd", (None, 4), lora_rank=2), (2, 3, 5)),
    "einsum_dense_keeps_last": record(layers.EinsumDense("abc,dc->adc", (4, 5), lora_rank=2), (2, 3, 5)),
    "einsum_dense_ellipsis": record(layers.EinsumDense("...x,xy->...y", 4, lora_rank=2), (2, 3, 5)),
    "embedding": record(with_alpha(layers.Embedding(7, 3, lora_rank=2), 4), (4, 5), below=7),
}
write("lora", {name: frozen(case) for name, case in cases.items()})
