#!/usr/bin/env bash
# Builds osler_population with the LibTorch of Python's torch package; needs a C++20 compiler and CMake, nothing else.
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
build=${1:-$folder/../build/population-program}
torch=$(python3 -c 'import os, torch; print(os.path.dirname(torch.__file__))')
cmake -S "$folder" -B "$build" -DOSLER_TORCH_FOLDER="$torch"
cmake --build "$build" --parallel "$(nproc)"
echo "$build/osler_population"
