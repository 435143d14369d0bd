#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/predictor/engine.hpp>

namespace mezzo::detail {

/// Joins calls of several threads along axis 0 and splits the outputs. One of the calling threads computes for all.
class MEZZO_API RequestJoiner {
 public:
  /// `sizes`: numbers of rows that are compiled, ascending; joined calls are filled up to the next one with copies of
  /// their last row. The largest one is the limit of joined calls. A call waits at most `delay` for others.
  RequestJoiner(Engine& engine, std::vector<std::int64_t> sizes, std::chrono::nanoseconds delay);

  /// Predicts, as Engine::run(). An error that another call causes does not reach this one.
  void run(const CallInputs& inputs, OutputReceiver& receiver);

 private:
  struct Request {
    CallInputs inputs;
    OutputReceiver& receiver;
    std::int64_t rows = 0;
    std::exception_ptr error{};
    bool done = false;
  };
  struct Group {
    std::vector<Request*> requests{};
    std::int64_t rows = 0;
    bool closed = false;  // takes no more calls
  };
  class Split;

  /// An open group that the request fits into; else a new one. Closes groups that it would overfill.
  std::shared_ptr<Group> group_of(Request& request, bool& leads);
  void close(Group& group);
  void compute(const std::vector<Request*>& requests);
  void compute_each(const std::vector<Request*>& requests);

  Engine& engine_;
  std::vector<std::int64_t> sizes_;
  std::chrono::nanoseconds delay_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Group>> open_;
};

}  // namespace mezzo::detail
