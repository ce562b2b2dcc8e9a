# What the recording scripts share; they source it with $out, the folder of runs, set.
# A folder keeps its runs in runs.jsonl: one line a run, {"name":"...","run":...}, as bench/runs/README.md says.

# is_recorded NAME
is_recorded() { [ -f "$out/runs.jsonl" ] && grep -qF "{\"name\":\"$1\"," "$out/runs.jsonl"; }

# record NAME COMMAND...: adds the JSON object that the command prints; nothing where the command fails.
record() {
  local name=$1 run
  shift
  run=$("$@")
  printf '{"name":"%s","run":%s}\n' "$name" "$run" >> "$out/runs.jsonl"
}

# The processor's name alone does not tell its generation.
cpuinfo() { sed -n "s/^$1[[:space:]]*: //p" /proc/cpuinfo | head -n 1; }

# What ran where, for the folder's README.md.
machine() {
  echo "- processor: $(cpuinfo 'model name') (family $(cpuinfo 'cpu family'), model $(cpuinfo model), stepping $(cpuinfo stepping)), $(nproc) cores; kernels: $("$vesica" selftest | sed -n 's/^kernels in use: //p')"
  echo "- memory: $(sed -n 's/^MemTotal: *//p' /proc/meminfo); system: $(uname -sr); $(rustc --version)"
  echo "- load before: $(cut -d' ' -f1-3 /proc/loadavg)"
}
