// error: (no matching (function|constructor|conversion)|deleted)
#include <mezzo/mezzo.hpp>

mezzo::Dense make() {
#ifdef MEZZO_FAIL
  return mezzo::Dense(true);
#else
  return mezzo::Dense(1);
#endif
}
