/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels side by side: two plots over the sweep, by gnuplot. */
#include "report/compare.h"

#include <math.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/str.h"
#include "report/escape.h"
#include "report/gnuplot.h"

#define TITLE_MAX 60

/* Colours that are told apart in print and by most eyes (Okabe and Ito 2008). */
static const char *const colour[] = { "000000", "0072B2", "D55E00", "009E73",
				      "CC79A7", "E69F00", "56B4E9", "8a7a00" };

/* Where a value of the sweep stands: at its number, unless it is none. */
static bool is_scale(const struct report_compare *r)
{
	for (size_t i = 0; i < r->points.n; i++) {
		char *end;
		double v = strtod(r->points.v[i], &end);

		if (end == r->points.v[i] || *end || !isfinite(v))
			return false;
	}
	return r->points.n > 1;
}

static double place_of(const struct report_compare *r, size_t point, bool scale)
{
	return scale ? strtod(r->points.v[point], NULL) : (double)point;
}

static size_t cell_at(const struct report_compare *r, size_t line, size_t point)
{
	size_t kernel = line % r->n_kernels, variant = line / r->n_kernels;

	return (variant * r->points.n + point) * r->n_kernels + kernel;
}

/* "x estimate low high" for each point of a line; an unknown interval is none. */
static void data_block(const struct report_compare *r, size_t line, bool change, FILE *out)
{
	bool scale = is_scale(r);

	fprintf(out, "$%c%zu << EOD\n", change ? 'c' : 'v', line);
	for (size_t point = 0; point < r->points.n; point++) {
		const struct compare_report_cell *c = &r->cell[cell_at(r, line, point)];
		const struct compare_contrast *v = change ? &c->change : &c->mean;
		double by = change ? 100 : 1, x = place_of(r, point, scale);

		/* a reference is 0 % from itself */
		if (change && &r->cell[c->reference] == c && c->n)
			fprintf(out, "%.17g 0 0 0\n", x);
		else if (isnan(v->estimate))
			fprintf(out, "%.17g NaN NaN NaN\n", x);
		else
			fprintf(out, "%.17g %.17g %.17g %.17g\n", x, by * v->estimate,
				by * (isfinite(v->low) ? v->low : v->estimate),
				by * (isfinite(v->high) ? v->high : v->estimate));
	}
	fputs("EOD\n", out);
}

static void line_title(const struct report_compare *r, size_t line, FILE *out)
{
	_cleanup_str_ struct str title = STR_INIT;

	escape_cut(&title, r->kernel[line % r->n_kernels].word, TITLE_MAX);
	if (r->variant[0].name[0])
		str_addf(&title, ", %s", r->variant[line / r->n_kernels].name);
	gnuplot_quote(out, str_text(&title));
}

static void plot_lines(const struct report_compare *r, bool change, FILE *out)
{
	size_t n = r->n_kernels * r->n_variants;

	fputs(change ? "plot 0 with lines lc rgb '#888888' dt 2 notitle" : "plot", out);
	for (size_t i = 0; i < n; i++) {
		const char *look = colour[i % ARRAY_SIZE(colour)];
		char c = change ? 'c' : 'v';

		fprintf(out,
			"%s $%c%zu using 1:2:3:4 with yerrorbars lc rgb '#%s' pt %zu ps 0.8 title ",
			i || change ? "," : "", c, i, look, 4 + i % 10);
		line_title(r, i, out);
		fprintf(out, ", $%c%zu using 1:2 with lines lc rgb '#%s' dt %zu notitle", c, i,
			look, 1 + i / ARRAY_SIZE(colour) % 4);
	}
	fputc('\n', out);
}

static void one_picture(const struct report_compare *r, bool change, const char *name,
			const char *terminal, FILE *out)
{
	fprintf(out, "set terminal %s noenhanced size 1000,600\nset output '%s'\n", terminal, name);
	plot_lines(r, change, out);
}

static void labels(const struct report_compare *r, FILE *out)
{
	_cleanup_free_ char *title = xasprintf("%s: mean over boots, %g%% intervals", r->name,
					       100 * r->confidence);

	fputs("set title ", out);
	gnuplot_quote(out, title);
	fputs("\nset xlabel ", out);
	gnuplot_quote(out, r->sweep ? r->sweep : "");
	fputc('\n', out);
	if (is_scale(r))
		return;
	fprintf(out, "set xrange [-0.5:%zu.5]\nset xtics (", r->points.n - 1);
	for (size_t i = 0; i < r->points.n; i++) {
		fputs(i ? ", " : "", out);
		gnuplot_quote(out, r->points.v[i]);
		fprintf(out, " %zu", i);
	}
	fputs(")\n", out);
}

static void script(const struct report_compare *r, FILE *out)
{
	_cleanup_free_ char *unit = xasprintf("%s%s%s", r->metric, r->unit[0] ? " in " : "",
					      r->unit);
	_cleanup_free_ char *against = xasprintf(
		"%s: against %s, %g%% intervals", r->name,
		r->n_kernels > 1 ? r->kernel[0].word : r->variant[0].name, 100 * r->confidence);
	_cleanup_free_ char *change = xasprintf("%s, change in %%", r->metric);

	fputs("# Kernels side by side; run: gnuplot compare.gnuplot\nset key outside below\nset "
	      "grid "
	      "ytics\nset offsets graph 0.02, graph 0.02, 0, 0\n",
	      out);
	labels(r, out);
	for (size_t i = 0; i < r->n_kernels * r->n_variants; i++) {
		data_block(r, i, false, out);
		data_block(r, i, true, out);
	}
	fputs("set ylabel ", out);
	gnuplot_quote(out, unit);
	fputc('\n', out);
	one_picture(r, false, "value.svg", "svg", out);
	one_picture(r, false, "value.png", "pngcairo", out);
	fputs("set title ", out);
	gnuplot_quote(out, against);
	fputs("\nset ylabel ", out);
	gnuplot_quote(out, change);
	fputc('\n', out);
	one_picture(r, true, "change.svg", "svg", out);
	one_picture(r, true, "change.png", "pngcairo", out);
}

int report_compare_plots(const struct report_compare *r, const char *dir, char *why,
			 size_t why_size, struct err *e)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f;

	if (fs_mkdirs(dir, e) < 0)
		return -1;
	f = open_memstream(&text, &n);
	script(r, f);
	if (gnuplot_write(dir, "compare.gnuplot", f, &text, &n, e) < 0)
		return -1;
	return gnuplot_run(dir, "compare.gnuplot", why, why_size, e);
}
