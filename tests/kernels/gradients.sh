#!/usr/bin/env bash
# Every backward op against finite differences, in double.
OMP_WAIT_POLICY=passive exec "${TESTS:?}/kernels/harness" grad
