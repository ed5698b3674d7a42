/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk as SVG, without a script. */
#include <math.h>
#include <stdlib.h>

#include "report/escape.h"
#include "report/plot.h"

/* The drawing in units of the view box; a page scales it. */
#define WIDTH 960.0
#define HEIGHT 430.0
#define LEFT 84.0
#define RIGHT 18.0
#define TOP 26.0
#define BOTTOM 108.0
#define TICKS 5
#define LABELS_MAX 48 /* commits that all get their digits below the axis */
#define GAPS_MAX 24   /* and the number of commits between them */
#define LANE 14.0     /* failed boots: this far above the axis */

static const char style[] =
	".kp{--ink:#1c2024;--dim:#5b6470;--grid:#d9dee4;--good:#0b6bcb;--bad:#c0362c;"
	"--other:#6b5b00;--mark:#f4ead2;font:13px system-ui,sans-serif}"
	".kp text{fill:var(--ink)}.kp .dim{fill:var(--dim)}.kp .grid{stroke:var(--grid)}"
	".kp .axis{stroke:var(--dim)}.kp .mark{fill:var(--mark)}"
	".kp .p{fill:none;stroke-width:6;stroke-opacity:.75}"
	".kp .good{stroke:var(--good);stroke-linecap:round}"
	".kp .bad{stroke:var(--bad);stroke-linecap:square}"
	".kp .other{stroke:var(--other);stroke-linecap:butt;stroke-width:3}"
	".kp .fresh{fill:none;stroke-width:1.6;stroke-linecap:butt}"
	".kp .failed{fill:none;stroke:var(--bad);stroke-width:2}"
	".kp .level{stroke-width:1.5}.kp .threshold{stroke:var(--dim);stroke-dasharray:6 4}"
	".kp .band.good,.kp .band.bad{stroke:none;fill-opacity:.13}.kp .band.good{fill:var(--good)}"
	".kp .band.bad{fill:var(--bad)}.kp .bar{fill:var(--bad)}.kp a:focus text{text-decoration:"
	"underline;font-weight:bold}.kp a:hover text{text-decoration:underline}"
	"@media(prefers-color-scheme:dark){.kp{--ink:#e6e9ed;--dim:#a3adb8;--grid:#343b43;"
	"--good:#6cb2ff;--bad:#ff8a80;--other:#e3c84a;--mark:#3a3320}}";

const char *plot_style(void)
{
	return style;
}

struct frame {
	const struct report *r;
	const struct record *d;
	FILE *out;
	double lo, hi;
	struct plot_levels levels;
	size_t *index; /* trials by commit: first of each, then next of each trial */
};

static double x_of(const struct frame *f, double column)
{
	return LEFT + column * (WIDTH - LEFT - RIGHT) / (double)f->d->n_commits;
}

/* Halves first: the whole range may not fit a double. */
static double y_of(const struct frame *f, double v)
{
	double part = (v / 2 - f->lo / 2) / (f->hi / 2 - f->lo / 2);

	return TOP + (1 - part) * (HEIGHT - TOP - BOTTOM);
}

static void widen(struct frame *f, double v)
{
	if (!isfinite(v))
		return;
	f->lo = fmin(f->lo, v);
	f->hi = fmax(f->hi, v);
}

static bool is_drawn(const struct record_trial *t)
{
	return t->counts || t->confirms;
}

static void find_range(struct frame *f)
{
	double pad;

	f->lo = HUGE_VAL;
	f->hi = -HUGE_VAL;
	for (size_t i = 0; i < f->d->n_trials; i++) {
		const struct record_values *v = record_values_of(&f->d->trial[i], 0);

		for (size_t j = 0; v && is_drawn(&f->d->trial[i]) && j < v->n; j++)
			widen(f, v->v[j]);
	}
	for (int i = 0; i < 2; i++)
		if (f->levels.known[i])
			widen(f, f->levels.level[i].estimate);
	if (f->r->ends.state)
		widen(f, f->r->ends.threshold);
	if (f->lo > f->hi)
		f->lo = f->hi = 0;
	if (f->lo > 0 && f->lo < f->hi / 3)
		f->lo = 0;
	pad = f->hi > f->lo ? f->hi * 0.04 - f->lo * 0.04 : fabs(f->hi) * 0.1 + 1e-9;
	f->hi = fmin(f->hi + pad, 1.7e308);
	if (f->lo != 0)
		f->lo = fmax(f->lo - pad, -1.7e308);
}

