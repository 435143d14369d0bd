// error: (deleted (function|constructor)|no matching constructor)
#include <mezzo/mezzo.hpp>

#ifdef MEZZO_FAIL
mezzo::Trainer trainer({.precision = true});
#else
mezzo::Trainer trainer({.precision = "bf16"});
#endif
