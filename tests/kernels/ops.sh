#!/usr/bin/env bash
# Every op of every backend against ref in double; the same bits for the same rows; dropout's masks.
OMP_WAIT_POLICY=passive exec "${TESTS:?}/kernels/harness" check packing dropout
