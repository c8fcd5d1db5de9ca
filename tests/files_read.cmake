# Tests that read files of this checkout, each by a definition of its own, so that they share no precompiled header.
# ashlar_tests_that_read(DEFINITION FILE SOURCE...): sources from here on, and what they find the file by.
function(ashlar_tests_that_read definition file)
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_DEFINITIONS "${definition}=\"${file}\"" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# The examples of the page that they are about.
ashlar_tests_that_read(ASHLAR_WIRE_MD "${PROJECT_SOURCE_DIR}/protocol/WIRE.md" protocol/test_wire.cpp
  protocol/test_wire_packets.cpp protocol/test_wire_examples.cpp protocol/wire_examples.cpp
  protocol/snapshot/test_wire_packed.cpp protocol/snapshot/test_coded_blocks.cpp)
ashlar_tests_that_read(ASHLAR_KNOWN_ANSWERS "${CMAKE_CURRENT_SOURCE_DIR}/protocol/secure/known_answers.txt"
  protocol/secure/test_known_answers.cpp)
ashlar_tests_that_read(ASHLAR_TESTS_DIR "${CMAKE_CURRENT_SOURCE_DIR}" integration/test_recorded_match.cpp)
