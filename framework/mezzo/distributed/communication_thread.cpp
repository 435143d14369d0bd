#include <mezzo/distributed/communication_thread.hpp>

#include <utility>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

void Completion::set(std::exception_ptr error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  error_ = std::move(error);
  end_ = std::chrono::steady_clock::now();
  done_ = true;
  changed_.notify_all();
}

void Completion::wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return done_; });
  if (error_) std::rethrow_exception(error_);
}

bool Completion::done() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return done_;
}

std::chrono::steady_clock::time_point Completion::end() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return end_;
}

CommunicationThread::CommunicationThread(const std::function<std::unique_ptr<Transport>()>& make) {
  Completion made;
  thread_ = std::thread([&] { run(make, made); });
  try {
    made.wait();
  } catch (...) {
    thread_.join();
    throw;
  }
}

CommunicationThread::~CommunicationThread() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void CommunicationThread::run(const std::function<std::unique_ptr<Transport>()>& make, Completion& made) {
  try {
    transport_ = make();
  } catch (...) {
    made.set(std::current_exception());
    return;
  }
  made.set(nullptr);  // `make` and `made` end with it
  while (true) {
    Task task;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
      if (tasks_.empty()) break;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    run_task(task);
  }
  transport_.reset();  // on the thread that has made it
}

void CommunicationThread::run_task(Task& task) {
  std::exception_ptr error = failure_;
  if (!error) {
    try {
      task.operation(*transport_);
    } catch (...) {
      error = std::current_exception();
    }
    if (task.tells || !cancelled_) failure_ = error;  // else fail() follows, with the reason
  }
  task.operation = nullptr;
  task.completion->set(error);
}

std::shared_ptr<Completion> CommunicationThread::start(std::function<void(Transport&)> operation, bool tells) {
  auto completion = std::make_shared<Completion>();
  const std::lock_guard<std::mutex> lock(mutex_);
  tasks_.push_back({std::move(operation), completion, tells});
  changed_.notify_all();
  return completion;
}

void CommunicationThread::fail(const std::string& reason) {
  cancelled_ = true;  // ends an operation that waits
  const auto told = start(
      [reason](Transport& transport) {
        transport.fail(reason);
        mezzo::fail<RankError>("[Communicator]", "rank {} has failed: {}", transport.rank(), reason);
      },
      true);
  try {
    told->wait();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the error of later operations
  }
}

}  // namespace mezzo::detail
