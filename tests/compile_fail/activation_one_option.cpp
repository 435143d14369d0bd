// error: (no matching function|ambiguous|deleted)
#include <mezzo/mezzo.hpp>

mezzo::Any<mezzo::Layer> make() {
#ifdef MEZZO_FAIL
  return mezzo::Activation({.activation = "relu"});
#else
  return mezzo::layers::Activation({.activation = "relu"});
#endif
}
