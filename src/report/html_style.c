/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the HTML report looks like: no script, nothing from elsewhere. */
#include "report/html.h"

static const char style[] =
	":root{color-scheme:light dark;--bg:#fff;--ink:#1c2024;--dim:#56606b;--line:#d9dee4;"
	"--soft:#f4f6f8;--link:#0b57a4;--good:#0a6640;--bad:#b3261e;--warn:#6b5b00;"
	"--headline:#fdf3f2;--ok:#eef8f2}"
	"@media(prefers-color-scheme:dark){:root{--bg:#14171a;--ink:#e6e9ed;--dim:#a3adb8;"
	"--line:#343b43;--soft:#1c2126;--link:#7ab8ff;--good:#6fd3a2;--bad:#ff8a80;--warn:#e3c84a;"
	"--headline:#2a1a19;--ok:#16251d}}"
	"*{box-sizing:border-box}"
	"body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--bg);color:var(--ink);"
	"font:16px/1.5 system-ui,sans-serif;overflow-wrap:break-word}"
	"h1{font-size:1.45rem;line-height:1.25;margin:.2rem 0}h2{font-size:1.15rem;margin:2rem 0 "
	".6rem;border-bottom:1px solid var(--line);padding-bottom:.2rem}"
	"p{margin:.5rem 0}a{color:var(--link)}"
	"a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:3px solid "
	"var(--link);outline-offset:2px}"
	".jump{position:absolute;left:-99rem}.jump:focus{left:1rem;background:var(--bg);padding:"
	".5rem}"
	".answer{border-left:6px solid var(--bad);background:var(--headline);padding:.8rem 1rem;"
	"border-radius:4px;margin-bottom:1rem}.answer.good{border-color:var(--good);background:var("
	"--ok)}"
	".answer.open{border-color:var(--warn);background:var(--soft)}"
	".dim{color:var(--dim)}.big{font-size:1.2rem;font-weight:600}"
	"nav{margin:1rem 0}nav a{margin-right:1rem;white-space:nowrap;display:inline-block;"
	"padding:.15rem 0}"
	".scroll{overflow-x:auto}.scroll svg{min-width:42rem;width:100%;height:auto;display:block}"
	"table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}"
	"th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line);"
	"vertical-align:top}th{font-weight:600;color:var(--dim)}td.n,th.n{text-align:right;"
	"white-space:nowrap}td.w{min-width:16rem;overflow-wrap:anywhere}th,.v{white-space:nowrap}"
	"tr:target{background:var(--soft)}"
	"tr.culprit td{background:var(--headline)}"
	"code,pre,.id{font-family:ui-monospace,monospace;font-size:.92em}.id{white-space:nowrap}"
	"pre{background:var(--soft);padding:.8rem;overflow-x:auto;white-space:pre-wrap}"
	".v{font-weight:600}.v.good{color:var(--good)}.v.bad{color:var(--bad)}.v.skip,.v.unsure,"
	".v.unset{color:var(--warn)}"
	"details>summary{cursor:pointer;padding:.3rem 0}"
	"footer{margin-top:2.5rem;color:var(--dim);font-size:.9rem}"
	"@media(max-width:40rem){body{padding:.7rem;font-size:15px}th,td{padding:.25rem .4rem}"
	/* a table whose rows are cards: all of one is seen without scrolling */
	".cards thead{display:none}.cards tr{display:flex;flex-wrap:wrap;gap:0 .6rem;align-items:"
	"baseline;border-bottom:1px solid var(--line);padding:.35rem 0}.cards td,.cards "
	"th{border:0;"
	"padding:.05rem .2rem}.cards td:empty{display:none}.cards td.n{text-align:left}"
	".cards .w{min-width:0;flex-basis:100%}.cards .boots::before{content:\"boots: \"}}"
	"@media print{nav,.jump{display:none}}";

const char *html_style(void)
{
	return style;
}
