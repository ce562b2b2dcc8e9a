# What .ci/run and .ci/nightly share: steps with their seconds, test programs, and environments of Python.
cd "$(dirname "${BASH_SOURCE[0]}")/.."

steps=() began=0

# step TITLE: ends the step before and begins this one.
step() {
  [ ${#steps[@]} -eq 0 ] || steps[-1]+=$'\t'$((SECONDS - began))
  steps+=("$1") began=$SECONDS
  printf '\n=== %s (%s s)\n' "$1" "$SECONDS"
}

# Seconds of each step, also where a step failed.
summary() {
  local status=$?
  step "done"
  printf '%s\n' "${steps[@]:0:${#steps[@]}-1}" | awk -F '\t' '{ printf "%6d s  %s\n", $2, $1 }'
  if [ "$status" -ne 0 ]; then printf 'FAILED in: %s\n' "${steps[-2]%$'\t'*}"; fi
  exit "$status"
}
trap summary EXIT

# tests [COMMAND...]: runs a test command, then prints the seconds of its ten slowest test programs and the sum of the runner's closing lines.
tests() {
  local log
  log=$(mktemp)
  local status=0
  "$@" 2>&1 | tee "$log" || status=$?
  awk '
    # The unit tests of a package come first and have its name; those in its folder tests follow.
    /^ +Running unittests / { package = $NF; sub(/.*\//, "", package); sub(/-[0-9a-f]+\)$/, "", package); program = package " " $3 }
    /^ +Running tests\// { program = package " " $2 }
    /^ +Doc-tests / { program = $2 " documentation" }
    /^test result: / {
      for (i = 1; i < NF; i++) {
        if ($(i + 1) == "passed;") passed += $i
        if ($(i + 1) == "failed;") failed += $i
        if ($(i + 1) == "ignored;") ignored += $i
      }
      programs++
      printf "%9.2f s  %s\n", $NF, program | "sort -rn | head -n 10"
    }
    END {
      close("sort -rn | head -n 10")
      printf "%d programs: %d tests passed, %d failed, %d ignored\n", programs, passed, failed, ignored
    }' "$log"
  rm -f "$log"
  return "$status"
}

# The crates of the lab, beside the product's, which are cargo's default here.
lab=(-p vesica-papers -p vesica-lab -p vesica-fuzz)

# built PROGRAM ARGUMENTS...: a program as the tests have built it. `cargo run` might choose other features of the dependencies.
built() {
  "${CARGO_TARGET_DIR:-target}/release/$1" "${@:2}"
}

# program PACKAGE TARGET [OPTION...]: runs one program that the tests have built, in its package's folder. `cargo test -p` of one package might
# choose other features of the dependencies and compile them again.
program() {
  local package=$1 target=$2 line selection=()
  case $package in papers | lab | fuzz) selection=("${lab[@]}") ;; esac
  shift 2
  line=$(cargo test --release --locked "${selection[@]}" --no-run --message-format=json 2>/dev/null |
    grep -F "/crates/$package/Cargo.toml\"" | grep -F "\"name\":\"$target\"" | grep -F '"test":true},' | grep -F '"executable":"/')
  local path=${line##*\"executable\":\"}
  (cd "crates/$package" && "${path%%\"*}" "$@")
}

# python_environment FOLDER [REQUIREMENT...]: a virtual environment with the Python package, what its tests need, and these.
python_environment() {
  python3 -m venv --clear "$1"
  "$1/bin/pip" install --quiet '.[pandas,polars,duckdb,spark,dask]' -r crates/python/tests/requirements.txt "${@:2}"
}
