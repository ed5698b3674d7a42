/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to config*.c: the one table of a campaign file's keys. */
#ifndef KR_IO_CONFIG_TABLE_H
#define KR_IO_CONFIG_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "io/config.h"
#include "io/faults.h"
#include "io/inifile.h"

/* Which campaigns a key is for. */
enum config_applies {
	FOR_ALL = 0,
	FOR_QEMU,    /* [target] type = qemu */
	FOR_COMMAND, /* [target] type = command */
	FOR_KERNEL,  /* [build] type = kernel */
	FOR_SSH,     /* [target] type = ssh */
	FOR_BOOTED,  /* [target] type = qemu or ssh */
};

enum config_flags {
	KEY_REQUIRED = 1,
	KEY_EMPTY_OK = 2,     /* "key =" means none */
	KEY_QEMU_DEFAULT = 4, /* the default counts for type = qemu only */
	KEY_TYPE = 8,         /* read first: others depend on it */
	/*
	 * "patch.NAME": any number of keys, whose last part the user chooses. The field is a struct
	 * config_patches; parse and format get one of them, with name and where set.
	 */
	KEY_NAMED = 16,
};

/* One word that a key takes. A list ends with name NULL. */
struct config_choice {
	const char *name;
	int value;
};

struct config_key;

/* What values of a kind look like: parsing, and the inverse for config_dump(). */
struct config_kind {
	const char *type; /* for help; NULL: the list of choices */
	/* Message in @e starts with what is wrong, without the key. @field is zero before. */
	int (*parse)(const struct config *c, const struct config_key *k, const char *text,
		     void *field, struct err *e);
	void (*format)(const struct config_key *k, const void *field, struct str *out);
	void (*release)(void *field); /* NULL: nothing owned */
	bool joins_lines; /* continuation lines are joined by blanks; else they are a mistake */
};

struct config_key {
	const char *section, *key;
	const struct config_kind *kind;
	const char *def; /* text, as a file would have it; NULL: none, see help */
	const char *help;
	size_t offset, size; /* of the field in struct config */
	unsigned flags;
	enum config_applies applies;
	uint64_t min, max; /* counts, sizes and durations (ms), inclusive */
	const struct config_choice *choices;
	const char *ssh_def; /* instead of def with type = ssh; NULL: the same */
};

extern const struct config_key config_table[];
extern const size_t config_table_size;

/* Sections in order, with a line each for help. */
struct config_section {
	const char *name, *help;
};
extern const struct config_section config_sections[];
extern const size_t config_sections_size;

/* Kinds. */
extern const struct config_kind config_kind_text, config_kind_long_text, config_kind_name,
	config_kind_revision, config_kind_words, config_kind_bool, config_kind_choice,
	config_kind_count, config_kind_duration, config_kind_size, config_kind_share,
	config_kind_threshold, config_kind_confidence, config_kind_file, config_kind_folder,
	config_kind_new_folder, config_kind_command, config_kind_fragments, config_kind_patches,
	config_kind_patch, config_kind_kconfig, config_kind_workload, config_kind_machine,
	config_kind_arch, config_kind_metric, config_kind_number, config_kind_initramfs,
	config_kind_folder_there, config_kind_spread, config_kind_sweep, config_kind_span,
	config_kind_variant;

/* Set "bad <kind> '<text>' for <what> (<remedy>)"; @what "" or NULL: left out. Returns -1. */
int config_bad_value(struct err *e, const char *kind, const char *text, const char *what,
		     const char *remedy);
/* Digits at *@s, moved past them. False: none, or more than 64 bits hold. */
bool config_take_digits(const char **s, uint64_t *value);

/* A finite decimal number that is the first @n bytes of @text. */
bool config_parse_real(const char *text, size_t n, double *value);
/* The shortest of 15 or 17 digits that reads back as @v. */
void config_format_real(struct str *out, double v);

/* Release of all KEY_NAMED. */
void config_release_named(void *field);
/* Format for all fields that are a char *. */
void config_format_text(const struct config_key *k, const void *field, struct str *out);
/* Format and release for all that are a struct strv. */
void config_format_words(const struct config_key *k, const void *field, struct str *out);
void config_release_text(void *field);
void config_release_words(void *field);

/* What was given for one key of the table. */
struct config_given {
	const char *text;   /* as in the file, or in -o; NULL: not given */
	struct fault_at at; /* of a key that was not given: the header of its section */
};

/* Contradictions between keys; @given has one entry for each key. Adds to @f. */
void config_check(const struct config *c, const struct config_given *given, struct faults *f);

/* Is the key for campaigns of this type? */
bool config_applies(const struct config *c, const struct config_key *k);

/* Index of "section.key" in the table, -1: none. "patch.x" is found as "patch.NAME". */
int config_index(const char *section, const char *key);
/* Is @key this key, or one of those that it stands for? */
bool config_key_is(const struct config_key *k, const char *key);
/* The part of @key that the user chose; NULL: @k has none. Borrowed. */
const char *config_key_name(const struct config_key *k, const char *key);
static inline void *config_field(const struct config *c, const struct config_key *k)
{
	return (char *)(uintptr_t)c + k->offset;
}

#endif
