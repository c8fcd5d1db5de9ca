# What is tested of a build without programs (ASHLAR_PROGRAMS is off, as for Windows): what the client library is made of,
# and the recorded match. One ctest entry an executable: a start under an emulator takes as long as a hundred tests.
if(NOT ASHLAR_TESTS)
  return()
endif()
find_package(Catch2 CONFIG REQUIRED)
find_package(sodium REQUIRED)
find_package(zstd REQUIRED)
find_package(Python3 COMPONENTS Interpreter REQUIRED)

# ashlar_library_tests(NAME SOURCES FILE... LIBRARIES LIBRARY...)
function(ashlar_library_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(tests_${name} ${arg_SOURCES})
  target_link_libraries(tests_${name} PRIVATE ${arg_LIBRARIES} Catch2::Catch2WithMain)
  target_precompile_headers(tests_${name} PRIVATE catch.h <vector> <string> <algorithm>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(tests_${name} PRIVATE -Wno-array-bounds -Wno-restrict)  # its bug 105329
  endif()
  if(WIN32)
    target_link_options(tests_${name} PRIVATE LINKER:--stack,8388608)  # as much as Linux gives, not an eighth
  endif()
  add_test(NAME "library: ${name}" COMMAND tests_${name})
  set_tests_properties("library: ${name}" PROPERTIES TIMEOUT 1800)
endfunction()

set(here "${CMAKE_CURRENT_SOURCE_DIR}")
file(GLOB_RECURSE world_tests CONFIGURE_DEPENDS "${here}/world/*.cpp")
file(GLOB_RECURSE protocol_tests CONFIGURE_DEPENDS "${here}/protocol/*.cpp")
# A server for one player stands in for the real one; a link in simulated time is all that they have of the harness.
file(GLOB_RECURSE client_tests CONFIGURE_DEPENDS "${here}/client_sim/client/*.cpp")
ashlar_library_tests(world SOURCES ${world_tests} LIBRARIES ashlar::world)
ashlar_library_tests(protocol SOURCES ${protocol_tests} LIBRARIES ashlar::protocol sodium::sodium zstd::zstd)
ashlar_library_tests(client SOURCES ${client_tests} "${PROJECT_SOURCE_DIR}/client_sim/harness/link.cpp"
  LIBRARIES ashlar::client)
ashlar_library_tests(recorded_match SOURCES "${here}/integration/test_recorded_match.cpp"
  "${PROJECT_SOURCE_DIR}/client_sim/simulation/replay.cpp" LIBRARIES ashlar::protocol)

foreach(name stepped_world shapes capture)
  add_test(NAME "library: example ${name}" COMMAND example_${name})
endforeach()
# Over real sockets, against a server of another build.
set(ASHLAR_OWN_LOOP "" CACHE FILEPATH "example_own_loop of a build that runs here: clients play against it")
if(ASHLAR_OWN_LOOP)
  enable_language(C)
  add_executable(example_walk_square_c "${PROJECT_SOURCE_DIR}/client_sim/examples/walk_square.c")
  set_target_properties(example_walk_square_c PROPERTIES C_STANDARD 99)
  target_include_directories(example_walk_square_c PRIVATE "${PROJECT_SOURCE_DIR}/client_sim/c")
  target_link_libraries(example_walk_square_c PRIVATE ashlar_client_c)
  foreach(client "headless_client example" "walk_square square" "walk_square_c square_c")
    separate_arguments(client)
    list(GET client 0 program)
    list(GET client 1 player)
    set(words "ticks were not as foreseen")
    if(program STREQUAL "headless_client")
      set(words "ended at")
    endif()
    add_test(NAME "library: ${program} plays over sockets"
      COMMAND ${Python3_EXECUTABLE} "${here}/check_examples.py" "${ASHLAR_OWN_LOOP}" "$<TARGET_FILE:example_${program}>"
              "${player}" "${words}" ${CMAKE_CROSSCOMPILING_EMULATOR})
    set_tests_properties("library: ${program} plays over sockets" PROPERTIES TIMEOUT 120)
  endforeach()
endif()
