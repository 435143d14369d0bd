"""keras.io/examples/vision/oxford_pets_image_segmentation, with fewer blocks"""

from examples import initialize, keras, np, pictures

layers = keras.layers
img_size = (16, 16)
num_classes = 3
batch_size = 8


def get_model(img_size, num_classes):
    inputs = keras.Input(shape=img_size + (3,))

    ### [First half of the network: downsampling inputs] ###

    # Entry block
    x = layers.Conv2D(8, 3, strides=2, padding="same")(inputs)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)

    previous_block_activation = x  # Set aside residual

    # Blocks 1, 2 are identical apart from the feature depth.
    for filters in [12, 16]:
        x = layers.Activation("relu")(x)
        x = layers.SeparableConv2D(filters, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)

        x = layers.Activation("relu")(x)
        x = layers.SeparableConv2D(filters, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)

        x = layers.MaxPooling2D(3, strides=2, padding="same")(x)

        # Project residual
        residual = layers.Conv2D(filters, 1, strides=2, padding="same")(previous_block_activation)
        x = layers.add([x, residual])  # Add back residual
        previous_block_activation = x  # Set aside next residual

    ### [Second half of the network: upsampling inputs] ###

    for filters in [16, 12, 8]:
        x = layers.Activation("relu")(x)
        x = layers.Conv2DTranspose(filters, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)

        x = layers.Activation("relu")(x)
        x = layers.Conv2DTranspose(filters, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)

        x = layers.UpSampling2D(2)(x)

        # Project residual
        residual = layers.UpSampling2D(2)(previous_block_activation)
        residual = layers.Conv2D(filters, 1, padding="same")(residual)
        x = layers.add([x, residual])  # Add back residual
        previous_block_activation = x  # Set aside next residual

    # Add a per-pixel classification layer
    outputs = layers.Conv2D(num_classes, 3, activation="softmax", padding="same")(x)

    # Define the model
    model = keras.Model(inputs, outputs)
    return model


def record():
    images, _ = pictures(32, 16, 3)
    # Background, shape, and the right half of shapes.
    masks = (images[..., :1] > 0.4).astype("uint8")
    masks[:, :, 8:] *= 2
    train_input_imgs, val_input_imgs = images[:24], images[24:]
    train_target_masks, val_target_masks = masks[:24], masks[24:]

    # Build model
    model = get_model(img_size, num_classes)
    shapes = initialize(model)

    # Configure the model for training.
    # We use the "sparse" version of categorical_crossentropy because our target data is integers.
    # Not Adam: it turns the rounding errors of gradients that are zero, of biases before BatchNormalization, into steps.
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="sparse_categorical_crossentropy")

    # Train the model, doing validation at the end of each epoch.
    epochs = 3
    history = model.fit(train_input_imgs, train_target_masks, batch_size=batch_size, epochs=epochs,
                        validation_data=(val_input_imgs, val_target_masks), verbose=0, shuffle=False).history

    # Generate predictions for all images in the validation set
    val_preds = model.predict(val_input_imgs, verbose=0)
    mask = np.argmax(val_preds, axis=-1)
    mask = np.expand_dims(mask, axis=-1)
    return {"shapes": shapes, "history": history, "right": float(np.mean(mask == val_target_masks))}
