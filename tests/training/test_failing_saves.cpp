// Saves in fit of which one system call fails.
#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <mezzo/io/file_calls.hpp>
#include <mezzo/io/file_replacement.hpp>

#include "small.hpp"
#include "support/folder.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Replaces the calls of saves: counts them, and lets one of them fail.
class FailingCall {
 public:
  enum class Failure { error, short_write };

  /// Call number `number`, from 0; -1: none fails.
  FailingCall(int number, int error, Failure failure = Failure::error)
      : number_(number), error_(error), failure_(failure), before_(detail::file_calls()) {
    detail::FileCalls& calls = detail::file_calls();
    const detail::FileCalls& real = before_;
    calls.openat = [this, &real](int folder, const char* path, int flags, mode_t mode) {
      return fails("openat") ? -1 : real.openat(folder, path, flags, mode);
    };
    calls.write = [this, &real](int file, const void* from, std::size_t count) -> ssize_t {
      if (!fails("write")) return real.write(file, from, count);
      if (failure_ == Failure::error || count < 2) return -1;
      --seen_;  // the rest of the bytes fails
      failure_ = Failure::error;
      return real.write(file, from, count / 2);
    };
    calls.fsync = [this, &real](int file) { return fails("fsync") ? -1 : real.fsync(file); };
    calls.close = [this, &real](int file) {
      const bool failing = fails("close");
      const int result = real.close(file);
      errno = failing ? error_ : errno;
      return failing ? -1 : result;
    };
    calls.renameat = [this, &real](int from_folder, const char* from, int to_folder, const char* to) {
      return fails("renameat") ? -1 : real.renameat(from_folder, from, to_folder, to);
    };
    calls.symlinkat = [this, &real](const char* target, int folder, const char* name) {
      return fails("symlinkat") ? -1 : real.symlinkat(target, folder, name);
    };
    calls.linkat = [this, &real](int from_folder, const char* from, int to_folder, const char* to, int flags) {
      return fails("linkat") ? -1 : real.linkat(from_folder, from, to_folder, to, flags);
    };
  }
  ~FailingCall() { detail::file_calls() = before_; }
  FailingCall(const FailingCall&) = delete;
  FailingCall& operator=(const FailingCall&) = delete;

  int seen() const { return seen_; }
  const std::string& failed() const { return failed_; }

 private:
  bool fails(const char* call) {
    if (seen_++ != number_) return false;
    failed_ = call;
    errno = error_;
    return true;
  }

  int number_, error_;
  Failure failure_;
  int seen_ = 0;
  std::string failed_;
  const detail::FileCalls before_;
};

struct SavedLine {
  explicit SavedLine(const Folder& where) : folder(where.path("c")) {}

  Trainer trainer(int epochs) {
    callback = ModelCheckpoint({.dirpath = folder, .save_last = "link", .save_top_k = 1});
    return Trainer({.max_epochs = epochs, .callbacks = {callback}, .enable_progress_bar = false});
  }
  static DataLoader data() { return DataLoader(pairs({1, 2, 3, 4}, {2, 4, 6, 8}), {.batch_size = 2}); }

  std::string folder;
  Sequential model = [] {
    Sequential made = line(0.5);
    made.compile({.optimizer = Adam({.learning_rate = 0.05}), .loss = "mse"});
    return made;
  }();
  ModelCheckpoint callback{TopKCheckpointOptions()};
};

std::string names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  std::string out;
  for (const std::string& name : names) out += name + " ";
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(failing_saves)

BOOST_AUTO_TEST_CASE(each_call_of_a_save_may_fail) {
  int first_save = 0, both = 0;
  {
    const Folder folder;
    SavedLine line(folder);
    const FailingCall counter(-1, 0);
    line.trainer(1).fit(line.model, SavedLine::data());
    first_save = counter.seen();
  }
  {
    const Folder folder;
    SavedLine line(folder);
    const FailingCall counter(-1, 0);
    line.trainer(2).fit(line.model, SavedLine::data());
    both = counter.seen();
  }
  BOOST_TEST(first_save >= 9);  // openat twice, three writes, fsync, close, renameat, fsync, and a link
  BOOST_TEST(both > first_save);
  std::string failed;
  for (int call = first_save; call < both; ++call) {
    for (const auto& [error, failure] :
         {std::pair(EIO, FailingCall::Failure::error), std::pair(ENOSPC, FailingCall::Failure::error),
          std::pair(ENOSPC, FailingCall::Failure::short_write)}) {
      const Folder folder;
      SavedLine line(folder), resumed(folder);
      std::string text, name;
      {
        const FailingCall failing(call, error, failure);
        text = refused<FileError>([&] { line.trainer(4).fit(line.model, SavedLine::data()); });
        name = failing.failed();
      }
      if (failed.find(name) == std::string::npos) failed += name + " ";
      BOOST_TEST_CONTEXT("call " << call << " " << name << " " << std::strerror(error)) {
        BOOST_TEST(text.find(folder.path("c")) != std::string::npos, text);
        BOOST_TEST(text.find(std::strerror(error)) != std::string::npos, text);
        const std::string names = names_in(line.folder);
        BOOST_TEST(names.find(".mezzo-") == std::string::npos, names);
        const std::string last = line.callback.best_model_path();
        BOOST_TEST(std::filesystem::exists(last), last << " of " << names);
        const History rest = resumed.trainer(3).fit(resumed.model, SavedLine::data(), {}, {.ckpt_path = "last"});
        BOOST_TEST((rest.epoch.front() == 1 || rest.epoch.front() == 2));
      }
    }
  }
  for (const char* call : {"openat", "write", "fsync", "close", "renameat", "symlinkat"}) {
    BOOST_TEST(failed.find(call) != std::string::npos, call << " of " << failed);
  }
}

