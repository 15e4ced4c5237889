/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The words of the event stream that /sys/kernel/debug/oprofile/buffer gives.
 *
 * The stream is a sequence of native words (unsigned long; the file
 * pointer_size says how many bytes). A sample is two words: an offset or an
 * address, and the number of its event folder. Everything else is an escape:
 * OP_ESCAPE_CODE, one of the codes below, and the operands of that code.
 */
#ifndef _UAPI_OPROFILE_H
#define _UAPI_OPROFILE_H

/* No sample begins with this word. */
#define OP_ESCAPE_CODE		(~0UL)

/* tid, cookie of the program; OP_CTX_TGID_CODE follows. The cookie of the
 * mapped file is unknown until it is stated again.
 */
#define OP_CTX_SWITCH_CODE	1
/* number of the CPU. A batch begins; all else is unknown until stated. */
#define OP_CPU_SWITCH_CODE	2
/* cookie of the file that the following user samples lie in */
#define OP_COOKIE_SWITCH_CODE	3
/* no operand: kernel samples follow, with addresses */
#define OP_KERNEL_ENTER_CODE	4
/* no operand: user samples follow, with offsets in the cookie's file */
#define OP_USER_ENTER_CODE	5
/* no operand: a kernel module was loaded; stands between batches */
#define OP_MODULE_LOADED_CODE	6
/* tgid (the process id) of the context just stated */
#define OP_CTX_TGID_CODE	7
/* no operand: the next sample is a leaf, what follows up to the next
 * OP_TRACE_BEGIN_CODE, OP_CTX_SWITCH_CODE or OP_CPU_SWITCH_CODE its callers
 */
#define OP_TRACE_BEGIN_CODE	8

/* The cookie of no file: anonymous memory, JIT code, [vdso]; as the program
 * of a context: none or unknown. The offset is then the address itself.
 */
#define OP_NO_COOKIE		0UL

#endif /* _UAPI_OPROFILE_H */