/* 1, 2 or 5 times a power of ten: about TICKS of them in the range. */
static double tick_step(double range)
{
	double step = range / TICKS, power = pow(10, floor(log10(step)));

	if (!isfinite(power) || power <= 0)
		return step;
	step /= power;
	return power * (step < 1.5 ? 1 : step < 3.5 ? 2 : step < 7.5 ? 5 : 10);
}

static void draw_tick(const struct frame *f, double v, double step)
{
	int digits = step < 1 ? (int)ceil(-log10(step)) : 0;
	double y = y_of(f, v);

	fprintf(f->out,
		"<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
		"<text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">",
		LEFT, WIDTH - RIGHT, y, y, LEFT - 8, y + 4);
	if (fabs(v) < 1e9 && digits < 7)
		fprintf(f->out, "%.*f</text>\n", digits, v == 0 ? 0.0 : v);
	else
		fprintf(f->out, "%.4g</text>\n", v);
}

static void draw_ticks(const struct frame *f)
{
	double step = tick_step(f->hi - f->lo);
	double first = ceil(f->lo / step);

	if (!isfinite(step) || !isfinite(first) || fabs(first) > 1e15)
		return;
	for (int i = 0; i <= 2 * TICKS && (first + i) * step <= f->hi; i++)
		draw_tick(f, (first + i) * step, step);
}

/* The level as a line over the whole width, its interval as a band. */
static void draw_level(const struct frame *f, int side)
{
	static const char *const class[] = { "good", "bad" };
	const struct stats_interval *l = &f->levels.level[side];
	const char *c = class[f->r->fix ? !side : side];
	double y = y_of(f, l->estimate), top, bottom;

	if (!f->levels.known[side])
		return;
	if (isfinite(l->low) && isfinite(l->high)) {
		top = fmax(y_of(f, l->high), TOP);
		bottom = fmin(y_of(f, l->low), HEIGHT - BOTTOM);
		fprintf(f->out,
			"<rect class=\"band %s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			"height=\"%.1f\"/>",
			c, LEFT, top, WIDTH - LEFT - RIGHT, fmax(bottom - top, 0));
	}
	fprintf(f->out,
		"<line class=\"level %s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\">"
		"<title>level of the %s end</title></line>\n",
		c, LEFT, WIDTH - RIGHT, y, y, c);
}

static void draw_threshold(const struct frame *f)
{
	double y = y_of(f, f->r->ends.threshold);

	if (!f->r->ends.state || !isfinite(f->r->ends.threshold))
		return;
	fprintf(f->out,
		"<line class=\"threshold\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
		"<text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">threshold</text>\n",
		LEFT, WIDTH - RIGHT, y, y, WIDTH - RIGHT - 4, y - 5);
}

/* One boot: its runs above each other. A line without length is a dot or square, by its ends. */
static void draw_boot(const struct frame *f, const struct record_trial *t, double x, int class)
{
	const struct record_values *v = record_values_of(t, 0);

	for (size_t i = 0; v && i < v->n; i++) {
		double y = y_of(f, v->v[i]);

		if (t->confirms)
			fprintf(f->out, "M%.1f %.1fh8m-4 -4v8", x - 4, y);
		else if (class == 2)
			fprintf(f->out, "M%.1f %.1fh8", x - 4, y);
		else
			fprintf(f->out, "M%.1f %.1fh.01", x, y);
	}
}

static size_t boots_of(const struct frame *f, size_t commit)
{
	size_t n = 0;

	for (size_t i = f->index[commit]; i != SIZE_MAX; i = f->index[f->d->n_commits + i])
		n++;
	return n;
}

/* Boots of a commit side by side, in the order of the log: all that @fresh asks for, or the failed. */
static void draw_boots(const struct frame *f, size_t commit, int what)
{
	size_t n = boots_of(f, commit), k = 0;

	for (size_t i = f->index[commit]; i != SIZE_MAX; i = f->index[f->d->n_commits + i], k++) {
		const struct record_trial *t = &f->d->trial[i];
		double x = x_of(f, (double)commit + 0.15 + 0.7 * ((double)k + 0.5) / (double)n);

		if (what == 2 && t->outcome != TRIAL_OK)
			fprintf(f->out, "M%.1f %.1fl8 8m0 -8l-8 8", x - 4,
				HEIGHT - BOTTOM - LANE - 4);
		else if (what < 2 && t->outcome == TRIAL_OK && t->confirms == (what == 1))
			draw_boot(f, t, x, plot_class(&f->d->commit[commit]));
	}
}

