"""keras.io/examples/generative/vae"""

from examples import epochs, initialize, keras, minimize, normal, np, pictures

layers, ops = keras.layers, keras.ops


class Sampling(layers.Layer):
    def call(self, inputs):
        z_mean, z_log_var, epsilon = inputs  # the noise is an input here, so that it is equal
        return z_mean + ops.exp(0.5 * z_log_var) * epsilon


latent_dim = 2


def build():
    encoder_inputs = keras.Input(shape=(8, 8, 1))
    noise = keras.Input(shape=(latent_dim,))
    x = layers.Conv2D(8, 3, activation="relu", strides=2, padding="same")(encoder_inputs)
    x = layers.Conv2D(16, 3, activation="relu", strides=2, padding="same")(x)
    x = layers.Flatten()(x)
    x = layers.Dense(16, activation="relu")(x)
    z_mean = layers.Dense(latent_dim, name="z_mean")(x)
    z_log_var = layers.Dense(latent_dim, name="z_log_var")(x)
    z = Sampling()([z_mean, z_log_var, noise])
    encoder = keras.Model([encoder_inputs, noise], [z_mean, z_log_var, z], name="encoder")

    latent_inputs = keras.Input(shape=(latent_dim,))
    x = layers.Dense(2 * 2 * 16, activation="relu")(latent_inputs)
    x = layers.Reshape((2, 2, 16))(x)
    x = layers.Conv2DTranspose(16, 3, activation="relu", strides=2, padding="same")(x)
    x = layers.Conv2DTranspose(8, 3, activation="relu", strides=2, padding="same")(x)
    decoder_outputs = layers.Conv2DTranspose(1, 3, activation="sigmoid", padding="same")(x)
    decoder = keras.Model(latent_inputs, decoder_outputs, name="decoder")
    return encoder, decoder


def record():
    encoder, decoder = build()
    shapes = initialize(encoder) + initialize(decoder, 200)
    images, _ = pictures(16, 8)
    noise = normal(10, (16, latent_dim))
    optimizer = keras.optimizers.Adam()
    variables = encoder.trainable_weights + decoder.trainable_weights
    optimizer.build(variables)

    def train_step(batch):
        data = images[batch]

        def loss():
            z_mean, z_log_var, z = encoder([data, noise[batch]])
            reconstruction = decoder(z)
            reconstruction_loss = ops.mean(
                ops.sum(keras.losses.binary_crossentropy(data, reconstruction), axis=(1, 2)))
            kl_loss = -0.5 * (1 + z_log_var - ops.square(z_mean) - ops.exp(z_log_var))
            kl_loss = ops.mean(ops.sum(kl_loss, axis=1))
            return reconstruction_loss + kl_loss, {"reconstruction_loss": reconstruction_loss, "kl_loss": kl_loss}

        return minimize(optimizer, variables, loss)

    return {"shapes": shapes, "history": epochs(4, 16, 8, train_step)}
