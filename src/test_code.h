/* SPDX-License-Identifier: GPL-2.0 */
/*
 * test_code.h - for a test build (OP_TEST_CODE): the code that was sampled
 *
 * Each sample brings the bytes that stand at its address, in place of a call
 * chain, so that a test can hold the file that the sample was booked to against
 * what really ran there. The frames are words that pass for kernel addresses:
 * first a header, then the code, seven bytes in a word (64-bit machines).
 *
 *	0xfe, .., 1 where the code tells something, how many bytes follow
 *	0xfe, 7 bytes of code, the first one lowest
 *
 * The code is read a little late. It tells nothing where the epoch has changed
 * meanwhile, or nothing can be read there any more.
 */
#ifndef _OPROFILE_TEST_CODE_H
#define _OPROFILE_TEST_CODE_H

#include <linux/uaccess.h>

#define CODE_BYTES	7
#define CODE_WORDS	2
#define CODE_TOP	0xfe00000000000000UL
#define CODE_TELLS	0x100UL
#define FRAMES_MAX	(1 + CODE_WORDS)

static unsigned int sample_frames(unsigned long addr, bool user,
				  unsigned long *frames)
{
	unsigned long epoch = atomic_long_read(&op_epoch);
	u8 code[CODE_WORDS * CODE_BYTES];
	unsigned int i, j, n, words;

	frames[0] = CODE_TOP;
	if (!user || !irqs_disabled())
		return 1;
	n = min_t(unsigned long, sizeof(code), PAGE_SIZE - offset_in_page(addr));
	if (copy_from_user_nofault(code, (void __user *)addr, n) ||
	    atomic_long_read(&op_epoch) != epoch)
		return 1;
	words = n / CODE_BYTES;
	for (i = 0; i < words; i++) {
		frames[1 + i] = CODE_TOP;
		for (j = 0; j < CODE_BYTES; j++)
			frames[1 + i] |= (unsigned long)code[i * CODE_BYTES + j]
					 << (8 * j);
	}
	if (words)
		frames[0] |= CODE_TELLS | words * CODE_BYTES;
	return 1 + words;
}

#endif /* _OPROFILE_TEST_CODE_H */
