"""keras.io/examples/vision/siamese_contrastive"""

from examples import initialize, keras, np, pictures

layers, ops = keras.layers, keras.ops
batch_size = 16
margin = 1  # Margin for contrastive loss.


def make_pairs(x, y):
    num_classes = max(y) + 1
    digit_indices = [np.where(y == i)[0] for i in range(num_classes)]
    pairs, labels = [], []
    for idx1 in range(len(x)):
        # add a matching example
        x1 = x[idx1]
        label1 = y[idx1]
        idx2 = digit_indices[label1][5 * idx1 % len(digit_indices[label1])]
        pairs += [[x1, x[idx2]]]
        labels += [0]
        # add a non-matching example
        label2 = (label1 + 1 + idx1 % (num_classes - 1)) % num_classes
        idx2 = digit_indices[label2][7 * idx1 % len(digit_indices[label2])]
        pairs += [[x1, x[idx2]]]
        labels += [1]
    return np.array(pairs), np.array(labels).astype("float32")


def euclidean_distance(vects):
    x, y = vects
    sum_square = ops.sum(ops.square(x - y), axis=1, keepdims=True)
    return ops.sqrt(ops.maximum(sum_square, keras.backend.epsilon()))


def build():
    input = layers.Input((16, 16, 1))
    x = layers.BatchNormalization()(input)
    x = layers.Conv2D(4, (5, 5), activation="tanh")(x)
    x = layers.AveragePooling2D(pool_size=(2, 2))(x)
    x = layers.Conv2D(16, (5, 5), activation="tanh")(x)
    x = layers.AveragePooling2D(pool_size=(2, 2))(x)
    x = layers.Flatten()(x)
    x = layers.BatchNormalization()(x)
    x = layers.Dense(10, activation="tanh")(x)
    embedding_network = keras.Model(input, x)

    # docs: begin
    input_1 = layers.Input((16, 16, 1))
    input_2 = layers.Input((16, 16, 1))
    # As mentioned above, Siamese Network share weights between tower networks (sister networks).
    tower_1 = embedding_network(input_1)
    tower_2 = embedding_network(input_2)
    merge_layer = layers.Lambda(euclidean_distance, output_shape=(1,))([tower_1, tower_2])
    normal_layer = layers.BatchNormalization()(merge_layer)
    output_layer = layers.Dense(1, activation="sigmoid")(normal_layer)
    return keras.Model(inputs=[input_1, input_2], outputs=output_layer)
    # docs: end


# docs: begin
def loss(margin=1):
    def contrastive_loss(y_true, y_pred):
        square_pred = ops.square(y_pred)
        margin_square = ops.square(ops.maximum(margin - (y_pred), 0))
        return ops.mean((1 - y_true) * square_pred + (y_true) * margin_square)

    return contrastive_loss
# docs: end


def record():
    x, y = pictures(48, 16)
    pairs_train, labels_train = make_pairs(x[:32], y[:32])
    pairs_val, labels_val = make_pairs(x[32:], y[32:])
    x_train_1, x_train_2 = pairs_train[:, 0], pairs_train[:, 1]
    x_val_1, x_val_2 = pairs_val[:, 0], pairs_val[:, 1]

    siamese = build()
    shapes = initialize(siamese)
    siamese.compile(loss=loss(margin=margin), optimizer="RMSprop", metrics=["accuracy"])
    history = siamese.fit([x_train_1, x_train_2], labels_train, validation_data=([x_val_1, x_val_2], labels_val),
                          batch_size=batch_size, epochs=4, verbose=0, shuffle=False).history
    results = siamese.evaluate([x_val_1, x_val_2], labels_val, verbose=0)
    return {"shapes": shapes, "history": history, "results": results}
