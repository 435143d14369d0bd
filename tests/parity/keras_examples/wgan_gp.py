"""keras.io/examples/generative/wgan_gp, without dropout, with one step of the critic for each of the generator"""

from examples import epochs, initialize, jax, keras, minimize, normal, pictures, uniform

layers, ops = keras.layers, keras.ops
noise_dim = 8
IMG_SHAPE = (12, 12, 1)


def conv_block(x, filters, activation, kernel_size=(3, 3), strides=(1, 1), padding="same", use_bias=True, use_bn=False,
               use_dropout=False, drop_value=0.5):
    x = layers.Conv2D(filters, kernel_size, strides=strides, padding=padding, use_bias=use_bias)(x)
    if use_bn:
        x = layers.BatchNormalization()(x)
    x = activation(x)
    if use_dropout:
        x = layers.Dropout(drop_value)(x)
    return x


def get_discriminator_model():
    img_input = layers.Input(shape=IMG_SHAPE)
    # Zero pad the input to make the input images size to (16, 16, 1).
    x = layers.ZeroPadding2D((2, 2))(img_input)
    x = conv_block(x, 8, kernel_size=(5, 5), strides=(2, 2), use_bn=False, use_bias=True,
                   activation=layers.LeakyReLU(0.2), use_dropout=False)
    x = conv_block(x, 16, kernel_size=(5, 5), strides=(2, 2), use_bn=False, use_bias=True,
                   activation=layers.LeakyReLU(0.2), use_dropout=False)
    x = layers.Flatten()(x)
    x = layers.Dense(1)(x)
    return keras.Model(img_input, x, name="discriminator")


def upsample_block(x, filters, activation, kernel_size=(3, 3), strides=(1, 1), up_size=(2, 2), padding="same",
                   use_bn=False, use_bias=True, use_dropout=False, drop_value=0.3):
    x = layers.UpSampling2D(up_size)(x)
    x = layers.Conv2D(filters, kernel_size, strides=strides, padding=padding, use_bias=use_bias)(x)
    if use_bn:
        x = layers.BatchNormalization()(x)
    if activation:
        x = activation(x)
    if use_dropout:
        x = layers.Dropout(drop_value)(x)
    return x


def get_generator_model():
    noise = layers.Input(shape=(noise_dim,))
    x = layers.Dense(4 * 4 * 16, use_bias=False)(noise)
    x = layers.BatchNormalization()(x)
    x = layers.LeakyReLU(0.2)(x)

    x = layers.Reshape((4, 4, 16))(x)
    x = upsample_block(x, 8, layers.LeakyReLU(0.2), strides=(1, 1), use_bias=False, use_bn=True, padding="same",
                       use_dropout=False)
    x = upsample_block(x, 1, layers.Activation("tanh"), strides=(1, 1), use_bias=False, use_bn=True)
    # At this point, we have an output which has the same shape as the padded input, (16, 16, 1).
    x = layers.Cropping2D((2, 2))(x)
    return keras.Model(noise, x, name="generator")


class WGAN:
    def __init__(self, discriminator, generator, latent_dim, discriminator_extra_steps=3, gp_weight=10.0):
        self.discriminator = discriminator
        self.generator = generator
        self.latent_dim = latent_dim
        self.d_steps = discriminator_extra_steps
        self.gp_weight = gp_weight

    def compile(self, d_optimizer, g_optimizer, d_loss_fn, g_loss_fn):
        self.d_optimizer = d_optimizer
        self.g_optimizer = g_optimizer
        self.d_loss_fn = d_loss_fn
        self.g_loss_fn = g_loss_fn
        d_optimizer.build(self.discriminator.trainable_weights)
        g_optimizer.build(self.generator.trainable_weights)

    def gradient_penalty(self, alpha, real_images, fake_images):
        # Get the interpolated image
        diff = fake_images - real_images
        interpolated = real_images + alpha * diff
        # 1. Get the discriminator output for this interpolated image.
        # 2. Calculate the gradients w.r.t to this interpolated image.
        grads = jax.grad(lambda x: ops.sum(self.discriminator(x, training=True)))(interpolated)
        # 3. Calculate the norm of the gradients.
        norm = ops.sqrt(ops.sum(ops.square(grads), axis=[1, 2, 3]))
        gp = ops.mean((norm - 1.0) ** 2)
        return gp

    def train_step(self, real_images, random_latent_vectors, alpha):
        # Train the discriminator first. The noise is an input here, so that it is equal.
        for i in range(self.d_steps):
            def d_loss():
                # Generate fake images from the latent vector
                fake_images = self.generator(random_latent_vectors[:, i], training=True)
                # Get the logits for the fake images
                fake_logits = self.discriminator(fake_images, training=True)
                # Get the logits for the real images
                real_logits = self.discriminator(real_images, training=True)

                # Calculate the discriminator loss using the fake and real image logits
                d_cost = self.d_loss_fn(real_img=real_logits, fake_img=fake_logits)
                # Calculate the gradient penalty
                gp = self.gradient_penalty(alpha[:, i], real_images, fake_images)
                # Add the gradient penalty to the original discriminator loss
                return d_cost + gp * self.gp_weight

            d_logs = minimize(self.d_optimizer, self.discriminator.trainable_weights, d_loss)

        # Train the generator
        def g_loss():
            # Generate fake images using the generator
            generated_images = self.generator(random_latent_vectors[:, self.d_steps], training=True)
            # Get the discriminator logits for fake images
            gen_img_logits = self.discriminator(generated_images, training=True)
            # Calculate the generator loss
            return self.g_loss_fn(gen_img_logits)

        g_logs = minimize(self.g_optimizer, self.generator.trainable_weights, g_loss)
        return {"d_loss": d_logs["loss"], "g_loss": g_logs["loss"]}


# Define the loss functions for the discriminator, which should be (fake_loss - real_loss).
def discriminator_loss(real_img, fake_img):
    real_loss = ops.mean(real_img)
    fake_loss = ops.mean(fake_img)
    return fake_loss - real_loss


# Define the loss functions for the generator.
def generator_loss(fake_img):
    return -ops.mean(fake_img)


def record():
    d_model, g_model = get_discriminator_model(), get_generator_model()
    shapes = initialize(d_model) + initialize(g_model, 200)
    images, _ = pictures(16, 12)
    wgan = WGAN(discriminator=d_model, generator=g_model, latent_dim=noise_dim, discriminator_extra_steps=1)
    # learning_rate=0.0002, beta_1=0.5 are recommended
    generator_optimizer = keras.optimizers.Adam(learning_rate=0.0002, beta_1=0.5, beta_2=0.9)
    discriminator_optimizer = keras.optimizers.Adam(learning_rate=0.0002, beta_1=0.5, beta_2=0.9)
    wgan.compile(d_optimizer=discriminator_optimizer, g_optimizer=generator_optimizer, g_loss_fn=generator_loss,
                 d_loss_fn=discriminator_loss)
    latent, alpha = normal(10, (16, 2, noise_dim)), uniform(20, (16, 1, 1, 1, 1), 0.0, 1.0)
    history = epochs(3, 16, 8, lambda rows: wgan.train_step(images[rows], latent[rows], alpha[rows]))
    return {"shapes": shapes, "history": history}
