#include "parse.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

// The work of the parse that runs on this thread, and where it ends.
static _Thread_local uint64_t rc_work, rc_budget;
static _Thread_local size_t rc_stop; // the parser looks at it every hundred steps

static inline void rc_count_work(size_t size) {
	rc_work += size + 16;
	if (rc_work > rc_budget) {
		rc_stop = 1;
	}
}

static void *rc_checked(void *p) {
	if (p == NULL) {
		abort(); // tree-sitter goes on with what it gets; Go ends likewise
	}
	return p;
}

static void *rc_malloc(size_t size) {
	rc_count_work(size);
	return rc_checked(malloc(size ? size : 1));
}

static void *rc_calloc(size_t count, size_t size) {
	rc_count_work(count * size);
	return rc_checked(calloc(count ? count : 1, size ? size : 1));
}

static void *rc_realloc(void *p, size_t size) {
	rc_count_work(size);
	return rc_checked(realloc(p, size ? size : 1));
}

void rc_init(void) { ts_set_allocator(rc_malloc, rc_calloc, rc_realloc, free); }

typedef struct {
	const TSLanguage *lang;
	const char *src;
	uint32_t size;
	uint64_t budget;
	TSTree *tree;
} rc_job;

static void *rc_run(void *arg) {
	rc_job *job = arg;
	rc_work = 0;
	rc_budget = job->budget;
	rc_stop = 0;
	// A parser keeps nodes of earlier files, and then allocates less: a new one
	// makes the work depend on the file alone.
	TSParser *parser = ts_parser_new();
	if (ts_parser_set_language(parser, job->lang)) {
		ts_parser_set_cancellation_flag(parser, &rc_stop);
		job->tree = ts_parser_parse_string(parser, NULL, job->src, job->size);
	}
	ts_parser_delete(parser);
	return NULL;
}

// tree-sitter frees a stack of ambiguous states by recursion, about a hundred bytes
// deep for each byte of the file at worst: 85,000 nested ambiguities overflowed a
// thread's usual 8 MB. Larger files are parsed on a thread with room for the largest.
enum { rc_small = 16 << 10, rc_stack_per_byte = 256 };

TSTree *rc_parse(const TSLanguage *lang, const char *src, uint32_t size, uint64_t budget) {
	rc_job job = {lang, src, size, budget, NULL};
	if (size <= rc_small) {
		rc_run(&job);
		return job.tree;
	}
	pthread_t thread;
	pthread_attr_t attr;
	sigset_t all, before;
	sigfillset(&all); // signals are for Go's own threads
	if (pthread_attr_init(&attr) != 0 ||
		pthread_attr_setstacksize(&attr, (4 << 20) + (size_t)rc_stack_per_byte * size / 4096 * 4096) != 0 ||
		pthread_sigmask(SIG_SETMASK, &all, &before) != 0 ||
		pthread_create(&thread, &attr, rc_run, &job) != 0) {
		abort(); // as where memory runs out
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	pthread_join(thread, NULL);
	return job.tree;
}

uint32_t rc_count(const TSTree *tree) { return ts_node_descendant_count(ts_tree_root_node(tree)); }

uint32_t rc_flatten(TSTree *tree, rc_node *nodes, uint32_t cap, uint32_t max_depth, bool *cut) {
	TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
	uint32_t n = 0, parent = 0, depth = 0;
	*cut = false;
	while (n < cap) {
		TSNode node = ts_tree_cursor_current_node(&cursor);
		rc_node *out = &nodes[n];
		out->start = ts_node_start_byte(node);
		out->end = ts_node_end_byte(node);
		out->parent = parent;
		out->kind = ts_node_symbol(node);
		out->field = (uint8_t)ts_tree_cursor_current_field_id(&cursor);
		out->flags = (ts_node_is_named(node) ? rc_named : 0) | (ts_node_is_error(node) ? rc_error : 0) |
			(ts_node_is_missing(node) ? rc_missing : 0) | (ts_node_is_extra(node) ? rc_extra : 0);
		uint32_t at = n++;
		if (depth < max_depth) {
			if (ts_tree_cursor_goto_first_child(&cursor)) {
				parent = at;
				depth++;
				continue;
			}
		} else if (ts_node_child_count(node) > 0) {
			*cut = true;
		}
		out->next = n;
		while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
			if (depth == 0) {
				goto done;
			}
			ts_tree_cursor_goto_parent(&cursor);
			depth--;
			nodes[parent].next = n;
			parent = nodes[parent].parent;
		}
	}
	*cut = true; // the count was too low: close what is open
	for (;; parent = nodes[parent].parent) {
		nodes[parent].next = n;
		if (parent == 0) {
			break;
		}
	}
done:
	ts_tree_cursor_delete(&cursor);
	ts_tree_delete(tree);
	return n;
}
