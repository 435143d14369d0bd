#pragma once
#include <stdexcept>
#include <string>

namespace mezzo {

/// Base of every exception that mezzo throws. The text names operation, layer, axis, what was expected and what
/// was received, in one line: `[Conv2D "stem"] input axis -1 must be 3 (kernel channels); got shape (32, 28, 28, 1)`.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A shape or rank that an operation can't take.
struct ShapeError : Error {
  using Error::Error;
};

/// A dtype that an operation can't take.
struct DTypeError : Error {
  using Error::Error;
};

/// A name that nothing has; the text lists the good ones.
struct NameError : Error {
  using Error::Error;
};

/// A value out of its range, or a call at the wrong time.
struct ValueError : Error {
  using Error::Error;
};

/// A file that is missing, truncated or not of its format.
struct FileError : Error {
  using Error::Error;
};

}  // namespace mezzo
