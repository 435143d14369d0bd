"""keras.io/examples/timeseries/timeseries_anomaly_detection, without dropout"""

from examples import initialize, keras, np, uniform

layers = keras.layers
TIME_STEPS = 24


# Generated training sequences for use in the model.
def create_sequences(values, time_steps=TIME_STEPS):
    output = []
    for i in range(len(values) - time_steps + 1):
        output.append(values[i : (i + time_steps)])
    return np.stack(output)


def record():
    daily = (np.arange(160) % 16 - 8)[:, None] ** 2 / 16 + uniform(1, (160, 1))
    jumpsup = daily.copy()
    jumpsup[90:110] += 6

    # Normalize and save the mean and std we get, for normalizing test data.
    training_mean = daily.mean()
    training_std = daily.std()
    df_training_value = (daily - training_mean) / training_std
    x_train = create_sequences(df_training_value)

    model = keras.Sequential([
        layers.Input(shape=(x_train.shape[1], x_train.shape[2])),
        layers.Conv1D(filters=8, kernel_size=7, padding="same", strides=2, activation="relu"),
        layers.Dropout(rate=0.0),
        layers.Conv1D(filters=4, kernel_size=7, padding="same", strides=2, activation="relu"),
        layers.Conv1DTranspose(filters=4, kernel_size=7, padding="same", strides=2, activation="relu"),
        layers.Dropout(rate=0.0),
        layers.Conv1DTranspose(filters=8, kernel_size=7, padding="same", strides=2, activation="relu"),
        layers.Conv1DTranspose(filters=1, kernel_size=7, padding="same"),
    ])
    shapes = initialize(model)
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.005), loss="mse")
    history = model.fit(
        x_train,
        x_train,
        epochs=12,
        batch_size=32,
        validation_split=0.1,
        callbacks=[keras.callbacks.EarlyStopping(monitor="val_loss", patience=5, mode="min")],
        verbose=0,
        shuffle=False,
    ).history

    # Get train MAE loss.
    x_train_pred = model.predict(x_train, verbose=0)
    train_mae_loss = np.mean(np.abs(x_train_pred - x_train), axis=1)
    # Get reconstruction loss threshold.
    threshold = np.max(train_mae_loss)

    # Create sequences from test values.
    df_test_value = (jumpsup - training_mean) / training_std
    x_test = create_sequences(df_test_value)
    # Get test MAE loss.
    x_test_pred = model.predict(x_test, verbose=0)
    test_mae_loss = np.mean(np.abs(x_test_pred - x_test), axis=1)
    test_mae_loss = test_mae_loss.reshape((-1))
    # Detect all the samples which are anomalies.
    anomalies = test_mae_loss > threshold

    # data i is an anomaly if samples [(i - timesteps + 1) to (i)] are anomalies
    anomalous_data_indices = []
    for data_idx in range(TIME_STEPS - 1, len(df_test_value) - TIME_STEPS + 1):
        if np.all(anomalies[data_idx - TIME_STEPS + 1 : data_idx]):
            anomalous_data_indices.append(data_idx)
    return {"shapes": shapes, "history": history, "threshold": float(threshold), "anomalies": int(np.sum(anomalies)),
            "indices": anomalous_data_indices}
