#!/usr/bin/env bash
# Installs what building and testing Sapwood needs: packages of Debian 12, and libtorch in .venv. Run it as often as you
# like: what is there already is left alone. `--dev` adds what `make check` and `make format` use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
export DEBIAN_FRONTEND=noninteractive

readonly kTorch=2.13.0
readonly kVenv=.venv
packages=(g++ cmake ninja-build make mold ccache git python3 python3-venv
          libfmt-dev nlohmann-json3-dev coinor-libcbc-dev libcli11-dev libzstd-dev libxxhash-dev libdw-dev
          libgtest-dev libgmock-dev libbenchmark-dev)
if [[ "${1:-}" == --dev ]]; then
  packages+=(clang-format-19 clang-tidy-19)
fi

fail() {
  printf 'setup: %s\n' "$@" >&2
  exit 1
}

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] || echo "$package"
  done
}

as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -n "$@"
  else
    fail "Debian packages are missing and this is neither root nor is sudo here." "As root: apt-get install ${missing[*]}"
  fi
}

# A package list from before is often enough; it is refreshed only when installing from it fails.
install_packages() {
  local log
  log=$(mktemp)
  as_root apt-get install -y -q --no-install-recommends "$@" >"$log" 2>&1 && return
  as_root apt-get update -q >>"$log" 2>&1 || true
  as_root apt-get install -y -q --no-install-recommends "$@" >>"$log" 2>&1 && return
  tail -n 15 "$log" >&2
  fail "apt-get could not install: $*" "Is a Debian mirror reachable? The log is $log."
}

setup_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system; taking these as installed: ${packages[*]}"
    return
  fi
  mapfile -t missing < <(missing_packages)
  if [[ ${#missing[@]} -gt 0 ]]; then
    echo "setup: installing Debian packages: ${missing[*]}"
    install_packages "${missing[@]}"
  fi
}

venv_has() {
  compgen -G "$kVenv/lib/python3*/site-packages/$1" >/dev/null
}

setup_python() {
  local wanted=()
  venv_has "torch-$kTorch*.dist-info" || wanted+=("torch==$kTorch")
  venv_has "numpy-*.dist-info" || wanted+=(numpy)
  venv_has "networkx-*.dist-info" || wanted+=(networkx)
  [[ ${#wanted[@]} -gt 0 ]] || return 0
  if [[ ! -x $kVenv/bin/python ]]; then
    echo "setup: creating $kVenv"
    python3 -m venv "$kVenv" || fail "python3 -m venv $kVenv failed; on Debian it needs the package python3-venv."
  fi
  echo "setup: installing ${wanted[*]} into $kVenv (libtorch is large: this takes a while)"
  "$kVenv/bin/python" -m pip install --quiet --no-input --no-compile --disable-pip-version-check "${wanted[@]}" ||
    fail "pip could not install ${wanted[*]}." \
         "Is a Python package index reachable? pip's own settings (PIP_INDEX_URL, PIP_FIND_LINKS, pip.conf) are respected;" \
         "a CPU wheel of torch $kTorch is enough."
}

setup_packages
setup_python
echo "setup: ready (torch $kTorch in $kVenv)"
