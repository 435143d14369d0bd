"""keras.io/examples/vision/mnist_convnet, without dropout"""

from examples import initialize, keras, np, pictures

layers = keras.layers


def record():
    # Model / data parameters
    num_classes = 4
    input_shape = (12, 12, 1)
    images, kinds = pictures(60, 12)
    images = np.floor(255 * images[..., 0]).astype("uint8")
    (x_train, y_train), (x_test, y_test) = (images[:48], kinds[:48]), (images[48:], kinds[48:])

    # docs: begin
    # Scale images to the [0, 1] range
    x_train = x_train.astype("float32") / 255
    x_test = x_test.astype("float32") / 255
    # Make sure images have shape (12, 12, 1)
    x_train = np.expand_dims(x_train, -1)
    x_test = np.expand_dims(x_test, -1)
    # convert class vectors to binary class matrices
    y_train = keras.utils.to_categorical(y_train, num_classes)
    y_test = keras.utils.to_categorical(y_test, num_classes)
    # docs: end

    # docs: begin
    model = keras.Sequential(
        [
            keras.Input(shape=input_shape),
            layers.Conv2D(8, kernel_size=(3, 3), activation="relu"),
            layers.MaxPooling2D(pool_size=(2, 2)),
            layers.Conv2D(16, kernel_size=(3, 3), activation="relu"),
            layers.MaxPooling2D(pool_size=(2, 2)),
            layers.Flatten(),
            layers.Dropout(0.0),
            layers.Dense(num_classes, activation="softmax"),
        ]
    )
    model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
    # docs: end
    shapes = initialize(model)
    # docs: begin
    history = model.fit(x_train, y_train, batch_size=8, epochs=3, validation_split=0.25, shuffle=False, verbose=0)
    score = model.evaluate(x_test, y_test, verbose=0)
    test_loss = score[0]
    # docs: end
    return {"shapes": shapes, "history": history.history, "test": {"loss": test_loss, "accuracy": score[1]}}
