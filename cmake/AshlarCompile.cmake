# Compiler settings shared by every target, and ashlar_library(), which applies them.

# Of this project, which may be part of a larger one.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH ASHLAR_ROOT)

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_package(Threads REQUIRED)
include(GNUInstallDirs)

# Its own linker takes a tenth of the time that the system's takes over a sanitizer's programs.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT WIN32 AND NOT APPLE)
  find_program(ASHLAR_LLD NAMES ld.lld-19 ld.lld)
  if(ASHLAR_LLD)
    add_link_options("--ld-path=${ASHLAR_LLD}")
  endif()
endif()

find_program(ASHLAR_CCACHE ccache)
if(ASHLAR_CCACHE)
  # Precompiled headers are cached only when their defines and times are said not to matter.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_SLOPPINESS=pch_defines,time_macros"
    "${ASHLAR_CCACHE}")
endif()

# How our own sources are compiled: nothing of it reaches a project that links to us.
add_library(ashlar_compile INTERFACE)
target_compile_options(ashlar_compile INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Clang writes the times of headers into a precompiled one and refuses it in a checkout with other times.
  target_compile_options(ashlar_compile INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()
# Sources are compiled in batches (CMakePresets.json): a name in an unnamed namespace belongs to its whole library,
# and what one file calls so is not shadowed by another. The preset lint has no batches and looks at that.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # In a batch g++ takes sources for headers, and types that are theirs alone for leaks.
  target_compile_options(ashlar_compile INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage> -Wshadow=local)
elseif(CMAKE_UNITY_BUILD)
  target_compile_options(ashlar_compile INTERFACE -Wno-shadow)
endif()
if(ASHLAR_WERROR)
  target_compile_options(ashlar_compile INTERFACE -Werror)
endif()
if(ASHLAR_SANITIZE)
  target_compile_options(ashlar_compile INTERFACE
    "-fsanitize=${ASHLAR_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ashlar_compile INTERFACE "-fsanitize=${ASHLAR_SANITIZE}")
  if(ASHLAR_SANITIZE MATCHES "address" AND UNIX AND NOT APPLE)
    # Tests start the programs some thousand times: each time half a million addresses would be relocated, and what
    # nobody calls looked through for leaks at the end. That is a third of what a start takes.
    target_link_options(ashlar_compile INTERFACE -no-pie LINKER:--gc-sections)
  endif()
  if(ASHLAR_SANITIZE MATCHES "undefined")
    # A fifth of what compiling takes, for what the address sanitizer stops at as well (pointers to nothing, to no
    # longer anything, or beyond an object's end).
    target_compile_options(ashlar_compile INTERFACE
      -fno-sanitize=null,vptr,object-size,pointer-overflow,function)
  endif()
endif()

# ashlar_compile_quickly(TARGET...): where a sanitizer looks on, without optimisation, which takes a third of the time.
# For what waits most of its own: sockets, disks, settings, the harness around what is simulated; and for tests, which
# are mostly what a check expands to.
function(ashlar_compile_quickly)
  if(NOT ASHLAR_SANITIZE)
    return()
  endif()
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE -O0)
    set_target_properties(${target} PROPERTIES ASHLAR_QUICKLY YES)
  endforeach()
endfunction()

# ashlar_libraries_of(OUT TARGET): our libraries that it is linked with, also by way of others, without those that
# ashlar_compile_quickly() was told of.
function(ashlar_libraries_of out target)
  set(found "")
  get_target_property(linked ${target} LINK_LIBRARIES)
  list(FILTER linked INCLUDE REGEX "^ashlar::")
  foreach(library ${linked})
    ashlar_libraries_of(below ${library})
    list(APPEND found ${below})
    get_target_property(quickly ${library} ASHLAR_QUICKLY)
    if(NOT quickly)
      list(APPEND found ${library})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# ashlar_optimised_first(TARGET): of what several sources instantiate the linker takes the first. Where a sanitizer
# looks on, that is what the libraries have that are optimised.
function(ashlar_optimised_first target)
  if(NOT ASHLAR_SANITIZE)
    return()
  endif()
  ashlar_libraries_of(libraries ${target})
  set(archives "")
  foreach(library ${libraries})
    string(APPEND archives " $<TARGET_FILE:${library}>")
  endforeach()
  target_link_options(${target} PRIVATE "SHELL:-Wl,--whole-archive${archives} -Wl,--no-whole-archive")
endfunction()

# What tells a fuzzer where its inputs led, of libraries and fuzz targets.
set(ASHLAR_FUZZ_OPTIONS "")
if(ASHLAR_FUZZ STREQUAL "COUNTERS")
  set(ASHLAR_FUZZ_OPTIONS -fsanitize-coverage=inline-8bit-counters,pc-table)
elseif(ASHLAR_FUZZ)
  set(ASHLAR_FUZZ_OPTIONS -fsanitize=fuzzer-no-link)
endif()

# What half of the sources include anyhow. The preset lint reads without them, so that a missing include shows.
set(ashlar_precompiled <algorithm> <array> <chrono> <cmath> <cstdint> <expected> <functional> <memory> <optional>
  <span> <string> <string_view> <tuple> <vector>)

# ashlar_library(NAME [FOLDERS FOLDER...] [SOURCES FILE...] [WITHOUT NAME...]): every .cpp below the current folder, or
# below those of its folders that are named and beside them the files, becomes one static library, ashlar::NAME. Left
# out are main.cpp, examples, and the folders and files that it goes without.
function(ashlar_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS;SOURCES;WITHOUT")
  if(arg_FOLDERS)
    list(TRANSFORM arg_FOLDERS REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1/*.cpp" OUTPUT_VARIABLE patterns)
  else()
    set(patterns "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$|/examples/")
  foreach(left_out ${arg_WITHOUT})
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${left_out}(/|$)")
  endforeach()
  list(APPEND sources ${arg_SOURCES})
  add_library(ashlar_${name} STATIC ${sources})
  add_library(ashlar::${name} ALIAS ashlar_${name})
  set_target_properties(ashlar_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(ashlar_${name} PUBLIC cxx_std_23)
  target_include_directories(ashlar_${name} PUBLIC
    "$<BUILD_INTERFACE:${ASHLAR_ROOT}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ashlar>")
  # Fused multiply-add changes bits between processors and compilers: the simulation must not see it, and world's
  # headers are compiled into everything. Never -ffast-math, never -march.
  target_compile_options(ashlar_${name} PUBLIC -ffp-contract=off)
  target_compile_options(ashlar_${name} PRIVATE ${ASHLAR_FUZZ_OPTIONS})
  target_precompile_headers(ashlar_${name} PRIVATE ${ashlar_precompiled})
endfunction()

# ashlar_example(NAME LIBRARY...): a program of the folder examples, built and run with the tests; not with those of the
# thread sanitizer, which runs none of them.
function(ashlar_example name)
  if(NOT ASHLAR_TESTS OR ASHLAR_SANITIZE MATCHES "thread")
    return()
  endif()
  add_executable(example_${name} examples/${name}.cpp)
  target_link_libraries(example_${name} PRIVATE ${ARGN})
endfunction()
