# shellcheck shell=bash
# The tools that the steps of packaging take, and who has which.

# The version of mdBook with which the manual was looked at.
MDBOOK=0.5.4

# The target of the static program for a machine, x86_64 or aarch64.
static_target() { printf '%s-unknown-linux-musl\n' "$1"; }

# How GCC compiles for musl on a machine that it is not run on.
musl_specs() { printf '/usr/lib/%s-linux-musl/musl-gcc.specs\n' "$1"; }

# lacking STEP: what a step takes and this machine lacks, each with how to get it, in one line of two fields that a tab divides.
lacking() {
  case $1 in
    x86_64 | aarch64)
      [ -d "$(rustc --print sysroot)/lib/rustlib/$(static_target "$1")" ] ||
        printf 'Rust library for %s\trustup target add %s\n' "$(static_target "$1")" "$(static_target "$1")"
      if [ "$1" = "$(uname -m)" ]; then
        lacking_command musl-gcc musl-tools
      else
        lacking_command "$1-linux-gnu-gcc" "gcc-${1/_/-}-linux-gnu"
        local debian=${1/x86_64/amd64}
        debian=${debian/aarch64/arm64}
        [ -f "$(musl_specs "$1")" ] ||
          printf 'musl for %s\ton Debian: dpkg --add-architecture %s; apt-get update; apt-get install musl-dev:%s\n' "$1" "$debian" "$debian"
      fi
      ;;
    emulator)
      # Programs for the other machine are tried under it.
      lacking_command "qemu-$(other_machine)" qemu-user
      ;;
    image) lacking_command buildah buildah ;;
    python) python3 -m venv --help >/dev/null 2>&1 || printf 'Python with venv\ton Debian: apt-get install python3-venv\n' ;;
    debian)
      lacking_command dpkg-deb dpkg
      lacking_command bwrap bubblewrap
      ;;
    sbom) cargo cyclonedx --version >/dev/null 2>&1 || printf 'cargo-cyclonedx\tcargo install --locked cargo-cyclonedx\n' ;;
    manual)
      [ "$(mdbook --version 2>/dev/null)" = "mdbook v$MDBOOK" ] || printf 'mdBook %s\tcargo install --locked mdbook@%s\n' "$MDBOOK" "$MDBOOK"
      lacking_command python3 python3
      ;;
    licences) if command -v python3 >/dev/null; then "$(dirname "${BASH_SOURCE[0]}")/licences" --missing; else lacking_command python3 python3; fi ;;
  esac
}

# lacking_command COMMAND PACKAGE: the same for a command, which is in a package of Debian.
lacking_command() {
  command -v "$1" >/dev/null || printf '%s\ton Debian: apt-get install %s\n' "$1" "$2"
}

# The machine of x86_64 and aarch64 that this one is not.
other_machine() {
  case $(uname -m) in x86_64) echo aarch64 ;; *) echo x86_64 ;; esac
}

# need STEP...: ends with 69 if something is missing for one of these steps, after saying what.
need() {
  local step tool mend status=0
  for step in "$@"; do
    while IFS=$'\t' read -r tool mend; do
      printf 'error: there is no %s\n  mend: %s\n' "$tool" "$mend" >&2
      status=69
    done < <(lacking "$step")
  done
  [ "$status" -eq 0 ] || exit "$status"
}
