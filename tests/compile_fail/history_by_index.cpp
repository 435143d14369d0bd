// error: deleted (function|member function|operator)
#include <mezzo/mezzo.hpp>

double first_loss(mezzo::Model& model, const mezzo::DataLoader& loader) {
  auto history = model.fit(loader).history;
#ifdef MEZZO_FAIL
  return history.at(0)[0];
#else
  return history["loss"][0] + history.at("val_loss")[0];
#endif
}
