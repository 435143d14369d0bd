// error: (deleted|ambiguous)
#include <mezzo/mezzo.hpp>

void compile(mezzo::Model& model) {
#ifdef MEZZO_FAIL
  model.compile({.loss = nullptr});
#else
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
#endif
}
