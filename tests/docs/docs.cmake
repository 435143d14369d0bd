# Every C++ block of README.md and docs is compiled into the program mezzo_docs; the test docs.<page> runs those of a page.
# A page is named by its path in docs, with _ in place of /; README.md of the tree is top_README.
if(Python3_FOUND AND "docs/" MATCHES "${MEZZO_TEST_FOLDERS}")
  set(docs "${CMAKE_CURRENT_LIST_DIR}")
  set(docs_output "${CMAKE_CURRENT_BINARY_DIR}/docs")
  file(GLOB_RECURSE docs_pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/*.md")
  list(PREPEND docs_pages "${PROJECT_SOURCE_DIR}/README.md")
  set(docs_names)
  set(docs_sources)
  foreach(page IN LISTS docs_pages)
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${page}")
    string(REGEX REPLACE "^README" "docs/top_README" name "${name}")
    string(REGEX REPLACE "^docs/(.*)\\.md$" "\\1" name "${name}")
    string(REPLACE "/" "_" name "${name}")
    list(APPEND docs_names "${name}")
    list(APPEND docs_sources "${docs_output}/${name}.cpp")
  endforeach()
  add_custom_command(OUTPUT ${docs_sources}
    COMMAND Python3::Interpreter "${docs}/blocks.py" "${PROJECT_SOURCE_DIR}" "${docs_output}"
    DEPENDS "${docs}/blocks.py" ${docs_pages} VERBATIM COMMENT "")
  add_executable(mezzo_docs "${docs}/main.cpp" ${docs_sources})
  mezzo_test_options(mezzo_docs)
  target_link_libraries(mezzo_docs PRIVATE mezzo_onnx_internal)
  target_compile_options(mezzo_docs PRIVATE -w)  # blocks show calls without a use of their results
  target_precompile_headers(mezzo_docs REUSE_FROM mezzo_test_headers)
  # Reading the precompiled headers takes longer than most pages.
  set_target_properties(mezzo_docs PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  foreach(page name IN ZIP_LISTS docs_pages docs_names)
    file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${page}")
    add_test(NAME docs.${name} COMMAND mezzo_docs ${path})
    set_tests_properties(docs.${name} PROPERTIES TIMEOUT 600 LABELS docs)
  endforeach()
  add_test(NAME docs.self COMMAND Python3::Interpreter -m unittest discover --start-directory "${docs}")
endif()
