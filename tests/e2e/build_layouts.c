/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels of one commit by their layout numbers, without a campaign: prints what came of each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "io/build.h"
#include "io/config.h"

static const char usage[] =
	"usage: build_layouts REPOSITORY REVISION tree|fixed|random LOG FRAGMENTS LAYOUT…\n"
	"prints for each: LAYOUT KEY IMAGE-HASH IMAGE VMLINUX cached|built SECONDS-OF-MAKE\n";

static int add_fragments(const char *text, struct strv *out, struct err *e)
{
	_cleanup_strv_ struct strv words = STRV_INIT;

	if (str_split_words(text, &words, e) < 0)
		return -1;
	for (size_t i = 0; i < words.n; i++) {
		char *path;

		if (config_fragment(words.v[i], ".", &path, e) < 0)
			return -1;
		strv_take(out, path);
	}
	return 0;
}

static int build_one(struct builder *b, const struct commit_id *id, const char *number,
		     const char *log, struct err *e)
{
	struct build_result r = { .outcome = TRIAL_UNSET };
	uint32_t layout = (uint32_t)strtoul(number, NULL, 10);

	if (builder_build(b, id, layout, log, &r, e) < 0)
		return -1;
	if (r.outcome != TRIAL_OK)
		return err_set(e, ERR_LAB, "layout %u: %s: %s", layout,
			       trial_outcome_name(r.outcome), r.signature ? r.signature : "");
	printf("%u %s %s %s %s %s %.1f\n", layout, r.key, r.image_hash, r.image, r.vmlinux,
	       r.cached ? "cached" : "built", r.seconds_make);
	fflush(stdout);
	build_result_release(&r);
	return 0;
}

static int run(char **argv, struct err *e)
{
	_cleanup_strv_ struct strv fragments = STRV_INIT, none = STRV_INIT;
	struct build_opts o = { .arch = "x86_64",
				.config = "tinyconfig",
				.fragments = &fragments,
				.patches = &none,
				.make_args = &none,
				.command = &none,
				.timeout_ms = 3600000,
				.ccache = -1 };
	struct builder *b = NULL;
	struct commit_id id;
	int ret;

	o.layout = str_eq(argv[3], "fixed")    ? LAYOUT_FIXED
		   : str_eq(argv[3], "random") ? LAYOUT_RANDOM
					       : LAYOUT_TREE;
	if (add_fragments(argv[5], &fragments, e) < 0 || repo_open(argv[1], &o.repo, e) < 0)
		return -1;
	ret = repo_resolve(o.repo, argv[2], "revision", &id, e);
	if (ret == 0)
		ret = builder_open(&o, &b, e);
	for (char **number = argv + 6; ret == 0 && *number; number++)
		ret = build_one(b, &id, *number, argv[4], e);
	builder_close(b);
	repo_close(o.repo);
	return ret;
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;

	if (argc < 7) {
		fputs(usage, stderr);
		return 129;
	}
	if (run(argv, &e) == 0)
		return 0;
	fprintf(stderr, "%s\n", e.msg);
	return 128;
}
