"""keras.io/examples/generative/neural_style_transfer, with a small network in place of VGG19"""

from examples import initialize, jax, keras, pictures

layers, ops = keras.layers, keras.ops
# Weights of the different loss components
total_variation_weight = 1e-2
style_weight = 1e-1
content_weight = 1.0
# Dimensions of the generated picture.
img_nrows, img_ncols = 12, 12


def network():
    inputs = keras.Input((img_nrows, img_ncols, 3))
    x = layers.Conv2D(8, 3, padding="same", activation="relu", name="block1_conv1")(inputs)
    x = layers.AveragePooling2D(2, name="block1_pool")(x)
    x = layers.Conv2D(12, 3, padding="same", activation="relu", name="block2_conv1")(x)
    x = layers.Conv2D(12, 3, padding="same", activation="relu", name="block2_conv2")(x)
    return keras.Model(inputs, x)


# The gram matrix of an image tensor (feature-wise outer product)
def gram_matrix(x):
    x = ops.transpose(x, (2, 0, 1))
    features = ops.reshape(x, (ops.shape(x)[0], -1))
    gram = ops.matmul(features, ops.transpose(features))
    return gram


# The "style loss" is designed to maintain the style of the reference image in the generated image.
def style_loss(style, combination):
    S = gram_matrix(style)
    C = gram_matrix(combination)
    channels = 3
    size = img_nrows * img_ncols
    return ops.sum(ops.square(S - C)) / (4.0 * (channels**2) * (size**2))


# An auxiliary loss function designed to maintain the "content" of the base image in the generated image
def content_loss(base, combination):
    return ops.sum(ops.square(combination - base))


# The 3rd loss function, total variation loss, designed to keep the generated image locally coherent
def total_variation_loss(x):
    a = ops.square(x[:, : img_nrows - 1, : img_ncols - 1, :] - x[:, 1:, : img_ncols - 1, :])
    b = ops.square(x[:, : img_nrows - 1, : img_ncols - 1, :] - x[:, : img_nrows - 1, 1:, :])
    return ops.sum(ops.power(a + b, 1.25))


# List of layers to use for the style loss.
style_layer_names = ["block1_conv1", "block2_conv1"]
# The layer to use for the content loss.
content_layer_name = "block2_conv2"


def record():
    model = network()
    shapes = initialize(model)
    # Get the symbolic outputs of each "key" layer (we gave them unique names).
    outputs_dict = dict([(layer.name, layer.output) for layer in model.layers])
    # Set up a model that returns the activation values for every layer (as a dict).
    feature_extractor = keras.Model(inputs=model.inputs, outputs=outputs_dict)

    def compute_loss(combination_image, base_image, style_reference_image):
        input_tensor = ops.concatenate([base_image, style_reference_image, combination_image], axis=0)
        features = feature_extractor(input_tensor)
        # Initialize the loss
        loss = ops.zeros(shape=())
        # Add content loss
        layer_features = features[content_layer_name]
        base_image_features = layer_features[0, :, :, :]
        combination_features = layer_features[2, :, :, :]
        loss = loss + content_weight * content_loss(base_image_features, combination_features)
        # Add style loss
        for layer_name in style_layer_names:
            layer_features = features[layer_name]
            style_reference_features = layer_features[1, :, :, :]
            combination_features = layer_features[2, :, :, :]
            sl = style_loss(style_reference_features, combination_features)
            loss += (style_weight / len(style_layer_names)) * sl
        # Add total variation loss
        loss += total_variation_weight * total_variation_loss(combination_image)
        return loss

    compute_loss_and_grads = jax.value_and_grad(compute_loss)
    optimizer = keras.optimizers.SGD(
        keras.optimizers.schedules.ExponentialDecay(initial_learning_rate=0.01, decay_steps=10, decay_rate=0.96))
    images, _ = pictures(4, img_nrows, 3)
    base_image = ops.convert_to_tensor(images[:1])
    style_reference_image = ops.convert_to_tensor(images[3:])
    combination_image = keras.Variable(images[:1])
    optimizer.build([combination_image])

    losses = []
    for i in range(1, 20 + 1):
        loss, grads = compute_loss_and_grads(combination_image.value, base_image, style_reference_image)
        optimizer.apply_gradients([(grads, combination_image)])
        losses.append(float(loss))
    return {"shapes": shapes, "losses": losses, "brightness": float(ops.mean(combination_image))}
