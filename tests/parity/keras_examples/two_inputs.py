"""keras.io/guides/functional_api: models with multiple inputs, with a mean of embeddings in place of an LSTM"""

from examples import initialize, integers, keras, np

layers = keras.layers
num_tags, num_words, num_departments = 6, 40, 4


def record():
    title_input = keras.Input(shape=(None,), dtype="int32", name="title")
    body_input = keras.Input(shape=(None,), dtype="int32", name="body")
    tags_input = keras.Input(shape=(num_tags,), name="tags")
    title_features = layers.Embedding(num_words, 8)(title_input)
    body_features = layers.Embedding(num_words, 8)(body_input)
    title_features = layers.GlobalAveragePooling1D()(title_features)
    body_features = layers.GlobalAveragePooling1D()(body_features)
    x = layers.concatenate([title_features, body_features, tags_input])
    department_pred = layers.Dense(num_departments, name="department")(x)
    model = keras.Model(inputs=[title_input, body_input, tags_input], outputs=department_pred)
    shapes = initialize(model)
    model.compile(optimizer=keras.optimizers.RMSprop(1e-2),
                  loss=keras.losses.CategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    title_data = integers(1, (32, 4), num_words)
    body_data = integers(2, (32, 12), num_words)
    tags_data = integers(3, (32, num_tags), 2).astype("float32")
    dept_targets = np.eye(num_departments)[integers(4, (32,), num_departments)]
    history = model.fit({"title": title_data, "body": body_data, "tags": tags_data}, dept_targets, epochs=4,
                        batch_size=8, verbose=0, shuffle=False).history
    return {"shapes": shapes, "history": history}
