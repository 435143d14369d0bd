"""keras.io/examples/vision/image_classification_from_scratch: a small Xception, rotations by one angle, no dropout"""

from examples import initialize, keras, pictures

layers = keras.layers


def make_model(input_shape, num_classes):
    inputs = keras.Input(shape=input_shape)

    # Entry block
    x = layers.Rescaling(1.0 / 255)(inputs)
    x = layers.Conv2D(8, 3, strides=2, padding="same")(x)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)

    previous_block_activation = x  # Set aside residual

    for size in [16, 24]:
        x = layers.Activation("relu")(x)
        x = layers.SeparableConv2D(size, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)

        x = layers.Activation("relu")(x)
        x = layers.SeparableConv2D(size, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)

        x = layers.MaxPooling2D(3, strides=2, padding="same")(x)

        # Project residual
        residual = layers.Conv2D(size, 1, strides=2, padding="same")(previous_block_activation)
        x = layers.add([x, residual])  # Add back residual
        previous_block_activation = x  # Set aside next residual

    x = layers.SeparableConv2D(32, 3, padding="same")(x)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)

    x = layers.GlobalAveragePooling2D()(x)
    if num_classes == 2:
        units = 1
    else:
        units = num_classes

    x = layers.Dropout(0.0)(x)
    # We specify activation=None so as to return logits
    outputs = layers.Dense(units, activation=None)(x)
    return keras.Model(inputs, outputs)


def record():
    image_size = (16, 16)
    images, kinds = pictures(48, 16, 3)
    images, labels = 255 * images, kinds // 2
    data_augmentation_layers = [layers.RandomRotation((0.05, 0.05), fill_mode="nearest")]

    def data_augmentation(images):
        for layer in data_augmentation_layers:
            images = layer(images)
        return images

    # Apply `data_augmentation` to the training images.
    x_train, y_train = data_augmentation(images[:32]), labels[:32]
    model = make_model(input_shape=image_size + (3,), num_classes=2)
    shapes = initialize(model)
    model.compile(
        optimizer=keras.optimizers.Adam(3e-4),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(name="acc")],
    )
    history = model.fit(x_train, y_train, batch_size=8, epochs=3, validation_data=(images[32:], labels[32:]),
                        shuffle=False, verbose=0).history
    predictions = model.predict(images[:1], verbose=0)
    score = float(keras.ops.sigmoid(predictions[0][0]))
    return {"shapes": shapes, "history": history, "score": score}
