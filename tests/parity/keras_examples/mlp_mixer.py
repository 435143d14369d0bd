"""keras.io/examples/vision/mlp_image_classification: the MLP-Mixer, without augmentation and dropout"""

from examples import initialize, keras, pictures

layers, ops = keras.layers, keras.ops
image_size, patch_size, embedding_dim, num_blocks, num_classes = 12, 4, 16, 2, 4
num_patches = (image_size // patch_size) ** 2


class Patches(layers.Layer):
    def __init__(self, patch_size, **kwargs):
        super().__init__(**kwargs)
        self.patch_size = patch_size

    def call(self, x):
        patches = ops.image.extract_patches(x, self.patch_size)
        batch_size = ops.shape(patches)[0]
        num_patches = ops.shape(patches)[1] * ops.shape(patches)[2]
        patch_dim = ops.shape(patches)[3]
        return ops.reshape(patches, (batch_size, num_patches, patch_dim))


class MLPMixerLayer(layers.Layer):
    def __init__(self, num_patches, hidden_units, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.mlp1 = keras.Sequential([
            layers.Dense(units=num_patches, activation="gelu"),
            layers.Dense(units=num_patches),
        ])
        self.mlp2 = keras.Sequential([
            layers.Dense(units=num_patches, activation="gelu"),
            layers.Dense(units=hidden_units),
        ])
        self.normalize = layers.LayerNormalization(epsilon=1e-6)

    def build(self, input_shape):
        return super().build(input_shape)

    def call(self, inputs):
        # Apply layer normalization.
        x = self.normalize(inputs)
        # Transpose inputs from [num_batches, num_patches, hidden_units] to [num_batches, hidden_units, num_patches].
        x_channels = ops.transpose(x, axes=(0, 2, 1))
        # Apply mlp1 on each channel independently.
        mlp1_outputs = self.mlp1(x_channels)
        # Transpose mlp1_outputs from [num_batches, hidden_dim, num_patches] to [num_batches, num_patches, hidden_units].
        mlp1_outputs = ops.transpose(mlp1_outputs, axes=(0, 2, 1))
        # Add skip connection.
        x = mlp1_outputs + inputs
        # Apply layer normalization.
        x_patches = self.normalize(x)
        # Apply mlp2 on each patch independtenly.
        mlp2_outputs = self.mlp2(x_patches)
        # Add skip connection.
        x = x + mlp2_outputs
        return x


def build_classifier(blocks):
    inputs = layers.Input(shape=(image_size, image_size, 3))
    patches = Patches(patch_size)(inputs)
    x = layers.Dense(units=embedding_dim)(patches)
    x = blocks(x)
    representation = layers.GlobalAveragePooling1D()(x)
    logits = layers.Dense(num_classes)(representation)
    return keras.Model(inputs=inputs, outputs=logits)


def record():
    mlpmixer_blocks = keras.Sequential([MLPMixerLayer(num_patches, embedding_dim) for _ in range(num_blocks)])
    model = build_classifier(mlpmixer_blocks)
    shapes = initialize(model)
    x_train, y_train = pictures(48, image_size, 3)
    model.compile(optimizer=keras.optimizers.AdamW(learning_rate=0.005, weight_decay=0.0001),
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc"),
                           keras.metrics.SparseTopKCategoricalAccuracy(2, name="top2-acc")])
    reduce_lr = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=5)
    early_stopping = keras.callbacks.EarlyStopping(monitor="val_loss", patience=10, restore_best_weights=True)
    history = model.fit(x=x_train, y=y_train, batch_size=16, epochs=4, verbose=0, shuffle=False, validation_split=1 / 3,
                        callbacks=[early_stopping, reduce_lr]).history
    del history["learning_rate"]
    return {"shapes": shapes, "history": history}