static void draw_points(const struct frame *f)
{
	static const char *const class[] = { "good", "bad", "other" };

	for (size_t i = 0; i < f->d->n_commits; i++) {
		const char *c = class[plot_class(&f->d->commit[i])];

		fprintf(f->out, "<path class=\"p %s\" d=\"", c);
		draw_boots(f, i, 0);
		fprintf(f->out, "\"/><path class=\"fresh %s\" d=\"", c);
		draw_boots(f, i, 1);
		fputs("\"/><path class=\"failed\" d=\"", f->out);
		draw_boots(f, i, 2);
		fputs("\"/>\n", f->out);
	}
}

/* How many commits of the range lie between two neighbours of the picture. */
static void draw_gap(const struct frame *f, size_t i)
{
	const struct record_commit *a = &f->d->commit[i - 1], *b = &f->d->commit[i];

	if (f->d->n_commits > GAPS_MAX || !a->placed || !b->placed ||
	    b->position <= a->position + 1)
		return;
	fprintf(f->out,
		"<text class=\"dim\" font-size=\"11\" text-anchor=\"middle\" x=\"%.1f\" "
		"y=\"%.1f\">+%u</text>",
		x_of(f, (double)i), HEIGHT - BOTTOM + 14, b->position - a->position - 1);
}

static void draw_title(const struct frame *f, const struct record_commit *c)
{
	char hex[COMMIT_HEX + 1];

	fprintf(f->out, "<title>%.12s", commit_hex(&c->id, hex));
	if (c->role[0])
		fprintf(f->out, " (%s)", c->role);
	if (c->tested) {
		fputs(": ", f->out);
		escape_text(f->out, c->tested->subject, false);
	}
	fputs("</title>", f->out);
}

static void draw_label(const struct frame *f, size_t i, bool alone)
{
	const struct record_commit *c = &f->d->commit[i];
	double x = x_of(f, (double)i + 0.5), y = HEIGHT - BOTTOM + 26;
	char hex[COMMIT_HEX + 1];

	if (f->d->n_commits > LABELS_MAX && !c->role[0] && i % (f->d->n_commits / LABELS_MAX + 1))
		return;
	if (!alone)
		fprintf(f->out, "<a href=\"#c-%.12s\">", commit_hex(&c->id, hex));
	fprintf(f->out, "<text text-anchor=\"end\" transform=\"translate(%.1f %.1f) rotate(-40)\">",
		x + 4, y);
	draw_title(f, c);
	escape_text(f->out, c->label, false);
	if (c->role[0] && f->d->n_commits <= GAPS_MAX)
		fprintf(f->out,
			"<tspan class=\"dim\" x=\"0\" dy=\"13\" font-size=\"11\">%s</tspan>",
			c->role);
	fprintf(f->out, "</text>%s\n", alone ? "" : "</a>");
}

static bool is_culprit(const struct frame *f, const struct record_commit *c)
{
	return !commit_is_null(&f->r->culprit.id) && commit_eq(&c->id, &f->r->culprit.id);
}

static void draw_columns(const struct frame *f)
{
	for (size_t i = 0; i < f->d->n_commits; i++) {
		if (i)
			draw_gap(f, i);
		if (!is_culprit(f, &f->d->commit[i]))
			continue;
		fprintf(f->out,
			"<rect class=\"mark\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			"height=\"%.1f\"/>\n",
			x_of(f, (double)i), TOP, x_of(f, (double)i + 1) - x_of(f, (double)i),
			HEIGHT - TOP - BOTTOM);
	}
}

static void draw_heading(const struct frame *f)
{
	fputs("<text x=\"8\" y=\"15\">", f->out);
	escape_text(f->out, f->r->metric, false);
	if (f->r->unit && f->r->unit[0]) {
		fputs(" in ", f->out);
		escape_text(f->out, f->r->unit, false);
	}
	fputs("</text>", f->out);
}

