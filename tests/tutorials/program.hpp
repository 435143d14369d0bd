#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/folder.hpp"

// What a program of tutorials/ does with some arguments.
namespace mezzo_tests {

struct Outcome {
  int code = -1;
  std::string out, err;
};

inline std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// `folder` takes what it prints.
inline Outcome run_program(const std::string& program, const Folder& folder,
                           const std::vector<std::string>& arguments) {
  std::string command = "'" + program + "'";
  for (const std::string& argument : arguments) command += " '" + argument + "'";
  const std::string out = folder.path("stdout");
  const std::string err = folder.path("stderr");
  const int status = std::system((command + " >'" + out + "' 2>'" + err + "'").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out), text_of(err)};
}

}  // namespace mezzo_tests
