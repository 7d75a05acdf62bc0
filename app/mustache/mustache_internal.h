/* Declarations for the sources of the engine alone.
 *
 *   scan.c      text → tags, and the blanks around a tag on its line
 *   parse.c     tags → one tree per template: lines, standalone tags, indentation
 *   compile.c   trees → one flat program per template; partials, parents and blocks are expanded
 *   builder.c   all sources of a set → the set
 *   mustache.c  sets from memory; templates by name
 *   folder.c    sets from a folder, and changes of its files
 *   render.c    program + context → bytes
 *
 * Sources and trees live in the builder's arena, which is freed when the set is complete. The set keeps operations, a
 * pool of bytes and names. */
#ifndef HB_MUSTACHE_MUSTACHE_INTERNAL_H
#define HB_MUSTACHE_MUSTACHE_INTERNAL_H

#include "base/arena.h"
#include "mustache/mustache.h"

/* ---- scanning ---- */

enum tag_kind {
    TAG_NONE, /* no tag is left */
    TAG_ESCAPED,
    TAG_RAW,
    TAG_SECTION,
    TAG_INVERTED,
    TAG_PARTIAL,
    TAG_PARENT,
    TAG_BLOCK,
    TAG_CLOSE,
    TAG_COMMENT,
    TAG_DELIMITERS
};

struct tag {
    enum tag_kind kind;
    struct str name;
    size_t start, end; /* byte offsets of the first byte of the tag and of the first one behind it */
};

struct scanner {
    struct str text;
    size_t pos;
    struct str open, close; /* the delimiters */
    const char *problem;    /* after ST_INVALID: the message… */
    size_t problem_at;      /* …and the offset it is about */
};

/* Starts at the beginning of text, with the delimiters {{ and }}. */
void scan_init(struct scanner *s, struct str text);
/* Finds the next tag from pos on and moves pos behind it. ST_INVALID: see problem. */
enum status scan_tag(struct scanner *s, struct tag *out);
/* True when only blanks lie between the line's start and at; *line_start is that start. */
bool scan_blank_before(struct str text, size_t at, size_t *line_start);
/* True when only blanks lie between at and the line's end or the text's; *next is the next line's start (or the
 * text's end), *line_break the bytes of the line break ("" at the text's end). */
bool scan_blank_after(struct str text, size_t at, size_t *next, struct str *line_break);
/* The blanks at the beginning of the first line, from line_start on, that is not blank; *at is where they end. */
struct str scan_margin(struct str text, size_t line_start, size_t *at);

/* ---- trees ---- */

enum node_kind {
    NODE_LINE, /* a line starts here: the place for its indent */
    NODE_TEXT, /* at most to the end of a line */
    NODE_ESCAPED,
    NODE_RAW,
    NODE_SECTION,
    NODE_INVERTED,
    NODE_PARTIAL,
    NODE_PARENT,
    NODE_BLOCK
};

/* A partial or parent is standalone when its tags are alone on their lines: indent goes before each line of its
 * content. A parent or block with own_line is the first thing on its line. The blanks before it are kept in indent: it
 * depends on the content, which the compiler knows, where they are written. */
struct node {
    enum node_kind kind;
    bool own_line;    /* PARENT, BLOCK: only blanks are before it on its line */
    bool standalone;  /* PARTIAL, PARENT */
    bool starts_line; /* BLOCK: its content begins with a line of its own… */
    bool ends_line;   /* …and ends with one */
    size_t at;        /* offset of the tag, for messages */
    struct str text;  /* TEXT: the bytes; else the name */
    struct str indent;
    struct str tail;       /* BLOCK: the line break to write when its content does not end with one */
    struct source *target; /* PARTIAL, PARENT: the template; NULL: there is none, and missing_ok is set */
    struct node *first, *last;
    struct node *next;
};

/* One template while the set is built: what was given (see struct mustache_source), and its tree. */
struct source {
    struct str name;
    struct str file;
    size_t first_line, first_column;
    struct str text;
    struct node root; /* its children are the template */
};

/* All sources of a set while it is built; sorted by name from builder_finish on. */
struct builder {
    struct arena *arena;
    struct source *sources;
    size_t count, cap;
    bool missing_ok;
    char *error; /* the caller's */
    size_t error_size;
};

/* Starts without sources. False: no memory; builder_close is called all the same. */
bool builder_open(struct builder *b, char *error, size_t error_size);
/* Adds count sources; their texts must live until builder_close. ST_NO_MEMORY. */
enum status builder_add(struct builder *b, const struct mustache_source *given, size_t count);
/* Parses and compiles the sources into a new set. */
enum status builder_finish(struct builder *b, struct mustache_set **out);
/* Frees the arena and returns st. Writes the message of ST_NO_MEMORY, which nothing before has written. */
enum status builder_close(struct builder *b, enum status st);
/* Writes "file:line:column: message" for the offset at of src into error; returns ST_INVALID. */
enum status builder_error(struct builder *b, const struct source *src, size_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The order of sources and templates (< 0, 0, > 0): by bytes; a name comes before longer ones that begin with it. */
int builder_name_compare(struct str a, struct str b);
/* The source of that name, once they are sorted; NULL: there is none. */
struct source *builder_find(struct builder *b, struct str name);
/* Fills src->root and resolves its partials and parents. ST_INVALID with a message; ST_NO_MEMORY. */
enum status parse_source(struct builder *b, struct source *src);

/* ---- programs ---- */

enum op_kind {
    OP_TEXT,     /* write the text */
    OP_ESCAPED,  /* look up the name, write its value escaped… */
    OP_RAW,      /* …or as it is */
    OP_SECTION,  /* look up the name; false: go to jump; true: push the value (of a list, its first item) */
    OP_END,      /* the list has a next item: take it and go to jump; otherwise pop */
    OP_INVERTED, /* look up the name; true: go to jump */
    OP_INDENT,   /* write the indents of the open calls */
    OP_CALL,     /* go to jump until OP_RETURN; text is the indent of the call */
    OP_RETURN    /* back behind the call; without a call: the template is complete */
};

/* One operation of a program. A name of several parts, a.b.c, has its first part here and the others in names[rest …].
 * parts is 0 for the name ".". */
struct op {
    uint8_t kind;
    bool inherit; /* CALL: the indents of the calls around it go before its own */
    uint16_t parts;
    uint32_t jump;
    uint32_t text, text_len; /* a slice of the pool: text, indent, or the name's first part */
    uint32_t hash;           /* value_hash of the first part */
    uint32_t rest;
};

struct op_name {
    uint32_t text, text_len, hash;
};

struct mustache {
    const struct mustache_set *set;
    uint32_t name, name_len; /* a slice of the pool */
    uint32_t entry;          /* its first op */
};

struct mustache_set {
    struct op *ops;
    uint32_t op_count, op_cap;
    struct op_name *names;
    uint32_t name_count, name_cap;
    struct buf pool;
    struct mustache *templates; /* in the order of their names (builder_name_compare) */
    size_t count;
    char *dir;                              /* NULL: from memory */
    uint64_t fingerprint;                   /* of the files of dir, names and times; 0: one can't be read */
    uint64_t content;                       /* a hash of names and texts */
    char separator[MUSTACHE_SEPARATOR_MAX]; /* of thousands */
    size_t separator_len;
};

/* Compiles all parsed sources into the empty set: ops, names, pool, and templates[i].entry for sources[i]. */
enum status compile_sources(struct builder *b, struct mustache_set *set);

#endif
