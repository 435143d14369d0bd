"""keras.io/examples/nlp/text_classification_from_scratch, without dropout"""

import re
import string

from examples import initialize, keras, np, rated_texts

layers = keras.layers
batch_size = 8
# Model constants.
max_features = 20
embedding_dim = 12
sequence_length = 16


# Having looked at our data above, we see that the raw text contains HTML break tags of the form '<br />'. These tags
# will not be removed by the default standardizer, so we will need to create a custom standardization function.
def custom_standardization(input_data):
    lowercase = np.char.lower(input_data)
    stripped_html = np.char.replace(lowercase, "<br />", " ")
    return np.vectorize(lambda text: re.sub(f"[{re.escape(string.punctuation)}]", "", text))(stripped_html)


def record():
    raw_train_ds, raw_val_ds, raw_test_ds = rated_texts(32), rated_texts(16, stream=60), rated_texts(16, stream=80)

    # Now that we have our custom standardization, we can instantiate our text vectorization layer.
    vectorize_layer = keras.layers.TextVectorization(
        standardize=custom_standardization,
        max_tokens=max_features,
        output_mode="int",
        output_sequence_length=sequence_length,
    )
    # Let's make a text-only dataset (no labels):
    text_ds, _ = raw_train_ds
    # Let's call `adapt`:
    vectorize_layer.adapt(text_ds)

    def vectorize_text(text, label):
        text = np.expand_dims(text, -1)
        return vectorize_layer(text), label

    # Vectorize the data.
    train_ds = vectorize_text(*raw_train_ds)
    val_ds = vectorize_text(*raw_val_ds)
    test_ds = vectorize_text(*raw_test_ds)

    # A integer input for vocab indices.
    inputs = keras.Input(shape=(sequence_length,), dtype="int64")
    # Next, we add a layer to map those vocab indices into a space of dimensionality 'embedding_dim'.
    x = layers.Embedding(max_features, embedding_dim)(inputs)
    x = layers.Dropout(0.0)(x)
    # Conv1D + global max pooling
    x = layers.Conv1D(16, 4, padding="valid", activation="relu", strides=3)(x)
    x = layers.Conv1D(16, 4, padding="valid", activation="relu", strides=3)(x)
    x = layers.GlobalMaxPooling1D()(x)
    # We add a vanilla hidden layer:
    x = layers.Dense(16, activation="relu")(x)
    x = layers.Dropout(0.0)(x)
    # We project onto a single unit output layer, and squash it with a sigmoid:
    predictions = layers.Dense(1, activation="sigmoid", name="predictions")(x)
    model = keras.Model(inputs, predictions)
    # Compile the model with binary crossentropy loss and an adam optimizer.
    model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
    shapes = initialize(model)

    epochs = 3
    # Fit the model using the train and test datasets.
    history = model.fit(*train_ds, batch_size=batch_size, validation_data=val_ds, epochs=epochs, shuffle=False, verbose=0)
    loss, accuracy = model.evaluate(*test_ds, verbose=0)
    score = model.predict(vectorize_layer(["A fine story<br />with unknown actors!"]), verbose=0)
    return {"shapes": shapes, "history": history.history, "vocabulary": vectorize_layer.get_vocabulary(),
            "test": {"loss": loss, "accuracy": accuracy}, "score": float(score[0, 0])}
