"""keras.io/examples/structured_data/structured_data_classification_from_scratch, without dropout"""

from examples import heart_disease, initialize, keras, np

layers = keras.layers
lookups = {}


def encode_numerical_feature(feature, name, dataset):
    # Create a Normalization layer for our feature
    normalizer = layers.Normalization()
    # Learn the statistics of the data
    normalizer.adapt(dataset[name][:, None])
    # Normalize the input feature
    return normalizer(feature)


def encode_categorical_feature(feature, name, dataset, is_string):
    lookup_class = layers.StringLookup if is_string else layers.IntegerLookup
    # Create a lookup layer which will turn strings into integer indices
    lookups[name] = lookup_class()
    # Learn the set of possible string values and assign them a fixed integer index
    lookups[name].adapt(dataset[name])
    # Turn the indices, which preprocess() makes outside of the model, into rows
    return layers.CategoryEncoding(num_tokens=lookups[name].vocabulary_size(), output_mode="one_hot")(feature)


def preprocess(columns):
    return {name: np.asarray(lookups[name](column)) if name in lookups else column for name, column in columns.items()}


def record():
    (train_ds, train_labels), (val_ds, val_labels) = heart_disease(48, 1), heart_disease(16, 5)

    # Categorical features encoded as integers
    sex = keras.Input(shape=(1,), name="sex", dtype="int64")
    cp = keras.Input(shape=(1,), name="cp", dtype="int64")
    ca = keras.Input(shape=(1,), name="ca", dtype="int64")
    # Categorical feature encoded as string
    thal = keras.Input(shape=(1,), name="thal", dtype="int64")
    # Numerical features
    age = keras.Input(shape=(1,), name="age")
    trestbps = keras.Input(shape=(1,), name="trestbps")
    oldpeak = keras.Input(shape=(1,), name="oldpeak")
    all_inputs = [sex, cp, ca, thal, age, trestbps, oldpeak]

    # Integer categorical features
    sex_encoded = encode_categorical_feature(sex, "sex", train_ds, False)
    cp_encoded = encode_categorical_feature(cp, "cp", train_ds, False)
    ca_encoded = encode_categorical_feature(ca, "ca", train_ds, False)
    # String categorical features
    thal_encoded = encode_categorical_feature(thal, "thal", train_ds, True)
    # Numerical features
    age_encoded = encode_numerical_feature(age, "age", train_ds)
    trestbps_encoded = encode_numerical_feature(trestbps, "trestbps", train_ds)
    oldpeak_encoded = encode_numerical_feature(oldpeak, "oldpeak", train_ds)
    all_features = layers.concatenate(
        [
            sex_encoded,
            cp_encoded,
            ca_encoded,
            thal_encoded,
            age_encoded,
            trestbps_encoded,
            oldpeak_encoded,
        ]
    )
    x = layers.Dense(16, activation="relu")(all_features)
    x = layers.Dropout(0.0)(x)
    output = layers.Dense(1, activation="sigmoid")(x)
    model = keras.Model(all_inputs, output)
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    shapes = initialize(model)
    history = model.fit(preprocess(train_ds), train_labels, batch_size=8, epochs=5, shuffle=False, verbose=0,
                        validation_data=(preprocess(val_ds), val_labels)).history

    sample = {"sex": 1, "cp": 1, "ca": 0, "thal": "fixed", "age": 60.0, "trestbps": 145.0, "oldpeak": 2.3}
    input_dict = {name: np.array([value]) for name, value in sample.items()}
    predictions = model.predict(preprocess(input_dict), verbose=0)
    return {"shapes": shapes, "history": history, "score": float(predictions[0][0])}
