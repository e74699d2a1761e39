#!/bin/sh
# Installs sprag: fetches the archive for this system and its checksum, compares them, and puts the program into place.
#
#   curl -fsSL https://github.com/sprag-dev/sprag/releases/latest/download/install.sh | sh
#
#   SPRAG_BIN_DIR   where to                          ~/.local/bin
#   SPRAG_FROM      where the archives are            the latest release; file:///folder works too
#   SPRAG_TARGET    which archive                     by `uname`
set -eu

from=${SPRAG_FROM:-https://github.com/sprag-dev/sprag/releases/latest/download}
folder=${SPRAG_BIN_DIR:-$HOME/.local/bin}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

target() {
  case $(uname -s) in
  Linux) system=unknown-linux-musl ;;
  Darwin) system=apple-darwin ;;
  MINGW* | MSYS* | CYGWIN*) fail "Windows is not supported; use WSL and install inside it" ;;
  *) fail "there is no build for $(uname -s); build it: cargo install sprag-cli --locked" ;;
  esac
  case $(uname -m) in
  x86_64 | amd64) machine=x86_64 ;;
  aarch64 | arm64) machine=aarch64 ;;
  *) fail "there is no build for $(uname -m); build it: cargo install sprag-cli --locked" ;;
  esac
  echo "$machine-$system"
}

fetch() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 3 -o "$2" "$1" || fail "can't fetch $1"
  elif command -v wget >/dev/null 2>&1; then
    case $1 in
    file://*) cp "${1#file://}" "$2" || fail "can't read $1" ;;
    *) wget -q -O "$2" "$1" || fail "can't fetch $1" ;;
    esac
  else
    fail "needs curl or wget"
  fi
}

checksum() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d' ' -f1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d' ' -f1
  else
    fail "needs sha256sum or shasum to verify what it fetched"
  fi
}

main() {
  target=${SPRAG_TARGET:-$(target)}
  name=sprag-$target
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  fetch "$from/$name.tar.gz" "$work/$name.tar.gz"
  fetch "$from/SHA256SUMS" "$work/SHA256SUMS"
  wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name.tar.gz\$/\1/p" "$work/SHA256SUMS")
  [ -n "$wanted" ] || fail "SHA256SUMS has no line for $name.tar.gz; nothing was installed"
  found=$(checksum "$work/$name.tar.gz")
  [ "$found" = "$wanted" ] || fail "the checksum of $name.tar.gz is $found, it should be $wanted; nothing was installed"
  tar -xzf "$work/$name.tar.gz" -C "$work"
  mkdir -p "$folder"
  # A program that runs is replaced, not overwritten.
  cp "$work/$name/sprag" "$folder/.sprag.new"
  chmod 755 "$folder/.sprag.new"
  version=$("$folder/.sprag.new" --version) || {
    rm -f "$folder/.sprag.new"
    fail "the program for $target does not run here; nothing was installed"
  }
  mv "$folder/.sprag.new" "$folder/sprag"
  echo "installed $version to $folder/sprag"
  case ":$PATH:" in
  *":$folder:"*) run=sprag ;;
  *)
    run=$folder/sprag
    echo "$folder is not on your PATH; add this to your shell's profile: export PATH=\"$folder:\$PATH\""
    ;;
  esac
  echo "next: $run scan              the loops that your agents already ran"
  echo "      $run install claude    or codex, gemini, copilot, cursor, opencode"
}

# Everything is in functions, so that a script that was cut off on the way runs nothing.
main
