#!/usr/bin/env bash
# Build stage: lays out the root of the image.   collect.sh ROOT LICENCE PROGRAM...
# The libraries that the programs link are copied by package, each with its licence and its entry for scanners
# in /var/lib/dpkg/status.d, beside the few files that make a Linux root: users, name resolution, /tmp. Of the
# libraries that are compiled in, as they are headers, the notices come along. All are in /usr/share/doc.
set -euo pipefail

main() {
  local root=$1 licence=$2 program package packages
  shift 2
  mkdir -p "$root"/usr/{bin,lib,lib64} "$root"/{etc,tmp,wads,proc,sys,dev} "$root/var/lib/dpkg/status.d"
  ln -s usr/bin "$root/bin"
  ln -s usr/lib "$root/lib"
  ln -s usr/lib64 "$root/lib64"
  chmod 1777 "$root/tmp"
  for program in "$@"; do
    install -m 755 -s "$program" "$root/usr/bin/"
  done
  write_etc "$root/etc"
  packages=$(packages_linked_by "$@")
  [ -n "$packages" ] || {
    echo "collect.sh: no package owns the libraries of $*" >&2
    exit 1
  }
  for package in $packages; do
    copy_package "$root" "$package"
  done
  for package in $(packages_compiled_in); do
    install -D -m 644 "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
  done
  install -D -m 644 "$licence" "$root/usr/share/doc/ashlar/LICENSE"
  install -D -m 644 docker/README.md "$root/usr/share/doc/ashlar/README.md"
  check_notices "$root" "$packages"
  check_linkage "$root" "$@"
}

# Whose headers are in the programs: libraries of templates, and what spdlog brings with it.
packages_compiled_in() {
  printf '%s\n' libasio-dev libflatbuffers-dev libcli11-dev libtomlplusplus-dev libtinyobjloader-dev libspdlog-dev \
    libfmt-dev
}

# No image without them.
check_notices() {
  local root=$1 package
  for package in $2 $(packages_compiled_in); do
    [ -s "$root/usr/share/doc/$package/copyright" ] || {
      echo "collect.sh: there is no notice of $package in the image" >&2
      exit 1
    }
  done
}

write_etc() {
  printf 'root:x:0:0:root:/:/nonexistent\nashlar:x:1000:1000:Ashlar:/data:/nonexistent\n' >"$1/passwd"
  printf 'root:x:0:\nashlar:x:1000:\n' >"$1/group"
  printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$1/nsswitch.conf"
  cp -L /etc/os-release "$1/os-release"
}

# The packages that own what ldd names. Before Debian 13 the C library is listed under /lib, later under /usr/lib.
packages_linked_by() {
  local library
  ldd "$@" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' | sort -u |
    while IFS= read -r library; do
      dpkg-query -S "$library" 2>/dev/null || dpkg-query -S "/usr$library" 2>/dev/null ||
        dpkg-query -S "$(readlink -f "$library")"
    done | cut -d: -f1 | sort -u
}

# Libraries and licence; not the character set modules, translations and manuals that come in the same package.
copy_package() {
  local root=$1 package=$2
  dpkg-query -L "$package" | sort -u |
    grep -E '^(/usr)?/lib(64)?/.*\.so[.0-9]*$' | grep -v /gconv/ |
    while IFS= read -r file; do [ -d "$file" ] || printf '%s\n' "$file"; done |
    sed 's|^/||' | tar -C / -c --no-recursion -T - | tar -C "$root" -x --keep-directory-symlink
  # The folder of a notice may be a link to that of another package.
  install -D -m 644 "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
  dpkg-query -s "$package" >"$root/var/lib/dpkg/status.d/$package"
}

# The programs must start in there.
check_linkage() {
  local root=$1 program
  shift
  for program in "$@"; do
    chroot "$root" "/usr/bin/${program##*/}" --version
  done
}

main "$@"
