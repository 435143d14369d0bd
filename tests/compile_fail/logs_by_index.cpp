// error: deleted (function|member function|operator)
#include <mezzo/mezzo.hpp>

double loss(mezzo::Model& model, const mezzo::DataLoader& loader) {
  auto score = model.evaluate(loader);
#ifdef MEZZO_FAIL
  return score[0];
#else
  const std::map<std::string, double> numbers = score;
  return score["loss"] + score.at("loss") + numbers.at("loss");
#endif
}
