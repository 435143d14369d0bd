// error: deleted (function|constructor)
#include <mezzo/mezzo.hpp>

mezzo::Sequential make() { return mezzo::Sequential({mezzo::Dense({.units = 1})}); }

#ifdef MEZZO_FAIL
mezzo::Model sliced = make();
#else
mezzo::Sequential whole = make();
#endif
