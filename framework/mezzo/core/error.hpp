#pragma once
#include <stdexcept>
#include <string>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// Base of all exceptions that mezzo throws. The text is one line with the operation or layer, the expected and the
/// given values: `[Conv2D "stem"] input axis -1 must be 3 (kernel channels); got shape (32, 28, 28, 1)`. Control
/// characters in it are escaped (`\n`, `\x1b`), and a text of more than 8,000 bytes is shortened in its middle.
struct MEZZO_API Error : std::runtime_error {
  /// Escapes and shortens the text as described above; what() returns the result.
  explicit Error(const std::string& text);
};

/// A shape or rank that an operation does not accept.
struct MEZZO_API ShapeError : Error {
  using Error::Error;
};

/// A dtype that an operation does not accept.
struct MEZZO_API DTypeError : Error {
  using Error::Error;
};

/// An unknown name. The text lists the valid names.
struct MEZZO_API NameError : Error {
  using Error::Error;
};

/// A value out of its range, or a call at the wrong time.
struct MEZZO_API ValueError : Error {
  using Error::Error;
};

/// Memory that the system does not have. The text has the requested size, if it is known.
struct MEZZO_API MemoryError : Error {
  using Error::Error;
};

/// A file that is missing, truncated or malformed.
struct MEZZO_API FileError : Error {
  using Error::Error;
};

}  // namespace mezzo
