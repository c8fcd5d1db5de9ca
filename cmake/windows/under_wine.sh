#!/bin/sh
# Runs a program for Windows: quietly, with a home of its own, and without a screen.
# usage: under_wine.sh PROGRAM [ARGUMENT...]
folder=$(cd "$(dirname "$0")/../.." && pwd)/build/windows-libraries
mkdir -p "$folder/wine"
export WINEPREFIX="${WINEPREFIX:-$folder/wine}" WINEDEBUG="${WINEDEBUG:--all}" WINEDLLOVERRIDES="mscoree,mshtml="
unset DISPLAY
wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
exec "$wine" "$@"
