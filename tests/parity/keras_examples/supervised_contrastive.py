"""keras.io/examples/vision/supervised-contrastive-learning, with a small encoder and without dropout"""

from examples import initialize, keras, pictures

layers, ops = keras.layers, keras.ops
num_classes, input_shape = 4, (12, 12, 3)
learning_rate, batch_size, hidden_units, projection_units, num_epochs, temperature = 0.001, 16, 16, 8, 3, 0.05


def create_encoder():
    inputs = keras.Input(shape=input_shape)
    x = layers.Conv2D(8, 3, strides=2, padding="same", use_bias=False)(inputs)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
    outputs = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs=inputs, outputs=outputs, name="cifar10-encoder")


def create_classifier(encoder, trainable=True):
    for layer in encoder.layers:
        layer.trainable = trainable
    inputs = keras.Input(shape=input_shape)
    features = encoder(inputs)
    features = layers.Dense(hidden_units, activation="relu")(features)
    outputs = layers.Dense(num_classes, activation="softmax")(features)
    model = keras.Model(inputs=inputs, outputs=outputs, name="cifar10-classifier")
    model.compile(
        optimizer=keras.optimizers.Adam(learning_rate),
        loss=keras.losses.SparseCategoricalCrossentropy(),
        metrics=[keras.metrics.SparseCategoricalAccuracy()],
    )
    return model


def npairs_loss(y_true, y_pred):
    y_pred = ops.convert_to_tensor(y_pred)
    y_true = ops.cast(y_true, y_pred.dtype)
    # Expand to [batch_size, 1]
    y_true = ops.expand_dims(y_true, -1)
    y_true = ops.cast(ops.equal(y_true, ops.transpose(y_true)), y_pred.dtype)
    y_true /= ops.sum(y_true, 1, keepdims=True)
    loss = ops.categorical_crossentropy(y_true, y_pred, from_logits=True)
    return ops.mean(loss)


class SupervisedContrastiveLoss(keras.losses.Loss):
    def __init__(self, temperature=1, name=None):
        super().__init__(name=name)
        self.temperature = temperature

    def __call__(self, labels, feature_vectors, sample_weight=None):
        # Normalize feature vectors
        feature_vectors_normalized = ops.normalize(feature_vectors, axis=1, order=2)
        # Compute logits
        logits = ops.divide(
            ops.matmul(feature_vectors_normalized, ops.transpose(feature_vectors_normalized)),
            self.temperature,
        )
        return npairs_loss(ops.squeeze(labels, -1), logits)


def add_projection_head(encoder):
    inputs = keras.Input(shape=input_shape)
    features = encoder(inputs)
    outputs = layers.Dense(projection_units, activation="relu")(features)
    return keras.Model(inputs=inputs, outputs=outputs, name="cifar-encoder_with_projection-head")


def record():
    x, y = pictures(64, 12, 3)
    y = y[:, None]
    x_train, x_test, y_train, y_test = x[:48], x[48:], y[:48], y[48:]

    encoder = create_encoder()
    encoder_with_projection_head = add_projection_head(encoder)
    shapes = initialize(encoder_with_projection_head)
    encoder_with_projection_head.compile(
        optimizer=keras.optimizers.Adam(learning_rate),
        loss=SupervisedContrastiveLoss(temperature),
    )
    contrastive = encoder_with_projection_head.fit(x_train, y_train, batch_size=batch_size, epochs=num_epochs,
                                                   verbose=0, shuffle=False).history

    classifier = create_classifier(encoder, trainable=False)
    for i, layer in enumerate(classifier.layers[2:]):
        shapes += initialize(layer, 200 + 10 * i)
    history = classifier.fit(x_train, y_train, batch_size=batch_size, epochs=num_epochs, verbose=0,
                             shuffle=False).history
    accuracy = classifier.evaluate(x_test, y_test, verbose=0)[1]
    return {"shapes": shapes, "contrastive": contrastive, "history": history, "accuracy": accuracy}
