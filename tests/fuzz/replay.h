/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main() of a fuzz program when libFuzzer does not bring one (-DKR_LIBFUZZER): runs the
 * inputs given as files or folders once each. Included once, by the fuzz program.
 */
#ifndef FUZZ_REPLAY_H
#define FUZZ_REPLAY_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#ifndef KR_LIBFUZZER

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/str.h"

#define REPLAY_MAX_BYTES (64u << 20)

static unsigned long replay_count;

/* A file that cannot be read is a failure: a corpus that shrinks in silence tests nothing. */
static void replay_file(const char *path)
{
	_cleanup_str_ struct str text = STR_INIT;
	struct err e = ERR_INIT;

	if (fs_read(path, REPLAY_MAX_BYTES, &text, &e) < 0) {
		fprintf(stderr, "%s\n", e.msg);
		exit(1);
	}
	LLVMFuzzerTestOneInput((const uint8_t *)str_text(&text), text.len);
	replay_count++;
}

static int replay_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay_path(const char *path)
{
	struct dirent **entries;
	int n;

	if (!fs_is_dir(path)) {
		replay_file(path);
		return;
	}
	n = scandir(path, &entries, replay_visible, alphasort);
	if (n < 0) {
		perror(path);
		exit(1);
	}
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *child = fs_join(path, entries[i]->d_name);

		replay_path(child);
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay_path(argv[i]);
	printf("%lu inputs ran\n", replay_count);
	return replay_count > 0 ? 0 : 1;
}

#endif
#endif
