#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <mezzo/cli/commands.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/version.hpp>

namespace mezzo::cli {
namespace {

namespace fs = std::filesystem;

struct NotebookOptions {
  std::string python = "python3";
  std::string folder;
  bool check = true;
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): the command has one thread
  return value == nullptr ? "" : value;
}

/// Folder of the user's kernels, as Jupyter looks for them.
fs::path kernels_folder() {
  if (const std::string folder = environment("JUPYTER_DATA_DIR"); !folder.empty()) return fs::path(folder) / "kernels";
  const std::string data = environment("XDG_DATA_HOME");
  const fs::path home = data.empty() ? fs::path(environment("HOME")) / ".local/share" : fs::path(data);
  return home / "jupyter/kernels";
}

/// Folder of the library that this command uses.
fs::path library_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&mezzo::version), &info) == 0 || info.dli_fname == nullptr) {
    throw Error("the folder of libmezzo is unknown");
  }
  return fs::canonical(info.dli_fname).parent_path();
}

/// Text in single quotes for the shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

void require_packages(const std::string& python) {
  const std::string code =
      "import sys; from importlib.util import find_spec; sys.exit(not (find_spec('ROOT') and find_spec('ipykernel')))";
  const std::string command = fmt::format("{} -c {}", quoted(python), quoted(code));
  if (std::system(command.c_str()) == 0) return;  // NOLINT: one thread; the name is the user's own
  throw Error(
      fmt::format("{} must have the packages root and ipykernel: create an environment of Python 3.11, run `{} -m pip "
                  "install --pre "
                  "root==0.1a12 ipykernel` there, and pass its interpreter as --python",
                  python, python));
}

void install(const NotebookOptions& options) {
  const fs::path prefix = fs::canonical("/proc/self/exe").parent_path().parent_path();
  const fs::path package = prefix / "share/mezzo/kernel";
  if (!fs::exists(package / "mezzo_kernel/kernel.py")) {
    throw Error(fmt::format("{}: no such folder with the kernel's package; install mezzo first (cmake --install)",
                            package.string()));
  }
  if (options.check) require_packages(options.python);
  const fs::path folder = (options.folder.empty() ? kernels_folder() : fs::path(options.folder)) / "mezzo";
  const nlohmann::ordered_json spec{{"argv", {options.python, "-m", "mezzo_kernel", "-f", "{connection_file}"}},
                                    {"display_name", "C++17 (mezzo)"},
                                    {"language", "c++"},
                                    {"interrupt_mode", "signal"},
                                    {"env",
                                     {{"PYTHONPATH", package.string()},
                                      {"MEZZO_PREFIX", prefix.string()},
                                      {"MEZZO_LIBDIR", library_folder().string()}}}};
  fs::create_directories(folder);
  std::ofstream file(folder / "kernel.json");
  file << spec.dump(1) << "\n";
  file.close();
  if (!file) throw Error(fmt::format("{}: the file cannot be written", (folder / "kernel.json").string()));
  fmt::print("wrote {}\n", (folder / "kernel.json").string());
}

}  // namespace

void add_notebook(CLI::App& app) {
  CLI::App* notebook = app.add_subcommand("notebook", "Install the Jupyter kernel");
  notebook->require_subcommand(1);
  CLI::App* command = notebook->add_subcommand("install", "Write the kernelspec of the Jupyter kernel of mezzo");
  const auto options = std::make_shared<NotebookOptions>();
  command->add_option("--python", options->python, "Python 3.11 that has the packages root and ipykernel")
      ->capture_default_str();
  command->add_option("--kernels", options->folder, "Folder for the kernelspec; default: the user's Jupyter folder");
  command->add_flag("!--no-check", options->check, "Do not look for the packages");
  command->callback([options] { install(*options); });
}

}  // namespace mezzo::cli
