// error: protected
#include <mezzo/mezzo.hpp>

class Classifier : public mezzo::Module {
 public:
  Classifier() : Module("Classifier") {}
};

void use(const Classifier& classifier) {
#ifdef MEZZO_FAIL
  mezzo::Module copy = classifier;
#else
  const mezzo::Module& copy = classifier;
#endif
  static_cast<void>(copy);
}
