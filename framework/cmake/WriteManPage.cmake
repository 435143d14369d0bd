# cmake -D command=MEZZO -D page=FILE -D version=VERSION -P WriteManPage.cmake: writes the page for man of the command
# `mezzo`, from its help texts.

cmake_minimum_required(VERSION 3.22)

# Sets `out` to the text of `mezzo ARGN --help`, with the characters that roff would interpret escaped.
function(help_of out)
  execute_process(COMMAND "${command}" ${ARGN} --help OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

execute_process(COMMAND "${command}" --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "\nSubcommands:.*" commands "${help}")
string(REGEX MATCHALL "\n  [a-z][a-z_-]*" commands "${commands}")
list(TRANSFORM commands STRIP)

help_of(text)
set(lines ".TH MEZZO 1 \"\" \"mezzo ${version}\" \"User Commands\"
.SH NAME
mezzo \\- train neural networks, show the machine and its precisions
.SH SYNOPSIS
.B mezzo
[\\fIOPTIONS\\fR] [\\fICOMMAND\\fR] [\\fIARGUMENTS\\fR]
.SH DESCRIPTION
.nf
${text}
.fi
.SH COMMANDS
")
foreach(name IN LISTS commands)
  if(name STREQUAL "help")
    continue()
  endif()
  help_of(text ${name})
  string(APPEND lines ".SS \"mezzo ${name}\"\n.nf\n${text}\n.fi\n")
endforeach()
string(APPEND lines ".SH EXIT STATUS\n0 for success, 1 for an error, 2 for wrong arguments.\n")
file(WRITE "${page}" "${lines}")
