// error: deleted (function|member function|operator)
#include <mezzo/mezzo.hpp>

mezzo::Value features(const mezzo::Model& model) {
#ifdef MEZZO_FAIL
  return model.get_layer(0).output();
#else
  return model.get_layer("conv/first").output();
#endif
}
