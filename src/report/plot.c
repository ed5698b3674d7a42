/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plots as files for attaching: our SVG, and a PNG where gnuplot is. */
#include "report/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "report/gnuplot.h"

void plot_levels(const struct report *r, const struct record *d, struct plot_levels *out)
{
	const struct stats_interval *old = r->fix ? &r->ends.bad : &r->ends.good;
	const struct stats_interval *new = r->fix ? &r->ends.good : &r->ends.bad;

	*out = (struct plot_levels){ .known = { false } };
	if (d->posterior.levels_known) {
		out->level[0] = d->posterior.old_level;
		out->level[1] = d->posterior.new_level;
	} else if (r->ends.state) {
		out->level[0] = *old;
		out->level[1] = *new;
	} else {
		return;
	}
	for (int i = 0; i < 2; i++)
		out->known[i] = isfinite(out->level[i].estimate);
}

int plot_class(const struct record_commit *c)
{
	if (!c->tested)
		return 2;
	return c->tested->verdict == VERDICT_GOOD ? 0 : c->tested->verdict == VERDICT_BAD ? 1 : 2;
}

/* Samples of one class as "x y" lines. */
static size_t data_block(const struct record *d, int class, bool fresh, FILE *out)
{
	size_t n = 0;

	fprintf(out, "$p%d%d << EOD\n", class, fresh);
	for (size_t i = 0; i < d->n_trials; i++) {
		const struct record_trial *t = &d->trial[i];
		const struct record_values *v = record_values_of(t, 0);
		size_t c = 0;

		while (c < d->n_commits && !commit_eq(&d->commit[c].id, &t->commit))
			c++;
		if (c == d->n_commits || !v || t->outcome != TRIAL_OK || t->confirms != fresh ||
		    !(t->counts || t->confirms) || plot_class(&d->commit[c]) != class)
			continue;
		for (size_t j = 0; j < v->n; j++, n++)
			fprintf(out, "%zu %.17g\n", c, v->v[j]);
	}
	fputs("EOD\n", out);
	return n;
}

static void level_lines(const struct report *r, const struct record *d, FILE *out)
{
	static const char *const name[] = { "good end", "bad end" };
	struct plot_levels l;

	plot_levels(r, d, &l);
	for (int i = 0; i < 2; i++)
		if (l.known[i])
			fprintf(out, ", %.17g with lines lc rgb '#%s' title '%s'",
				l.level[i].estimate, (r->fix ? !i : i) ? "c0362c" : "0b6bcb",
				name[r->fix ? !i : i]);
	if (r->ends.state && isfinite(r->ends.threshold))
		fprintf(out, ", %.17g with lines dt 2 lc rgb '#5b6470' title 'threshold'",
			r->ends.threshold);
}

static void tic_labels(const struct record *d, FILE *out)
{
	fputs("set xtics rotate by 40 right (", out);
	for (size_t i = 0; i < d->n_commits; i++) {
		fputs(i ? ", " : "", out);
		gnuplot_quote(out, d->commit[i].label);
		fprintf(out, " %zu", i);
	}
	fputs(")\n", out);
}

void plot_gnuplot(const struct report *r, const struct record *d, const char *png, FILE *out)
{
	static const char *const class[] = { "good", "bad", "neither" };
	static const char *const look[] = { "pt 7 lc rgb '#0b6bcb'", "pt 5 lc rgb '#c0362c'",
					    "pt 9 lc rgb '#6b5b00'" };
	size_t n[3][2];
	bool first = true;

	fputs("# Every sample over the commits in order; run: gnuplot walk.gnuplot\n"
	      "set terminal pngcairo noenhanced size 1200,600\nset output ",
	      out);
	gnuplot_quote(out, png);
	fprintf(out, "\nset xrange [-0.5:%zu.5]\nset key outside\nset grid ytics\nset ylabel ",
		d->n_commits - 1);
	_cleanup_free_ char *label = xasprintf("%s%s%s", r->metric ? r->metric : "",
					       r->unit && r->unit[0] ? " in " : "",
					       r->unit ? r->unit : "");
	gnuplot_quote(out, label);
	fputs("\nset title ", out);
	gnuplot_quote(out, r->name);
	fputc('\n', out);
	tic_labels(d, out);
	for (int i = 0; i < 6; i++)
		n[i / 2][i % 2] = data_block(d, i / 2, i % 2, out);
	fputs("plot ", out);
	for (int i = 0; i < 6; i++) {
		if (!n[i / 2][i % 2])
			continue;
		fprintf(out, "%s$p%d%d with points %s%s title '%s%s'", first ? "" : ", ", i / 2,
			i % 2, i % 2 ? "ps 1.6 " : "", look[i / 2], class[i / 2],
			i % 2 ? ", confirmation" : "");
		first = false;
	}
	if (first)
		fputs("NaN notitle", out);
	level_lines(r, d, out);
	fputc('\n', out);
}

int plot_files(const struct report *r, const struct record *d, const char *dir, char *why,
	       size_t why_size, struct err *e)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f;

	if (!plot_has_walk(d)) {
		snprintf(why, why_size, "no commit was measured yet");
		return 1;
	}
	if (fs_mkdirs(dir, e) < 0)
		return -1;
	f = open_memstream(&text, &n);
	plot_walk(r, d, true, f);
	if (gnuplot_write(dir, "walk.svg", f, &text, &n, e) < 0)
		return -1;
	f = open_memstream(&text, &n);
	plot_shares(r, d, true, f);
	fflush(f);
	if (n ? gnuplot_write(dir, "posterior.svg", f, &text, &n, e) < 0 : fclose(f) != 0)
		return -1;
	free(text);
	f = open_memstream(&text, &n);
	plot_gnuplot(r, d, "walk.png", f);
	if (gnuplot_write(dir, "walk.gnuplot", f, &text, &n, e) < 0)
		return -1;
	return gnuplot_run(dir, "walk.gnuplot", why, why_size, e);
}
