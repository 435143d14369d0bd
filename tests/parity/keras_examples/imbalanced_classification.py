"""keras.io/examples/structured_data/imbalanced_classification, without dropout"""

from examples import initialize, keras, normal, np


def record():
    targets = (np.arange(240) % 12 == 5).astype("uint8").reshape(-1, 1)
    features = normal(1, (240, 6))
    features[targets[:, 0] == 1, :3] += 1.5
    train_features, val_features = features[:200], features[200:]
    train_targets, val_targets = targets[:200], targets[200:]
    counts = np.bincount(train_targets[:, 0])
    weight_for_0 = 1.0 / counts[0]
    weight_for_1 = 1.0 / counts[1]
    mean = np.mean(train_features, axis=0)
    train_features = train_features - mean
    val_features = val_features - mean
    std = np.std(train_features, axis=0)
    train_features = train_features / std
    val_features = val_features / std

    model = keras.Sequential([
        keras.Input(shape=train_features.shape[1:]),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ])
    shapes = initialize(model)
    metrics = [
        keras.metrics.FalseNegatives(name="fn"),
        keras.metrics.FalsePositives(name="fp"),
        keras.metrics.TrueNegatives(name="tn"),
        keras.metrics.TruePositives(name="tp"),
        keras.metrics.Precision(name="precision"),
        keras.metrics.Recall(name="recall"),
    ]
    model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="binary_crossentropy", metrics=metrics)
    class_weight = {0: weight_for_0, 1: weight_for_1}
    history = model.fit(train_features, train_targets, batch_size=64, epochs=4, verbose=0, shuffle=False,
                        validation_data=(val_features, val_targets), class_weight=class_weight).history
    return {"shapes": shapes, "history": history}
