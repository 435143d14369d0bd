"""keras.io/examples/vision/autoencoder: denoising pictures"""

from examples import initialize, keras, normal, np, pictures

layers = keras.layers


def record():
    train_data, _ = pictures(24, 8)
    noisy_train_data = np.clip(train_data + 0.4 * normal(10, train_data.shape), 0.0, 1.0)

    input = layers.Input(shape=(8, 8, 1))
    # Encoder
    x = layers.Conv2D(8, (3, 3), activation="relu", padding="same")(input)
    x = layers.MaxPooling2D((2, 2), padding="same")(x)
    x = layers.Conv2D(8, (3, 3), activation="relu", padding="same")(x)
    x = layers.MaxPooling2D((2, 2), padding="same")(x)
    # Decoder
    x = layers.Conv2DTranspose(8, (3, 3), strides=2, activation="relu", padding="same")(x)
    x = layers.Conv2DTranspose(8, (3, 3), strides=2, activation="relu", padding="same")(x)
    x = layers.Conv2D(1, (3, 3), activation="sigmoid", padding="same")(x)
    # Autoencoder
    autoencoder = keras.Model(input, x)
    autoencoder.compile(optimizer="adam", loss="binary_crossentropy")
    shapes = initialize(autoencoder)

    clean = autoencoder.fit(x=train_data, y=train_data, epochs=3, batch_size=8, shuffle=False, verbose=0).history
    noisy = autoencoder.fit(x=noisy_train_data, y=train_data, epochs=3, batch_size=8, shuffle=False, verbose=0,
                            validation_data=(noisy_train_data[:8], train_data[:8])).history
    predictions = autoencoder.predict(noisy_train_data, verbose=0)
    return {"shapes": shapes, "clean": clean, "history": noisy,
            "error": float(np.mean(np.square(predictions - train_data)))}
