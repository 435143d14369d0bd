#pragma once
#include <string>

namespace mezzo::detail {

/// A plug-in of the library: `lib<name>.so`, beside the library, in `../lib` or where the system looks for libraries.
struct Plugin {
  /// Symbols of the libraries that a plug-in brings along.
  enum class Symbols {
    global,  ///< serve libraries that are loaded later
    own      ///< serve the plug-in alone, also if the program has others of the same names
  };

  const char* name;      ///< "mezzo_mpi"
  const char* variable;  ///< environment variable with another path
  const char* function;  ///< its C function
  const char* needed;    ///< start of the error: who needs the plug-in, and where it is built
  Symbols symbols = Symbols::global;
};

/// Loads the plug-in and returns the address of its function. A FileError that starts with `where` if there is none.
void* load_plugin(const Plugin& plugin, const std::string& where);

}  // namespace mezzo::detail
