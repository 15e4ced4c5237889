#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What "make demo" shows is true.
# host: kernels=6.1,6.12

exec bash "$(dirname "$0")/../demo/test.sh"
