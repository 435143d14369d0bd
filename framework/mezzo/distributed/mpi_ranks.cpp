// Ranks that are processes of MPI, by the plug-in mezzo_mpi.
#include <mezzo/distributed/mpi_ranks.hpp>

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include <mezzo/core/fail.hpp>
#include <mezzo/distributed/communicator.hpp>
#include <mezzo/distributed/mpi/plugin.hpp>

namespace mezzo {
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
std::vector<std::string> plugin_files() {
  constexpr const char* name = "libmezzo_mpi.so";
  if (const char* given = std::getenv("MEZZO_MPI_PLUGIN"); given != nullptr) return {given};
  const std::filesystem::path folder = own_folder();
  return {(folder / name).string(), (folder / "../lib" / name).string(), name};
}

mpi_plugin::Open load_plugin() {
  std::string errors;
  for (const std::string& file : plugin_files()) {
    // Global: the parts of Open MPI that it loads itself look for the symbols of libmpi.
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
      errors += fmt::format("{}{}", errors.empty() ? "" : "; ", dlerror());
      continue;
    }
    void* const open = dlsym(library, "mezzo_mpi_open");
    if (open != nullptr) return reinterpret_cast<mpi_plugin::Open>(open);
    errors += fmt::format("{}{} has no function mezzo_mpi_open", errors.empty() ? "" : "; ", file);
  }
  fail<FileError>("[Communicator]",
                  "the strategy \"mpi\" needs the plug-in mezzo_mpi, which is built where CMake finds MPI, or its path "
                  "in MEZZO_MPI_PLUGIN; got: {}",
                  errors);
}

class MpiTransport final : public detail::Transport {
 public:
  MpiTransport() {
    std::array<char, 4000> error{};
    if (load_plugin()(&functions_, error.data(), error.size()) != 0) {
      mezzo::fail<RankError>("[Communicator]", "{}", error.data());
    }
    if (functions_.version != mpi_plugin::current_version) {
      mezzo::fail<FileError>("[Communicator]", "the plug-in mezzo_mpi must have version {}; got {}",
                             mpi_plugin::current_version, functions_.version);
    }
  }
  ~MpiTransport() override { functions_.close(); }

  int rank() const override { return functions_.rank; }
  int size() const override { return functions_.size; }
  int local_rank() const override { return functions_.local_rank; }
  int local_size() const override { return functions_.local_size; }

  void exchange(const std::vector<detail::RankMemory>& send, const std::vector<detail::RankMemory>& receive,
                const std::atomic<bool>& cancelled) override {
    const auto parts = [](const std::vector<detail::RankMemory>& all) {
      std::vector<mpi_plugin::Memory> out;
      for (const detail::RankMemory& one : all) out.push_back({one.data, one.bytes});
      return out;
    };
    const auto is_cancelled = [](const void* flag) {
      return static_cast<const std::atomic<bool>*>(flag)->load() ? 1 : 0;
    };
    std::array<char, 4000> error{};
    if (functions_.exchange(parts(send).data(), parts(receive).data(), is_cancelled, &cancelled, error.data(),
                            error.size()) != 0) {
      mezzo::fail<RankError>("[Communicator]", "{}", error.data());
    }
  }

  void fail(const std::string& reason) override { functions_.fail(reason.c_str()); }

 private:
  mpi_plugin::Functions functions_{};
};

}  // namespace

std::unique_ptr<detail::Transport> detail::open_mpi() { return std::make_unique<MpiTransport>(); }

std::shared_ptr<Communicator> Communicator::mpi() {
  static std::mutex mutex;
  static std::shared_ptr<Communicator> one;  // destroyed at the end of the process, which ends MPI
  const std::lock_guard<std::mutex> lock(mutex);
  if (!one) one = std::make_shared<Communicator>(detail::open_mpi);
  return one;
}

}  // namespace mezzo
