#include <mezzo/core/version.hpp>

#define MEZZO_TEXT_OF(x) #x
#define MEZZO_TEXT(x) MEZZO_TEXT_OF(x)

namespace mezzo {

const char* version() {
  return MEZZO_TEXT(MEZZO_VERSION_MAJOR) "." MEZZO_TEXT(MEZZO_VERSION_MINOR) "." MEZZO_TEXT(MEZZO_VERSION_PATCH);
}

}  // namespace mezzo
