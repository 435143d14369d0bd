"""Times training steps of one workload in Keras 3 under one policy; prints one line of JSON.

The backend is KERAS_BACKEND. Each call of fit makes several steps, to spread its fixed cost.
"""

import argparse
import json
import os
import resource
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras import layers  # noqa: E402


def normalized(x, filters: int, size: int, strides: int = 1):
    y = layers.Conv2D(filters, size, strides, padding="same", use_bias=False)(x)
    return layers.BatchNormalization()(y)


def residual(x, filters: int, strides: int):
    y = normalized(layers.ReLU()(normalized(x, filters, 3, strides)), filters, 3)
    if strides != 1 or x.shape[-1] != filters:
        x = normalized(x, filters, 1, strides)
    return layers.ReLU()(layers.Add()([x, y]))


def mlp():
    return keras.Sequential([layers.Input((28, 28, 1)), layers.Flatten(), layers.Dense(512, "relu"),
                             layers.Dense(512, "relu"), layers.Dense(10)])


def mlp_wide():
    return keras.Sequential([layers.Input((64, 64, 1)), layers.Flatten(), layers.Dense(4096, "relu"),
                             layers.Dense(4096, "relu"), layers.Dense(4096, "relu"), layers.Dense(10)])


def cnn():
    return keras.Sequential([layers.Input((28, 28, 1)), layers.Conv2D(32, 3, activation="relu"),
                             layers.MaxPooling2D(), layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(),
                             layers.Flatten(), layers.Dropout(0.5), layers.Dense(10)])


def resnet18():
    image = layers.Input((224, 224, 3))
    x = layers.ReLU()(normalized(image, 64, 7, 2))
    x = layers.MaxPooling2D(3, 2, padding="same")(x)
    for filters, strides in [(64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)]:
        x = residual(x, filters, strides)
    return keras.Model(image, layers.Dense(37)(layers.GlobalAveragePooling2D()(x)))


def bottleneck(x, width: int, strides: int):
    y = layers.ReLU()(normalized(x, width, 1))
    y = layers.ReLU()(normalized(y, width, 3, strides))
    y = normalized(y, 4 * width, 1)
    if strides != 1 or x.shape[-1] != 4 * width:
        x = normalized(x, 4 * width, 1, strides)
    return layers.ReLU()(layers.Add()([x, y]))


def resnet50():
    image = layers.Input((224, 224, 3))
    x = layers.ReLU()(normalized(image, 64, 7, 2))
    x = layers.MaxPooling2D(3, 2, padding="same")(x)
    for stage, blocks in enumerate([3, 4, 6, 3]):
        for block in range(blocks):
            x = bottleneck(x, 64 << stage, 2 if stage > 0 and block == 0 else 1)
    return keras.Model(image, layers.Dense(37)(layers.GlobalAveragePooling2D()(x)))


class Positions(layers.Layer):
    """Adds an embedding of the position."""

    def __init__(self, count: int):
        super().__init__()
        self.count = count

    def build(self, shape):
        self.table = self.add_weight(shape=(self.count, shape[-1]), initializer="uniform")

    def call(self, x):
        return x + keras.ops.cast(self.table[: x.shape[1]], x.dtype)


class TiedHead(layers.Layer):
    """Logits of the tokens by their embeddings."""

    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding

    def call(self, x):
        return keras.ops.matmul(x, keras.ops.transpose(keras.ops.cast(self.embedding.embeddings, x.dtype)))


def feed_forward(x, causal: bool):
    width = x.shape[-1]
    y = layers.Dense(4 * width)(x)
    y = layers.Lambda(lambda z: keras.activations.gelu(z, approximate=causal))(y)
    return layers.Dense(width)(y)


