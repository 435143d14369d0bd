// error: deleted (function|member function|operator)
#include <mezzo/mezzo.hpp>

mezzo::Value image(const mezzo::Batch& batch) {
#ifdef MEZZO_FAIL
  return batch[0];
#else
  return batch["image"];
#endif
}
