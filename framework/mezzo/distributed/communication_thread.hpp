#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <mezzo/distributed/transport.hpp>

namespace mezzo::detail {

/// Result of an operation.
class Completion {
 public:
  void set(std::exception_ptr error);
  void wait();
  bool done();
  std::chrono::steady_clock::time_point end();  ///< time of set()

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::chrono::steady_clock::time_point end_;
  std::exception_ptr error_;
};

/// The thread that makes a transport and runs its operations in order. After an error all operations fail with it.
class CommunicationThread {
 public:
  explicit CommunicationThread(const std::function<std::unique_ptr<Transport>()>& make);
  ~CommunicationThread();
  CommunicationThread(const CommunicationThread&) = delete;
  CommunicationThread& operator=(const CommunicationThread&) = delete;

  const Transport& transport() const { return *transport_; }
  std::shared_ptr<Completion> start(std::function<void(Transport&)> operation, bool tells = false);
  void fail(const std::string& reason);
  const std::atomic<bool>& cancelled() const { return cancelled_; }

 private:
  struct Task {
    std::function<void(Transport&)> operation;
    std::shared_ptr<Completion> completion;
    bool tells = false;  // the task of fail()
  };
  void run(const std::function<std::unique_ptr<Transport>()>& make, Completion& made);
  void run_task(Task& task);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool ends_ = false;
  std::atomic<bool> cancelled_{false};
  std::exception_ptr failure_;  // of the thread alone
  std::unique_ptr<Transport> transport_;
  std::thread thread_;
};

}  // namespace mezzo::detail
