// error: deleted (function|constructor)
#include <mezzo/mezzo.hpp>

mezzo::Value choose(const mezzo::Value& a, const mezzo::Value& b) {
#ifdef MEZZO_FAIL
  if (a == b) return a;
#endif
  return mezzo::where(a == b, a, b);
}
