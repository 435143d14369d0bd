// error: (no matching function|ambiguous|deleted)
#include <mezzo/mezzo.hpp>

mezzo::Any<mezzo::Layer> make() {
#ifdef MEZZO_FAIL
  return mezzo::Activation({.activation = "relu", .name = "act"});
#else
  return mezzo::layers::Activation({.activation = "relu", .name = "act"});
#endif
}

mezzo::Sequential others() {
  return mezzo::Sequential({mezzo::Dense({.units = 2, .activation = "relu"}), mezzo::Activation("relu"),
                            mezzo::Activation(std::string("tanh")), mezzo::Activation(mezzo::relu),
                            mezzo::Activation([](const mezzo::Value& x) { return x * 2; })});
}
