# shellcheck shell=bash

help_build() {
  cat <<HELP
usage: ./dev build [PRESET] [TARGET...]

Builds everything of a preset (release when none is named) into build/PRESET, or only the named targets.
Presets: $(preset_names).
Warnings are errors with ASHLAR_WERROR=ON in the environment, or CI=true.
HELP
}

command_build() {
  local preset=release
  if [ $# -gt 0 ]; then
    preset=$1
    shift
  fi
  configure "$preset"
  build_targets "$preset" "$@"
}