// The last two backups: one of them is whole after any failed call, and the training goes on from it.
BOOST_AUTO_TEST_CASE(each_call_of_a_backup_may_fail) {
  const auto backup = [](const Folder& folder) {
    return BackupAndRestore(folder.path("b"), {.double_checkpoint = true, .delete_checkpoint = false});
  };
  const auto fit = [&](const Folder& folder, Sequential& model, int epochs) {
    return Trainer({.max_epochs = epochs, .callbacks = {backup(folder)}, .enable_progress_bar = false})
        .fit(model, SavedLine::data());
  };
  const auto calls_of = [&](int epochs) {
    const Folder folder;
    SavedLine line(folder);
    const FailingCall counter(-1, 0);
    fit(folder, line.model, epochs);
    return counter.seen();
  };
  std::string failed;
  for (int call = calls_of(1), end = calls_of(3); call < end; ++call) {
    const Folder folder;
    SavedLine line(folder), resumed(folder);
    std::string text, name;
    {
      const FailingCall failing(call, EIO);
      text = refused<FileError>([&] { fit(folder, line.model, 4); });
      name = failing.failed();
    }
    if (failed.find(name) == std::string::npos) failed += name + " ";
    BOOST_TEST_CONTEXT("call " << call << " " << name) {
      BOOST_TEST(text.find(std::strerror(EIO)) != std::string::npos, text);
      const std::string names = names_in(folder.path("b"));
      BOOST_TEST(names.find(".mezzo-") == std::string::npos, names);
      const int first = fit(folder, resumed.model, 4).epoch.front();
      BOOST_TEST((first == 1 || first == 2 || first == 3));
    }
  }
  for (const char* call : {"openat", "linkat", "renameat"}) {
    BOOST_TEST(failed.find(call) != std::string::npos, call << " of " << failed);
  }
}

BOOST_AUTO_TEST_CASE(a_backup_is_kept_without_a_copy) {
  namespace fs = std::filesystem;
  const Folder folder;
  SavedLine line(folder);
  class Links : public Callback {
   public:
    Links(std::string path, bool* shared) : path_(std::move(path)), shared_(shared) {}
    bool saves() const override { return true; }  // its hooks follow those of the backup, and see its result
    void on_epoch_end(int epoch, Logs&) override {
      if (epoch == 0) fs::create_hard_link(path_, path_ + ".first");
      if (epoch == 1) *shared_ = fs::equivalent(path_ + ".first", path_ + ".bkp");
    }

   private:
    std::string path_;
    bool* shared_;
  };
  bool shared = false;
  Trainer({.max_epochs = 2,
           .callbacks = {BackupAndRestore(folder.path("b"), {.double_checkpoint = true, .delete_checkpoint = false}),
                         Links(folder.path("b") + "/latest.safetensors", &shared)},
           .enable_progress_bar = false})
      .fit(line.model, SavedLine::data());
  BOOST_TEST(shared);
}

BOOST_AUTO_TEST_CASE(without_hard_links_a_backup_is_renamed) {
  const Folder folder;
  const std::string latest = folder.path("latest"), before = folder.path("before");
  const auto write = [](const std::string& path, const char* text) { std::ofstream(path) << text; };
  const auto read = [](const std::string& path) {
    std::string text;
    std::ifstream(path) >> text;
    return text;
  };
  write(latest, "new");
  write(before, "old");
  {
    const FailingCall failing(1, EPERM);  // after openat of the folder
    detail::keep_generation(latest, before, "[Test]");
    BOOST_TEST(failing.failed() == "linkat");
  }
  BOOST_TEST(!std::filesystem::exists(latest));
  BOOST_TEST(read(before) == "new");
  write(latest, "newer");
  detail::keep_generation(latest, before, "[Test]");
  detail::keep_generation(latest, before, "[Test]");  // the same file
  BOOST_TEST(read(latest) == "newer");
  BOOST_TEST(read(before) == "newer");
  BOOST_TEST(names_in(folder.path("")) == "before latest ");
  BOOST_TEST(refused<FileError>([&] { detail::keep_generation(folder.path("none"), before, "[Test]"); }) ==
             "[Test] \"" + folder.path("none") + "\" can't be kept as \"" + before + "\": No such file or directory");
}

BOOST_AUTO_TEST_CASE(a_failed_save_ends_the_training_but_not_the_model) {
  const Folder folder;
  SavedLine line(folder), whole(folder);
  {
    const FailingCall failing(4, ENOSPC);
    BOOST_TEST(!refused<FileError>([&] { line.trainer(3).fit(line.model, SavedLine::data()); }).empty());
  }
  Trainer({.max_epochs = 1, .enable_progress_bar = false}).fit(whole.model, SavedLine::data());
  BOOST_TEST(weight_of(line.model) == weight_of(whole.model));  // after one epoch
  line.trainer(1).fit(line.model, SavedLine::data());
  BOOST_TEST(std::filesystem::exists(line.callback.best_model_path()));
}

BOOST_AUTO_TEST_SUITE_END()
