/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIBWORK_H
#define LIBWORK_H

unsigned long library(unsigned long rounds);

#endif /* LIBWORK_H */
