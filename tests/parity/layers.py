"""Records outputs, gradients and moving statistics of Keras' layers."""

from common import array, integers, keras, np, numbers, write

import jax

layers = keras.layers


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


image = (2, 6, 5, 4)
torch_padding = keras.Sequential([layers.ZeroPadding2D(1), layers.Conv2D(3, 3, strides=2)])
write("layers", {
    "dense": record(layers.Dense(3), (4, 5)),
    "dense_relu_without_bias": record(layers.Dense(3, activation="relu", use_bias=False), (4, 5)),
    "dense_rank_4": record(layers.Dense(4), (2, 1, 3, 5)),
    "conv2d": record(layers.Conv2D(3, 3), image),
    "conv2d_same_strides_relu": record(layers.Conv2D(3, 3, strides=2, padding="same", activation="relu"), image),
    "conv2d_rectangular": record(layers.Conv2D(2, (2, 3), strides=(1, 2), padding="same"), image),
    "conv2d_dilated": record(layers.Conv2D(2, (3, 2), dilation_rate=(2, 3)), image),
    "conv2d_torch_padding": record(torch_padding, image),
    "conv2d_groups_without_bias": record(layers.Conv2D(6, 2, groups=2, use_bias=False), image),
    "max_pooling": record(layers.MaxPooling2D(), image),
    "max_pooling_same": record(layers.MaxPooling2D(3, strides=2, padding="same"), image),
    "max_pooling_rectangular": record(layers.MaxPooling2D((2, 3), strides=(1, 2)), image),
    "global_average_pooling": record(layers.GlobalAveragePooling2D(), image),
    "global_average_pooling_keepdims": record(layers.GlobalAveragePooling2D(keepdims=True), image),
    "batch_normalization": record(layers.BatchNormalization(), image, training=True),
    "batch_normalization_inference": record(layers.BatchNormalization(), image),
    "batch_normalization_frozen": record(layers.BatchNormalization(), image, training=True, frozen=True),
    "batch_normalization_options": record(layers.BatchNormalization(momentum=0.9, epsilon=1e-5), (7, 3),
                                          training=True),
    "batch_normalization_without_center": record(layers.BatchNormalization(center=False), (7, 3), training=True),
    "batch_normalization_without_scale": record(layers.BatchNormalization(scale=False), (7, 3), training=True),
    "batch_normalization_axis_1": record(layers.BatchNormalization(axis=1), (3, 4, 2, 2), training=True),
    "flatten": record(layers.Flatten(), (2, 3, 1, 4)),
    "flatten_rank_1": record(layers.Flatten(), (3,)),
    "relu": record(layers.ReLU(), (3, 4)),
    "relu_max_value": record(layers.ReLU(max_value=0.5), (3, 4)),
    "relu_options": record(layers.ReLU(max_value=0.6, negative_slope=0.1, threshold=0.2), (5, 6)),
    "relu_threshold": record(layers.ReLU(threshold=0.2), (5, 6)),
    "relu_slope": record(layers.ReLU(negative_slope=0.3), (5, 6)),
    "activation": record(layers.Activation("relu"), (3, 4)),
    "activation_tanh": record(layers.Activation("tanh"), (3, 4), low=-4.0),
    "activation_sigmoid": record(layers.Activation("sigmoid"), (3, 4), low=-6.0),
    "activation_gelu": record(layers.Activation("gelu"), (3, 4), low=-5.0),
    "activation_softmax": record(layers.Activation("softmax"), (3, 4), low=-5.0),
    "gelu_approximate": record(layers.Activation(lambda x: keras.activations.gelu(x, approximate=True)), (3, 4),
                               low=-5.0),
    "softmax": record(layers.Softmax(), (2, 3, 5), low=-5.0),
    "softmax_axis_1": record(layers.Softmax(axis=1), (2, 3, 5), low=-5.0),
    "layer_normalization": record(layers.LayerNormalization(), (2, 3, 5)),
    "layer_normalization_options": record(layers.LayerNormalization(axis=[-2, -1], epsilon=1e-5), (2, 3, 5)),
    "layer_normalization_axis_1": record(layers.LayerNormalization(axis=1), (2, 3, 5)),
    "layer_normalization_axes_1_3": record(layers.LayerNormalization(axis=(1, 3)), (2, 3, 4, 2)),
    "layer_normalization_without_center": record(layers.LayerNormalization(center=False), (4, 5)),
    "layer_normalization_without_scale": record(layers.LayerNormalization(scale=False), (4, 5)),
    "layer_normalization_frozen": record(layers.LayerNormalization(), (4, 5), training=True, frozen=True),
    "rescaling": record(layers.Rescaling(1 / 127.5, offset=-1.0), (3, 4), low=0.0),
    "add": record(layers.Add(), (3, 4), (3, 1), (3, 4)),
    "multiply": record(layers.Multiply(), (3, 4), (3, 1), (3, 4)),
    "concatenate": record(layers.Concatenate(), (2, 3, 4), (2, 3, 1), (2, 3, 2)),
    "concatenate_axis_1": record(layers.Concatenate(axis=1), (2, 3, 4), (2, 1, 4)),
    "average_pooling": record(layers.AveragePooling2D(2), image),
    "average_pooling_same": record(layers.AveragePooling2D(3, strides=2, padding="same"), image),
    "average_pooling_rectangular": record(layers.AveragePooling2D((2, 3), strides=(1, 2)), image),
    "zero_padding": record(layers.ZeroPadding2D(), (2, 3, 2, 2)),
    "zero_padding_of_two": record(layers.ZeroPadding2D((2, 1)), (2, 3, 2, 2)),
    "zero_padding_of_four": record(layers.ZeroPadding2D(((1, 0), (2, 3))), (2, 3, 2, 2)),
    "embedding": record(layers.Embedding(7, 3), (4, 5), below=7),
    "conv2d_transpose": record(layers.Conv2DTranspose(3, 3), image),
    "conv2d_transpose_same": record(layers.Conv2DTranspose(3, 3, strides=2, padding="same", activation="relu"), image),
    "conv2d_transpose_even": record(layers.Conv2DTranspose(2, 4, strides=2, padding="same"), image),
    "conv2d_transpose_wide_strides": record(layers.Conv2DTranspose(2, 2, strides=3, use_bias=False), (2, 3, 2, 2)),
    "conv2d_transpose_wide_strides_same": record(layers.Conv2DTranspose(2, (1, 2), strides=(3, 4), padding="same"),
                                                 (2, 3, 2, 2)),
    "conv2d_transpose_output_padding": record(
        layers.Conv2DTranspose(2, 3, strides=2, padding="same", output_padding=1), (2, 3, 2, 2)),
    "conv2d_transpose_output_padding_valid": record(
        layers.Conv2DTranspose(2, (2, 3), strides=(3, 2), output_padding=(2, 0)), (2, 3, 2, 2)),
    "conv2d_transpose_dilated": record(layers.Conv2DTranspose(2, (3, 2), dilation_rate=(2, 3)), (2, 3, 2, 2)),
    "leaky_relu": record(layers.LeakyReLU(), (3, 4)),
    "leaky_relu_slope": record(layers.LeakyReLU(negative_slope=0.1), (3, 4)),
    "reshape": record(layers.Reshape((2, -1, 1)), (3, 4)),
    "global_average_pooling1d": record(layers.GlobalAveragePooling1D(), (2, 3, 4)),
    "global_average_pooling1d_keepdims": record(layers.GlobalAveragePooling1D(keepdims=True), (2, 3, 4)),
    "dropout_inference": record(layers.Dropout(0.5), (3, 4)),
})
