#!/usr/bin/env bash
# Prints how many compilations fit on this machine at once: one per core, and 1.5 GB of memory for each.
set -euo pipefail
cores=$(nproc)
memory=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo)
jobs=$((memory < cores ? memory : cores))
echo $((jobs < 1 ? 1 : jobs))