static void begin(FILE *out, bool alone, double height, const char *label)
{
	fprintf(out,
		"<svg class=\"kp\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
		"role=\"group\" aria-label=\"%s\"",
		WIDTH, height, label);
	if (alone)
		fprintf(out, " width=\"%.0f\" height=\"%.0f\"", WIDTH, height);
	fputs(">\n", out);
	if (alone)
		fprintf(out,
			"<style>%s svg{background:#fff}@media(prefers-color-scheme:dark){svg{"
			"background:#14171a}}</style>\n",
			style);
}

/* A list of each commit's trials, so that drawing is no walk of all of them for each commit. */
static void make_index(struct frame *f)
{
	size_t n = f->d->n_commits;

	f->index = xcalloc(n + f->d->n_trials, sizeof(*f->index));
	for (size_t i = 0; i < n; i++)
		f->index[i] = SIZE_MAX;
	for (size_t i = f->d->n_trials; i-- > 0;) {
		size_t c = 0;

		while (c < n && !commit_eq(&f->d->commit[c].id, &f->d->trial[i].commit))
			c++;
		if (c == n || !is_drawn(&f->d->trial[i]))
			continue;
		f->index[n + i] = f->index[c];
		f->index[c] = i;
	}
}

bool plot_has_walk(const struct record *d)
{
	return d->n_commits > 0;
}

void plot_walk(const struct report *r, const struct record *d, bool alone, FILE *out)
{
	struct frame f = { .r = r, .d = d, .out = out };

	if (!plot_has_walk(d))
		return;
	plot_levels(r, d, &f.levels);
	find_range(&f);
	make_index(&f);
	begin(out, alone, HEIGHT, "Every sample over the commits in order");
	draw_columns(&f);
	draw_ticks(&f);
	draw_level(&f, 0);
	draw_level(&f, 1);
	draw_threshold(&f);
	draw_points(&f);
	fprintf(out, "<path class=\"axis\" fill=\"none\" d=\"M%.1f %.1fV%.1fH%.1f\"/>", LEFT, TOP,
		HEIGHT - BOTTOM, WIDTH - RIGHT);
	draw_heading(&f);
	for (size_t i = 0; i < d->n_commits; i++)
		draw_label(&f, i, alone);
	fputs("</svg>\n", out);
	free(f.index);
}

#define SHARES_HEIGHT 170.0
#define SHARES_FLOOR 140.0

/* Where the commit lies in the range; SIZE_MAX: not known. */
static size_t position_of(const struct record *d, const struct commit_id *id, size_t fallback)
{
	for (size_t i = 0; i < d->n_commits; i++)
		if (commit_eq(&d->commit[i].id, id) && d->commit[i].placed)
			return d->commit[i].position;
	return fallback;
}

void plot_shares(const struct report *r, const struct record *d, bool alone, FILE *out)
{
	const struct record_posterior *v = &d->posterior;
	double span = r->candidates ? r->candidates : 1, left;
	char hex[COMMIT_HEX + 1];

	if (!v->n)
		return;
	begin(out, alone, SHARES_HEIGHT, "Probability of each commit of the range");
	fputs("<text x=\"8\" y=\"15\">probability that it is this commit</text>", out);
	fprintf(out, "<path class=\"axis\" fill=\"none\" d=\"M%.1f 24V%.1fH%.1f\"/>", LEFT,
		SHARES_FLOOR, WIDTH - RIGHT);
	for (size_t i = 0; i < v->n; i++) {
		double share = fmin(fmax(v->share[i].share, 0), 1),
		       top = SHARES_FLOOR - 110 * share;
		size_t at = v->share[i].position ? v->share[i].position
						 : position_of(d, &v->share[i].id, 1);

		left = LEFT + ((double)at - 1) / span * (WIDTH - LEFT - RIGHT);
		fprintf(out,
			"<rect class=\"bar\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">"
			"<title>%.12s: %.3g%%</title></rect>\n",
			left, top, fmax((WIDTH - LEFT - RIGHT) / span, 2), SHARES_FLOOR - top,
			commit_hex(&v->share[i].id, hex), 100 * share);
	}
	fprintf(out,
		"<text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"30\">100 %%</text>"
		"<text class=\"dim\" x=\"%.1f\" y=\"%.1f\">oldest</text>"
		"<text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">newest of %u</text>"
		"</svg>\n",
		LEFT - 8, LEFT, SHARES_FLOOR + 18, WIDTH - RIGHT, SHARES_FLOOR + 18, r->candidates);
}
