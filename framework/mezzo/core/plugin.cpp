#include <mezzo/core/plugin.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

/// The folder of the file that has this code: of libmezzo.so, or of the program.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  const auto file = std::filesystem::canonical(info.dli_fname, error);
  return error ? std::filesystem::path() : file.parent_path();
}

/// Files that may be the plug-in, in the order in which they are tried.
std::vector<std::string> files_of(const Plugin& plugin) {
  if (const char* given = std::getenv(plugin.variable); given != nullptr) return {given};
  const std::string name = std::string("lib") + plugin.name + ".so";
  const std::filesystem::path folder = own_folder();
  return {(folder / name).string(), (folder / "../lib" / name).string(), name};
}

/// True in a program with a sanitizer's runtime, which ends the program at RTLD_DEEPBIND.
bool has_sanitizer() {
  return dlsym(RTLD_DEFAULT, "__asan_init") != nullptr || dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr ||
         dlsym(RTLD_DEFAULT, "__msan_init") != nullptr;
}

int flags_of(const Plugin& plugin) {
  if (plugin.symbols == Plugin::Symbols::global) return RTLD_NOW | RTLD_GLOBAL;
  return RTLD_NOW | RTLD_LOCAL | (has_sanitizer() ? 0 : RTLD_DEEPBIND);
}

}  // namespace

void* load_plugin(const Plugin& plugin, const std::string& where) {
  std::string errors;
  for (const std::string& file : files_of(plugin)) {
    void* const library = dlopen(file.c_str(), flags_of(plugin));
    if (library == nullptr) {
      errors += fmt::format("{}{}", errors.empty() ? "" : "; ", dlerror());
      continue;
    }
    void* const function = dlsym(library, plugin.function);
    if (function != nullptr) return function;
    errors += fmt::format("{}{} has no function {}", errors.empty() ? "" : "; ", file, plugin.function);
  }
  fail<FileError>(where, "{}, or its path in {}; got: {}", plugin.needed, plugin.variable, errors);
}

}  // namespace mezzo::detail
