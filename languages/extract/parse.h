// The part of tree-sitter's C interface that parse.go uses. The library itself
// (and its grammars) comes with github.com/smacker/go-tree-sitter, whose Go side
// makes a call into C and a map entry for each node; here a file costs two calls.
// The declarations repeat that version's api.h: see docs/decisions/0023.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TSLanguage TSLanguage;
typedef struct TSParser TSParser;
typedef struct TSTree TSTree;

typedef struct {
	uint32_t context[4];
	const void *id;
	const TSTree *tree;
} TSNode;

typedef struct {
	const void *tree;
	const void *id;
	uint32_t context[3];
} TSTreeCursor;

TSParser *ts_parser_new(void);
void ts_parser_delete(TSParser *);
bool ts_parser_set_language(TSParser *, const TSLanguage *);
void ts_parser_set_cancellation_flag(TSParser *, const size_t *);
TSTree *ts_parser_parse_string(TSParser *, const TSTree *, const char *, uint32_t);
void ts_tree_delete(TSTree *);
TSNode ts_tree_root_node(const TSTree *);

uint16_t ts_node_symbol(TSNode);
uint32_t ts_node_start_byte(TSNode);
uint32_t ts_node_end_byte(TSNode);
uint32_t ts_node_child_count(TSNode);
uint32_t ts_node_descendant_count(TSNode);
bool ts_node_is_named(TSNode);
bool ts_node_is_missing(TSNode);
bool ts_node_is_extra(TSNode);
bool ts_node_is_error(TSNode);

TSTreeCursor ts_tree_cursor_new(TSNode);
void ts_tree_cursor_delete(TSTreeCursor *);
TSNode ts_tree_cursor_current_node(const TSTreeCursor *);
uint16_t ts_tree_cursor_current_field_id(const TSTreeCursor *);
bool ts_tree_cursor_goto_parent(TSTreeCursor *);
bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *);
bool ts_tree_cursor_goto_first_child(TSTreeCursor *);

void ts_set_allocator(void *(*)(size_t), void *(*)(size_t, size_t), void *(*)(void *, size_t), void (*)(void *));

uint32_t ts_language_symbol_count(const TSLanguage *);
const char *ts_language_symbol_name(const TSLanguage *, uint16_t);
uint32_t ts_language_field_count(const TSLanguage *);
const char *ts_language_field_name_for_id(const TSLanguage *, uint16_t);

// rc_node is a node of the flat tree; parse.go's node has the same layout.
typedef struct {
	uint32_t start, end, parent, next;
	uint16_t kind;
	uint8_t field, flags;
} rc_node;

// rc_init makes tree-sitter's allocations count. It is called once, before all else.
void rc_init(void);

enum { rc_named = 1, rc_error = 2, rc_missing = 4, rc_extra = 8 };

// rc_parse parses size bytes of src with a parser of its own. It returns NULL when
// the parser had to do more than budget work, counted as the bytes that it
// allocates: recovering from errors can take a time that grows with the square of
// the file, most of it in copying lists of nodes.
TSTree *rc_parse(const TSLanguage *lang, const char *src, uint32_t size, uint64_t budget);

// rc_count is the number of nodes that rc_flatten will write at most.
uint32_t rc_count(const TSTree *tree);

// rc_flatten writes the tree in source order, a node before its children, down to
// max_depth, and deletes it. It returns the number of nodes written, and in *cut
// whether some were left out.
uint32_t rc_flatten(TSTree *tree, rc_node *nodes, uint32_t cap, uint32_t max_depth, bool *cut);
