"""keras.io/examples/timeseries/timeseries_weather_forecasting"""

import tempfile

from examples import initialize, keras, np, uniform

split_fraction = 0.7
step = 3
past = 24
future = 6
learning_rate = 0.001
batch_size = 16
epochs = 4


def normalize(data, train_split):
    data_mean = data[:train_split].mean(axis=0)
    data_std = data[:train_split].std(axis=0)
    return (data - data_mean) / data_std


def record():
    periods = 12.0 + 5.0 * np.arange(7)
    df = 20 * np.sin(np.arange(240)[:, None] / periods) + 2 * uniform(1, (240, 7))
    train_split = int(split_fraction * df.shape[0])

    features = normalize(df, train_split)
    train_data = features[0:train_split]
    val_data = features[train_split:]

    # Training dataset
    start = past + future
    end = start + train_split
    x_train = train_data[:, 0:7]
    y_train = features[start:end, [1]]
    sequence_length = past // step
    dataset_train = keras.utils.timeseries_dataset_from_array(
        x_train,
        y_train,
        sequence_length=sequence_length,
        sampling_rate=step,
        batch_size=batch_size,
    )

    # Validation dataset
    x_end = len(val_data) - past - future
    label_start = train_split + past + future
    x_val = val_data[:x_end, 0:7]
    y_val = features[label_start:, [1]]
    dataset_val = keras.utils.timeseries_dataset_from_array(
        x_val,
        y_val,
        sequence_length=sequence_length,
        sampling_rate=step,
        batch_size=batch_size,
    )

    # Training
    inputs = keras.layers.Input(shape=(sequence_length, 7))
    lstm_out = keras.layers.LSTM(8)(inputs)
    outputs = keras.layers.Dense(1)(lstm_out)

    model = keras.Model(inputs=inputs, outputs=outputs)
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=learning_rate), loss="mse")
    shapes = initialize(model)
    with tempfile.TemporaryDirectory() as folder:
        path_checkpoint = f"{folder}/model_checkpoint.weights.h5"
        es_callback = keras.callbacks.EarlyStopping(monitor="val_loss", min_delta=0, patience=5)
        modelckpt_callback = keras.callbacks.ModelCheckpoint(
            monitor="val_loss",
            filepath=path_checkpoint,
            verbose=0,
            save_weights_only=True,
            save_best_only=True,
        )
        history = model.fit(
            dataset_train,
            epochs=epochs,
            validation_data=dataset_val,
            callbacks=[es_callback, modelckpt_callback],
            verbose=0,
        )
    predictions = [float(model.predict(x, verbose=0)[0, 0]) for x, y in dataset_val.take(2)]
    return {"shapes": shapes, "history": history.history, "predictions": predictions}
