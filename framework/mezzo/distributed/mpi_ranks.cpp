// Ranks that are processes of MPI, by the plug-in mezzo_mpi.
#include <mezzo/distributed/mpi_ranks.hpp>

#include <array>
#include <mutex>

#include <mezzo/core/fail.hpp>
#include <mezzo/distributed/communicator.hpp>
#include <mezzo/distributed/mpi/plugin.hpp>

namespace mezzo {
namespace {

mpi_plugin::Open load_open() {
  return reinterpret_cast<mpi_plugin::Open>(detail::load_plugin(detail::plugin_of_mpi, "[Communicator]"));
}

class MpiTransport final : public detail::Transport {
 public:
  MpiTransport() {
    std::array<char, 4000> error{};
    if (load_open()(&functions_, error.data(), error.size()) != 0) {
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
