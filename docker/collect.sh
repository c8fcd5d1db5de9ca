#!/usr/bin/env bash
# Build stage: lays out the root of the image.   collect.sh ROOT PROGRAM...
# The libraries that the programs link are copied by package, each with its licence and its entry for scanners
# in /var/lib/dpkg/status.d, beside the few files that make a Linux root: users, name resolution, /tmp.
set -euo pipefail

main() {
  local root=$1 program package packages
  shift
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
  check_linkage "$root" "$@"
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
    grep -E '^(/usr)?/lib(64)?/.*\.so[.0-9]*$|^/usr/share/doc/[^/]*/copyright$' | grep -v /gconv/ |
    while IFS= read -r file; do [ -d "$file" ] || printf '%s\n' "$file"; done |
    sed 's|^/||' | tar -C / -c --no-recursion -T - | tar -C "$root" -x --keep-directory-symlink
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
