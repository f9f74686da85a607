# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by scripts that run the DMA engine alone, behind env.sh and sbt-lock.sh; they source progress.sh, too.
hash_of() { find "$@" -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-16; }
generate_dma() { # EXTENDED_TAGS: sets rtl to the folder with DmaEngine.v, and holds a lock on it as descriptor 9
  local vfs_of_a_pf=4 queues=128 read_time_out=60000 sources
  # Of the shell's sources the engine uses its own, the pins of the streams, and the bus of BAR2.
  sources=$(hash_of spinal/src/main/scala/meridian/{bus,dma,qdma} spinal/build.sbt)
  rtl=$MERIDIAN_CACHE/dma/rtl-$sources-$vfs_of_a_pf-$queues-$read_time_out-$1
  mkdir -p "$rtl"
  exec 9>"$rtl/lock"
  flock 9
  if [ ! -e "$rtl/.complete" ]; then
    say "generating Verilog, a minute; log: $rtl/log"
    (lock_sbt && exec scripts/sbt "runMain meridian.dma.engine.GenerateDma $rtl $vfs_of_a_pf $queues $read_time_out $1 false false" >"$rtl/log" 2>&1) ||
      { grep error "$rtl/log" >&2 || true; progress_line "the generator failed; its log: $rtl/log"; exit 1; }
    touch "$rtl/.complete"
  fi
}
