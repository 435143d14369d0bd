#include <mezzo/training/predictor/request_joiner.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

std::int64_t rows_of(const Tensor& tensor) { return tensor.shape().front(); }

std::size_t bytes_of_row(const Shape& shape, std::size_t bytes) {
  return bytes / static_cast<std::size_t>(std::max<std::int64_t>(shape.front(), 1));
}

/// True if the inputs of two calls differ in their number of rows at most.
bool joins(const CallInputs& a, const CallInputs& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& x, const Tensor& y) {
    return x.dtype() == y.dtype() &&
           std::equal(x.shape().begin() + 1, x.shape().end(), y.shape().begin() + 1, y.shape().end());
  });
}

/// The input `i` of all calls in one array of `rows` rows.
template <class Requests>
Tensor joined(const Requests& requests, std::size_t i, std::int64_t rows) {
  const Tensor& pattern = requests.front()->inputs.first[i];
  Shape shape = pattern.shape();
  shape.front() = rows;
  Tensor all = Tensor::uninitialized(std::move(shape), pattern.dtype());
  const std::size_t row = bytes_of_row(all.shape(), all.bytes());
  auto* out = static_cast<unsigned char*>(all.mutable_raw());
  const unsigned char* const end = out + all.bytes();
  for (const auto* request : requests) {
    const Tensor& part = request->inputs.first[i];
    std::memcpy(out, part.raw(), part.bytes());
    out += part.bytes();
  }
  for (; out < end; out += row) std::memcpy(out, out - row, row);
  return all;
}

}  // namespace

/// Passes each request its rows of the outputs.
class RequestJoiner::Split final : public OutputReceiver {
 public:
  Split(const std::vector<Request*>& requests, std::int64_t rows) : requests_(requests), rows_(rows) {}

  void receive(const std::vector<Spec>& outputs, const void* const* addresses) override {
    for (const Spec& output : outputs) {
      if (!output.shape.empty() && output.shape.front() == rows_) continue;
      fail<ShapeError>("[Predictor]", "max_batch_size needs outputs with a row for each row of the inputs, {}; got {}",
                       rows_, to_string(output));
    }
    std::int64_t first = 0;
    std::vector<Spec> specs = outputs;
    std::vector<const void*> parts(outputs.size());
    for (Request* request : requests_) {
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        const std::size_t row = bytes_of_row(outputs[i].shape, bytes_of(outputs[i]));
        specs[i].shape.front() = request->rows;
        parts[i] = static_cast<const unsigned char*>(addresses[i]) + static_cast<std::size_t>(first) * row;
      }
      first += request->rows;
      try {
        request->receiver.receive(specs, parts.data());
      } catch (...) {
        request->error = std::current_exception();
      }
    }
  }

 private:
  const std::vector<Request*>& requests_;
  std::int64_t rows_;
};

RequestJoiner::RequestJoiner(Engine& engine, std::vector<std::int64_t> sizes, std::chrono::nanoseconds delay)
    : engine_(engine), sizes_(std::move(sizes)), delay_(delay) {}

void RequestJoiner::close(Group& group) {
  group.closed = true;
  open_.erase(std::remove_if(open_.begin(), open_.end(), [&](const auto& one) { return one.get() == &group; }),
              open_.end());
  changed_.notify_all();
}

std::shared_ptr<RequestJoiner::Group> RequestJoiner::group_of(Request& request, bool& leads) {
  leads = false;
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const auto& group) {
    return joins(group->requests.front()->inputs, request.inputs);
  });
  std::shared_ptr<Group> group = found == open_.end() ? nullptr : *found;
  if (group && group->rows + request.rows > sizes_.back()) {
    close(*group);
    group = nullptr;
  }
  if (!group) {
    leads = true;
    group = open_.emplace_back(std::make_shared<Group>());
  }
  group->requests.push_back(&request);
  group->rows += request.rows;
  if (group->rows == sizes_.back()) close(*group);
  return group;
}

void RequestJoiner::run(const CallInputs& inputs, OutputReceiver& receiver) {
  Request request{.inputs = inputs, .receiver = receiver, .rows = rows_of(*inputs.first)};
  if (request.rows > sizes_.back()) return engine_.run(inputs, receiver);
  std::unique_lock<std::mutex> lock(mutex_);
  bool leads = false;
  const std::shared_ptr<Group> group = group_of(request, leads);
  if (leads) {
    changed_.wait_for(lock, delay_, [&] { return group->closed; });
    if (!group->closed) close(*group);
    lock.unlock();
    compute_each(group->requests);
    lock.lock();
    for (Request* one : group->requests) one->done = true;
    changed_.notify_all();
  } else {
    changed_.wait(lock, [&] { return request.done; });
  }
  if (request.error) std::rethrow_exception(request.error);
}

void RequestJoiner::compute_each(const std::vector<Request*>& requests) {
  const auto computed = [&](const std::vector<Request*>& some) {
    try {
      compute(some);
    } catch (...) {
      if (some.size() == 1) some.front()->error = std::current_exception();
      return false;
    }
    return true;
  };
  if (computed(requests) || requests.size() == 1) return;
  for (Request* request : requests) computed({request});  // the error is that of one of them
}

void RequestJoiner::compute(const std::vector<Request*>& requests) {
  std::int64_t rows = 0;
  for (const Request* request : requests) rows += request->rows;
  const std::int64_t size = *std::lower_bound(sizes_.begin(), sizes_.end(), rows);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < requests.front()->inputs.count; ++i) inputs.push_back(joined(requests, i, size));
  Split split(requests, size);
  engine_.run({inputs.data(), inputs.size()}, split);
}

}  // namespace mezzo::detail
