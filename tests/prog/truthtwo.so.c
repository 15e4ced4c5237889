// SPDX-License-Identifier: GPL-2.0
/* A library of truth.c. */

#include "truth.h"

TRUTH_CODE(two);
