// The plug-in mezzo_mpi: messages between the ranks of MPI. It is linked only with MPI, not with mezzo.
#include "plugin.hpp"

#include <mpi.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

enum Tag : int { data_tag = 1, end_tag = 2 };

constexpr std::size_t most_text = 2000;                     // sent eagerly by all MPI libraries
constexpr std::size_t most_message = std::size_t{1} << 30;  // counts are ints

/// The ranks of this process's MPI.
struct Ranks {
  MPI_Comm world = MPI_COMM_NULL;
  int rank = 0, size = 1;
  bool failed = false, finalizes = false;
  std::vector<bool> ended;           // by rank
  std::vector<std::string> reasons;  // of failures; "": none, or the rank has left
};

Ranks& ranks() {
  static auto* const one = new Ranks;  // NOLINT(cppcoreguidelines-owning-memory): outlives all static objects
  return *one;
}

void write(char* to, std::size_t bytes, const std::string& text) { std::snprintf(to, bytes, "%s", text.c_str()); }

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

/// Keeps the short sleeps of this thread short: by default Linux adds 50 us.
void sleep_exactly() { prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); }

/// Gives other threads and ranks the processor: at once at first, then for longer.
class Pause {
 public:
  void operator()() {
    if (++count_ < 200) {
      sched_yield();
    } else {
      usleep(count_ < 2000 ? 20 : 200);
    }
  }

 private:
  int count_ = 0;
};

/// Receives the messages of ranks that have failed or left.
void read_ends() {
  Ranks& all = ranks();
  while (true) {
    int found = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, end_tag, all.world, &found, &status) != MPI_SUCCESS || found == 0) return;
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    std::string text(static_cast<std::size_t>(length), ' ');
    MPI_Recv(text.data(), length, MPI_CHAR, status.MPI_SOURCE, end_tag, all.world, MPI_STATUS_IGNORE);
    all.ended[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
    all.reasons[static_cast<std::size_t>(status.MPI_SOURCE)] = text;
  }
}

/// A rank that has failed, else one of `waited` that has left, else -1.
int missing(const std::vector<bool>& waited) {
  const Ranks& all = ranks();
  for (int i = 0; i < all.size; ++i) {
    if (!all.reasons[static_cast<std::size_t>(i)].empty()) return i;
  }
  for (int i = 0; i < all.size; ++i) {
    if (waited[static_cast<std::size_t>(i)] && all.ended[static_cast<std::size_t>(i)]) return i;
  }
  return -1;
}

std::string text_of_missing(int rank) {
  const Ranks& all = ranks();
  const std::string& reason = all.reasons[static_cast<std::size_t>(rank)];
  const std::string name = "rank " + std::to_string(rank);
  if (reason.empty()) return name + " has left while rank " + std::to_string(all.rank) + " waited for it";
  return name + " has failed: " + reason;
}

/// Messages under way, of one exchange.
struct Messages {
  struct Message {
    int rank;
    std::size_t bytes;
    bool receives;
  };
  std::vector<MPI_Request> requests;
  std::vector<Message> messages;

  void add(const mezzo::mpi_plugin::Memory& memory, int rank, bool receives) {
    std::size_t offset = 0;
    do {  // an empty message, too: all ranks wait for each other
      const std::size_t bytes = std::min(memory.bytes - offset, most_message);
      char* const data = static_cast<char*>(memory.data) + offset;
      requests.push_back(MPI_REQUEST_NULL);
      messages.push_back({rank, bytes, receives});
      const int count = static_cast<int>(bytes);
      if (receives) {
        MPI_Irecv(data, count, MPI_BYTE, rank, data_tag, ranks().world, &requests.back());
      } else {
        MPI_Isend(data, count, MPI_BYTE, rank, data_tag, ranks().world, &requests.back());
      }
      offset += bytes;
    } while (offset < memory.bytes);
  }

  /// True if all are done. Sets `error` for a message that failed or has another size.
  bool test(std::string& error) {
    bool all = true;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      int done = 0;
      MPI_Status status;
      const int code = MPI_Test(&requests[i], &done, &status);
      const Message& message = messages[i];
      const std::string name = "rank " + std::to_string(message.rank);
      if (code != MPI_SUCCESS) {
        int kind = 0;
        MPI_Error_class(code, &kind);
        error = kind == MPI_ERR_TRUNCATE ? name + " must send " + std::to_string(message.bytes) + " bytes to rank " +
                                               std::to_string(ranks().rank) + "; got more"
                                         : "the message of " + name + " failed: " + text_of(code);
        return true;
      }
      all = all && done != 0;
      if (done == 0 || !message.receives) continue;
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      if (static_cast<std::size_t>(count) == message.bytes) continue;
      error = name + " must send " + std::to_string(message.bytes) + " bytes to rank " + std::to_string(ranks().rank) +
              "; got " + std::to_string(count);
      return true;
    }
    return all;
  }

  /// Ranks whose messages have not arrived yet.
  std::vector<bool> waited() const {
    std::vector<bool> out(static_cast<std::size_t>(ranks().size), false);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i] != MPI_REQUEST_NULL) out[static_cast<std::size_t>(messages[i].rank)] = true;
    }
    return out;
  }
};

