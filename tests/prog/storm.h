/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the storms (storm.c) tell their checker (stormcheck.c): a table in a file
 * that all of them map. It says which files there are and where the code in each
 * lies, and which process ran and mapped which of them.
 *
 * Every generated file has its code in one page of its own number, counted from
 * the begin of the file, and there in a slot of its own number. Wherever the
 * files are mapped, the slot is the low bits of the address: so a sample of one
 * file that is booked to another one lies outside of the other's code, also when
 * it was resolved with all of the other's mapping.
 */
#ifndef STORM_H
#define STORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define STORM_DIR	"/tmp/storm"
#define STORM_TABLE	STORM_DIR "/table"

#define STORM_PAGE	4096ul
#define STORM_SLOT	64ul		/* bytes */
#define STORM_SLOTS	(STORM_PAGE / STORM_SLOT)
#define STORM_FIRST	16ul		/* page of the first file's code */
#define STORM_ANON_SLOT	(STORM_SLOTS - 1)
#define STORM_DOOR_SLOT	(STORM_SLOTS - 2)

/* Code without a file is only mapped here. */
#define STORM_ANON	0x20000000ul
#define STORM_ANON_END	0x30000000ul

#define STORM_FILES	64		/* as many as an entry's masks have bits */
#define STORM_ENTRIES	(1u << 18)

/* The storms, and which files each of them needs; storm.c says what they do. */
enum storm_id {
	STORM_EXEC, STORM_FORK, STORM_VFORK, STORM_THREADS, STORM_KILL,
	STORM_REEXEC, STORM_MIGRATE, STORM_OOM,
	STORM_DLOPEN, STORM_MMAP, STORM_SAME, STORM_FIXED, STORM_MREMAP,
	STORM_MPROTECT, STORM_JIT,
	STORM_SWAP_FIXED, STORM_SWAP_MUNMAP, STORM_SWAP_MPROTECT,
	STORM_SWAP_MREMAP,
	STORM_BURST, STORM_BREEZE,
	STORM_NR,		/* as a file's storm: a file of the machine */
};

/**
 * struct storm_need - the files of a storm, in this order
 * @name: what it is called
 * @programs: files to execute
 * @spin: how often their loop goes round
 * @libraries: files for dlopen()
 * @codes: files to map and call
 * @pairs: such files that can take each other's place under a running thread
 */
struct storm_need {
	const char *name;
	unsigned int programs;
	uint32_t spin;
	unsigned int libraries;
	unsigned int codes;
	unsigned int pairs;
};

__attribute__((unused))
static const struct storm_need storm_needs[STORM_NR] = {
	[STORM_EXEC] = { "exec", .programs = 4, .spin = 200000 },
	[STORM_FORK] = { "fork", .codes = 2 },
	[STORM_VFORK] = { "vfork", .programs = 2, .spin = 100000, .codes = 2 },
	[STORM_THREADS] = { "threads", .codes = 2 },
	[STORM_KILL] = { "kill", .programs = 2, .spin = 100000000, .codes = 2 },
	[STORM_REEXEC] = { "reexec", .programs = 4, .spin = 100000 },
	[STORM_MIGRATE] = { "migrate", .programs = 2, .spin = 5000000 },
	[STORM_OOM] = { "oom", .codes = 1 },
	[STORM_DLOPEN] = { "dlopen", .libraries = 4 },
	[STORM_MMAP] = { "mmap", .codes = 4 },
	[STORM_SAME] = { "same", .codes = 4 },
	[STORM_FIXED] = { "fixed", .codes = 4 },
	[STORM_MREMAP] = { "mremap", .codes = 3 },
	[STORM_MPROTECT] = { "mprotect", .codes = 2 },
	[STORM_JIT] = { "jit", .codes = 2 },
	[STORM_SWAP_FIXED] = { "swap-fixed", .pairs = 1 },
	[STORM_SWAP_MUNMAP] = { "swap-munmap", .pairs = 1 },
	[STORM_SWAP_MPROTECT] = { "swap-mprotect", .pairs = 1 },
	[STORM_SWAP_MREMAP] = { "swap-mremap", .pairs = 1 },
	[STORM_BURST] = { "burst", .codes = 2 },
	[STORM_BREEZE] = { "breeze", .codes = 1 },
};

/**
 * struct storm_file - a file with code
 * @path: where it is
 * @storm: number of the storm that it belongs to
 * @generated: made by storm; else a program or library of the machine
 * @start: offset of the first byte of its code
 * @end: of the first one behind it
 * @jumps: where code begins that only leads to the code above, for a thread
 *	that stands there when this file takes another one's place; or 0
 * @jumps_end: where that ends
 * @door: where threads enter it that don't know which file of the pair is
 *	there, or 0
 * @door_end: where that ends
 * @runs: how often it was executed, or mapped and called
 */
struct storm_file {
	char path[64];
	uint32_t storm;
	bool generated;
	uint64_t start;
	uint64_t end;
	uint64_t jumps;
	uint64_t jumps_end;
	uint64_t door;
	uint64_t door_end;
	_Atomic uint64_t runs;
};

/**
 * struct storm_entry - a process
 * @tgid: its number; used once, as pid_max is that large
 * @storm: number of its storm
 * @apps: the files that it executed, or is a fork of
 * @files: those it has mapped, @apps included
 * @vdso: where its [vdso] begins, or 0
 * @vdso_end: where that ends
 * @anon: it has code without a file
 */
struct storm_entry {
	_Atomic int32_t tgid;
	uint32_t storm;
	uint64_t apps;
	uint64_t files;
	uint64_t vdso;
	uint64_t vdso_end;
	bool anon;
};

/**
 * struct storm_table - all of it
 * @factor: how many times as long as usual the code runs
 * @nr_files: how many of @files are in use
 * @nr_entries: how many of @entries are
 * @vdso: where [vdso] began in the program that has executed "storm"
 * @vdso_end: where that ends
 * @changes: how often a file took another one's place under running threads
 * @files: files with code
 * @entries: processes of the last run
 */
struct storm_table {
	uint32_t factor;
	uint32_t nr_files;
	_Atomic uint32_t nr_entries;
	uint64_t vdso;
	uint64_t vdso_end;
	_Atomic uint64_t changes;
	struct storm_file files[STORM_FILES];
	struct storm_entry entries[STORM_ENTRIES];
};

#endif /* STORM_H */