def transformer(vocabulary: int, context: int, width: int, heads: int, depth: int, length: int, classes: int = 0):
    """As transformer.py: with `classes` 0 a causal language model, else a classifier of the first token."""
    causal = classes == 0
    ids = layers.Input((length,), dtype="int32")
    tokens = layers.Embedding(vocabulary, width)
    x = Positions(context)(tokens(ids))
    if not causal:
        x = layers.LayerNormalization(epsilon=1e-5)(x)
    for _ in range(depth):
        attention = layers.MultiHeadAttention(heads, width // heads)
        norms = [layers.LayerNormalization(epsilon=1e-5) for _ in range(2)]
        if causal:
            y = norms[0](x)
            x = x + attention(y, y, use_causal_mask=True)
            x = x + feed_forward(norms[1](x), causal)
        else:
            x = norms[0](x + attention(x, x))
            x = norms[1](x + feed_forward(x, causal))
    if causal:
        return keras.Model(ids, TiedHead(tokens)(layers.LayerNormalization(epsilon=1e-5)(x)))
    return keras.Model(ids, layers.Dense(classes)(layers.Dense(width, "tanh")(x[:, 0])))


def minilm():
    return transformer(30522, 512, 384, 12, 6, 128, classes=2)


def bert():
    return transformer(30522, 512, 768, 12, 12, 128, classes=2)


def gptchar():
    return transformer(65, 64, 128, 4, 4, 64)


def gpt2():
    return transformer(50257, 1024, 768, 12, 12, 64)


def sequences(layer):
    return keras.Sequential([layers.Input((120, 128)), layer(128), layers.Dense(10)])


def lstm():
    return sequences(layers.LSTM)


def gru():
    return sequences(layers.GRU)


# Model, batch size, and number of steps in a call of fit.
WORKLOADS = {"mlp": (mlp, 128, 20), "mlp_wide": (mlp_wide, 256, 2), "cnn": (cnn, 128, 20),
             "resnet18": (resnet18, 32, 2), "resnet50": (resnet50, 16, 2), "minilm": (minilm, 16, 4), "bert": (bert, 8, 2),
             "gptchar": (gptchar, 12, 20), "gpt2": (gpt2, 4, 2),
             "lstm": (lstm, 64, 10), "gru": (gru, 64, 10)}
VOCABULARIES = {"minilm": 30522, "bert": 30522, "gptchar": 65, "gpt2": 50257}


def make_batch(workload: str, model, batch: int):
    """Input, labels, and the number of items: pictures, sequences, texts, or tokens of a language model."""
    random = np.random.default_rng(0)
    shape = (batch, *model.input_shape[1:])
    if workload in VOCABULARIES:
        x = random.integers(VOCABULARIES[workload], size=shape).astype("int32")
    else:
        x = random.standard_normal(shape).astype("float32")
    y = random.integers(model.output_shape[-1], size=(batch, *model.output_shape[1:-1]))
    return x, y, y.size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("policy", help="float32, mixed_bfloat16 or mixed_float16")
    parser.add_argument("--jit", action="store_true", help="compile with XLA")
    parser.add_argument("--seconds", type=float, default=6, help="duration of the timed steps, at least 3 calls of fit")
    arguments = parser.parse_args()
    keras.mixed_precision.set_global_policy(arguments.policy)
    keras.utils.set_random_seed(0)
    make_model, batch, steps = WORKLOADS[arguments.workload]
    model = make_model()
    x, y, items = make_batch(arguments.workload, model, batch)
    model.compile(keras.optimizers.AdamW(1e-4, weight_decay=0.01),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=arguments.jit)

    start = time.perf_counter()
    loss = model.train_on_batch(x, y)
    first = time.perf_counter() - start
    xs, ys = np.concatenate([x] * steps), np.concatenate([y] * steps)

    def fit() -> float:
        begin = time.perf_counter()
        model.fit(xs, ys, batch_size=batch, epochs=1, verbose=0, shuffle=False)
        return (time.perf_counter() - begin) / steps

    fit()
    times: list[float] = []
    end = time.perf_counter() + arguments.seconds
    while time.perf_counter() < end or len(times) < 3:
        times.append(fit())
    times.sort()
    median = times[len(times) // 2]
    print(json.dumps({
        "framework": f"keras {keras.__version__} {keras.backend.backend()}",
        "workload": arguments.workload,
        "config": arguments.policy + ("+jit" if arguments.jit else ""),
        "per_s": round(items / median, 1),
        "best": round(items / times[0], 1),
        "ms": round(median * 1e3, 3),
        "first_s": round(first, 3),
        "rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "loss": round(float(loss), 4),
    }))


if __name__ == "__main__":
    main()
