"""keras.io/guides/training_with_built_in_methods: passing data to multi-output models"""

from examples import initialize, keras, np, pictures

layers = keras.layers


def record():
    image_input = keras.Input(shape=(12, 12, 3), name="img_input")
    x = layers.Conv2D(8, 3, activation="relu")(image_input)
    x = layers.GlobalAveragePooling2D()(x)
    score_output = layers.Dense(1, name="score_output")(x)
    class_output = layers.Dense(4, activation="softmax", name="class_output")(x)
    model = keras.Model(inputs=image_input, outputs=[score_output, class_output])
    shapes = initialize(model)
    model.compile(
        optimizer=keras.optimizers.RMSprop(1e-2),
        loss={"score_output": keras.losses.MeanSquaredError(),
              "class_output": keras.losses.CategoricalCrossentropy()},
        metrics={"score_output": [keras.metrics.MeanAbsolutePercentageError(), keras.metrics.MeanAbsoluteError()],
                 "class_output": [keras.metrics.CategoricalAccuracy()]},
        loss_weights={"score_output": 2.0, "class_output": 1.0},
    )
    img_data, kinds = pictures(32, 12, 3)
    score_targets = img_data.sum(axis=(1, 2, 3))[:, None] / 100
    class_targets = np.eye(4)[kinds]
    history = model.fit({"img_input": img_data}, {"score_output": score_targets, "class_output": class_targets},
                        batch_size=8, epochs=4, verbose=0, shuffle=False).history
    return {"shapes": shapes, "history": history}
