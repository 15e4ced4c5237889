/* SPDX-License-Identifier: GPL-2.0 */
/*
 * test_nmi.h - for a test build (OP_TEST_NMI): what NMIs have interrupted
 */
#ifndef _OPROFILE_TEST_NMI_H
#define _OPROFILE_TEST_NMI_H

#ifdef OP_TEST_NMI
void op_test_nmi(void);
void op_test_hook(bool begins);
void op_test_worker(bool begins);
#else
static inline void op_test_nmi(void)
{
}

static inline void op_test_hook(bool begins)
{
}

static inline void op_test_worker(bool begins)
{
}
#endif

#endif /* _OPROFILE_TEST_NMI_H */
