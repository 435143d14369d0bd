"""keras.io/examples/nlp/bidirectional_lstm_imdb"""

from examples import initialize, keras, rated_words

layers = keras.layers
max_features = 60  # Only consider the top 60 words
maxlen = 10  # Only consider the first 10 words of each movie review


def record():
    # Input for variable-length sequences of integers
    inputs = keras.Input(shape=(None,), dtype="int32")
    # Embed each integer in a 12-dimensional vector
    x = layers.Embedding(max_features, 12)(inputs)
    # Add 2 bidirectional LSTMs
    x = layers.Bidirectional(layers.LSTM(8, return_sequences=True))(x)
    x = layers.Bidirectional(layers.LSTM(8))(x)
    # Add a classifier
    outputs = layers.Dense(1, activation="sigmoid")(x)
    model = keras.Model(inputs, outputs)
    shapes = initialize(model)

    (x_train, y_train), (x_val, y_val) = rated_words(32, max_features), rated_words(16, max_features, stream=60)
    # Use pad_sequence to standardize sequence length:
    # this will truncate sequences longer than 10 words and zero-pad sequences shorter than 10 words.
    x_train = keras.utils.pad_sequences(x_train, maxlen=maxlen)
    x_val = keras.utils.pad_sequences(x_val, maxlen=maxlen)
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    history = model.fit(x_train, y_train, batch_size=8, epochs=3, validation_data=(x_val, y_val), shuffle=False,
                        verbose=0)
    return {"shapes": shapes, "history": history.history}
