/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many commits each commit can reach: the weights of a bisection. */
#ifndef KR_CORE_REACH_H
#define KR_CORE_REACH_H

#include <stdbool.h>
#include <stdint.h>

/* An acyclic graph of @n nodes; parents of i are parent[start[i]] … parent[start[i + 1] - 1]. */
struct reach_graph {
	uint32_t n;
	const uint32_t *start;
	const uint32_t *parent;
	const bool *free; /* nodes that do not count; NULL: all count */
};

/*
 * @order: n entries, the nodes with parents before children. @weight: n
 * entries, how many counting nodes can be reached from each, itself included.
 * Time is about (merges and forks)²/1024 steps, memory 64 bytes for each of them.
 */
void reach_order(const struct reach_graph *g, uint32_t *order);
void reach_weights(const struct reach_graph *g, const uint32_t *order, uint32_t *weight);

#endif
