#!/usr/bin/env bash
# Builds what the client library needs of others for Windows, from the distribution's own sources: libsodium, zstd and
# Catch2 (of others only headers are used). Everything lies below build/windows-libraries; the system is left as it is.
# What is there is not built again. usage: cmake/windows/libraries.sh [FUNCTION OF THIS FILE [ARGUMENT...]]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly root folder=$root/build/windows-libraries toolchain=$root/cmake/windows/toolchain.cmake
readonly prefix=$folder/prefix host=x86_64-w64-mingw32

# fetch PACKAGE: its sources, unpacked into sources/PACKAGE. apt's own settings know no sources, so it gets others.
fetch() {
  local package=$1 lists=$folder/apt
  [ ! -d "$folder/sources/$package" ] || return 0
  mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial" "$folder/download" "$folder/sources"
  if [ ! -f "$lists/apt.conf" ]; then
    write_apt_settings "$lists"
    APT_CONFIG=$lists/apt.conf apt-get update
  fi
  (cd "$folder/download" && APT_CONFIG=$lists/apt.conf apt-get source --download-only "$package")
  dpkg-source --no-check -x "$folder/download/${package}"_*.dsc "$folder/sources/$package"
}

# write_apt_settings FOLDER: the release's sources from where its packages come, whoever runs this.
write_apt_settings() {
  local release mirror
  # shellcheck source=/dev/null
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # shellcheck disable=SC2016  # a word of apt's
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian}" \
    "$release main" >"$1/sources.list"
  cat >"$1/apt.conf" <<APT
Dir::Etc::SourceList "$1/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$1/lists";
Dir::Cache "$1/cache";
APT::Sandbox::User "";
APT
}

build_sodium() {
  fetch libsodium
  (cd "$folder/sources/libsodium" && autoreconf -ivf)
  mkdir -p "$folder/made/sodium"
  cd "$folder/made/sodium"
  "$folder/sources/libsodium/configure" --host=$host --prefix="$prefix" --disable-shared --enable-static \
    --disable-ssp CFLAGS='-O2'
  make -j "$(nproc)"
  make install
}

# cmake_library PACKAGE FOLDER [OPTION...]
cmake_library() {
  local package=$1 below=$2
  shift 2
  fetch "$package"
  cmake -G Ninja -S "$folder/sources/$package/$below" -B "$folder/made/$package" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DCMAKE_INSTALL_PREFIX="$prefix" "$@"
  cmake --build "$folder/made/$package"
  cmake --install "$folder/made/$package"
}

# Of these only headers are used, and they are the same everywhere; those of FlatBuffers belong to this system's flatc.
stage_headers() {
  local package=$prefix/lib/cmake/flatbuffers
  mkdir -p "$prefix/include" "$package"
  cp -r /usr/include/flatbuffers /usr/include/toml++ /usr/include/tiny_obj_loader.h "$prefix/include/"
  cat >"$package/FlatBuffersConfig.cmake" <<'CMAKE'
if(NOT TARGET flatbuffers::flatbuffers)
  add_library(flatbuffers::flatbuffers INTERFACE IMPORTED)
  set_target_properties(flatbuffers::flatbuffers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/../../../include")
endif()
CMAKE
}

# once NAME COMMAND...: quiet when all goes well, and not again afterwards. In a process of its own, whose first failure
# ends it.
once() {
  local name=$1 log=$folder/$1.log
  shift
  [ ! -f "$folder/$name.done" ] || return 0
  printf 'windows: building %s\n' "$name" >&2
  if ! "$root/cmake/windows/libraries.sh" "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    printf 'windows: %s could not be built (the whole output is in %s)\n' "$name" "$log" >&2
    exit 1
  fi
  touch "$folder/$name.done"
}

if [ $# -gt 0 ]; then
  "$@"
  exit
fi
mkdir -p "$folder"
once headers stage_headers
once zstd cmake_library libzstd build/cmake -DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_TESTS=OFF \
  -DZSTD_LEGACY_SUPPORT=OFF
once catch2 cmake_library catch2 . -DCATCH_BUILD_STATIC_LIBRARY=ON -DCATCH_INSTALL_DOCS=OFF -DBUILD_TESTING=OFF \
  -DCATCH_BUILD_TESTING=OFF -DCATCH_ENABLE_WERROR=OFF
once sodium build_sodium