int exchange(const mezzo::mpi_plugin::Memory* send, const mezzo::mpi_plugin::Memory* receive,
             int (*cancelled)(const void*), const void* argument, char* error, std::size_t error_bytes) {
  Ranks& all = ranks();
  Messages messages;
  for (int step = 1; step < all.size; ++step) {
    const int from = (all.rank + all.size - step) % all.size, to = (all.rank + step) % all.size;
    messages.add(receive[from], from, true);
    messages.add(send[to], to, false);
  }
  if (receive[all.rank].bytes > 0 && receive[all.rank].data != send[all.rank].data) {
    std::memcpy(receive[all.rank].data, send[all.rank].data, receive[all.rank].bytes);
  }
  std::string text;
  Pause pause;
  while (!messages.test(text)) {
    read_ends();
    const int rank = missing(messages.waited());
    if (rank >= 0) {
      if (messages.test(text)) break;  // its last message came before its end
      if (text.empty()) text = text_of_missing(rank);
      break;
    }
    if (cancelled(argument) != 0) {
      text = "rank " + std::to_string(all.rank) + " has failed";
      break;
    }
    pause();
  }
  if (text.empty()) return 0;
  all.failed = true;
  write(error, error_bytes, text);
  return 1;
}

/// Sends an end to all others, and waits until it is under way.
void send_end(const std::string& text) {
  Ranks& all = ranks();
  static auto* const kept = new std::string;  // NOLINT(cppcoreguidelines-owning-memory): outlives such messages
  std::string& sent = *kept;
  sent = text.substr(0, most_text);
  std::vector<MPI_Request> requests;
  for (int rank = 0; rank < all.size; ++rank) {
    if (rank == all.rank) continue;
    requests.push_back(MPI_REQUEST_NULL);
    MPI_Isend(sent.data(), static_cast<int>(sent.size()), MPI_CHAR, rank, end_tag, all.world, &requests.back());
  }
  Pause pause;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(5);
  int done = 0;
  while (done == 0 && Clock::now() < end) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done == 0) pause();
  }
}

void fail_all(const char* reason) {
  ranks().failed = true;
  send_end(reason[0] == '\0' ? "unknown" : reason);
}

void close_ranks() {
  Ranks& all = ranks();
  if (!all.failed) {
    send_end("");
    all.ended[static_cast<std::size_t>(all.rank)] = true;
    Pause pause;
    while (!std::all_of(all.ended.begin(), all.ended.end(), [](bool one) { return one; })) {
      read_ends();
      pause();
    }
    all.failed = missing(std::vector<bool>(all.ended.size(), false)) >= 0;
  }
  if (all.failed) {
    // The others have the reason. MPI_Finalize would wait for processes that have ended.
    std::fflush(nullptr);
    usleep(500000);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Comm_free(&all.world);
  if (all.finalizes) MPI_Finalize();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int mezzo_mpi_open(mezzo::mpi_plugin::Functions* functions,
                                                                     char* error, size_t error_bytes) {
  sleep_exactly();
  Ranks& all = ranks();
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0) {
    write(error, error_bytes, "MPI must not be finalized before a training");
    return 1;
  }
  if (initialized == 0) {
    // One thread makes all calls, this one: no MPI library has to lock anything.
    int provided = 0;
    const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    if (code != MPI_SUCCESS || provided < MPI_THREAD_FUNNELED) {
      write(error, error_bytes, "MPI_Init_thread failed: " + text_of(code));
      return 1;
    }
    all.finalizes = true;
  } else {
    int provided = 0;
    MPI_Query_thread(&provided);
    if (provided < MPI_THREAD_SERIALIZED) {
      write(error, error_bytes,
            "a program that starts MPI itself must request MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE; got less");
      return 1;
    }
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &all.world);
  MPI_Comm_set_errhandler(all.world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(all.world, &all.rank);
  MPI_Comm_size(all.world, &all.size);
  all.ended.assign(static_cast<std::size_t>(all.size), false);
  all.reasons.assign(static_cast<std::size_t>(all.size), "");
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(all.world, MPI_COMM_TYPE_SHARED, all.rank, MPI_INFO_NULL, &node);
  functions->version = mezzo::mpi_plugin::current_version;
  functions->rank = all.rank;
  functions->size = all.size;
  MPI_Comm_rank(node, &functions->local_rank);
  MPI_Comm_size(node, &functions->local_size);
  MPI_Comm_free(&node);
  functions->exchange = exchange;
  functions->fail = fail_all;
  functions->close = close_ranks;
  return 0;
}
