/* What the parts of the template engine share; nobody else includes it.
 *
 *   mustache_scan.c     text → tags, and what stands on a tag's line
 *   mustache_parse.c    tags → one tree a template: lines, standalone tags, indentation
 *   mustache_compile.c  trees → one flat program a template: partials, parents and blocks are expanded
 *   mustache_texts.c    a catalogue of texts → one small template each
 *   mustache.c          sets of templates, their names
 *   mustache_folder.c   sets from a folder, its changes
 *   mustache_render.c   program + context → bytes
 *
 * Trees live in an arena that dies when the set is compiled; the set keeps ops, a pool of bytes and names. */
#ifndef HB_MUSTACHE_MUSTACHE_INTERNAL_H
#define HB_MUSTACHE_MUSTACHE_INTERNAL_H

#include "base/arena.h"
#include "mustache/mustache.h"

/* ---- scanning ---- */

enum tag_kind {
    TAG_NONE, /* the text is over */
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
    size_t start, end; /* byte offsets of the whole tag; end is behind it */
};

struct scanner {
    struct str text;
    size_t pos;
    struct str open, close; /* the delimiters */
    const char *problem;    /* after ST_INVALID: a message, and where */
    size_t problem_at;
};

/* At the start of the text, with the delimiters {{ and }}. */
void scan_init(struct scanner *s, struct str text);
/* The next tag from pos on. ST_INVALID: problem and problem_at say why and where. */
enum status scan_tag(struct scanner *s, struct tag *out);
/* True when only blanks lie between the line's start and at; *line_start is that start. */
bool scan_blank_before(struct str text, size_t at, size_t *line_start);
/* True when only blanks lie between at and the line's end or the text's; *next is the next line's start (or the
 * text's end), *line_break the bytes of the line break ("" at the text's end). */
bool scan_blank_after(struct str text, size_t at, size_t *next, struct str *line_break);
/* The blanks that begin the first line from line_start on which holds anything else; *at is where they end. */
struct str scan_margin(struct str text, size_t line_start, size_t *at);

/* ---- trees ---- */

enum node_kind {
    NODE_LINE, /* a line of the source starts: its indent goes here */
    NODE_TEXT, /* at most to the end of a line */
    NODE_ESCAPED,
    NODE_RAW,
    NODE_SECTION,
    NODE_INVERTED,
    NODE_PARTIAL,
    NODE_PARENT,
    NODE_BLOCK
};

/* A partial or parent is "whole" when its tags are alone on their lines: its lines take the indent. A parent or
 * block that begins its line, own_line, keeps the blanks before it in indent, because what becomes of them depends on
 * what is put there. */
struct node {
    enum node_kind kind;
    bool own_line;    /* PARENT, BLOCK: nothing but blanks before it on its line */
    bool whole;       /* PARTIAL, PARENT */
    bool starts_line; /* BLOCK: its content begins with a line of its own… */
    bool ends_line;   /* …and ends with one */
    size_t at;        /* offset of the tag, for messages */
    struct str text;  /* TEXT: the bytes; else the name */
    struct str indent;
    struct str tail;       /* BLOCK: the line break behind its lines, which the block has to supply */
    struct source *target; /* PARTIAL, PARENT: NULL is a missing one */
    struct node *first, *last;
    struct node *next;
};

/* One template while the set is compiled. */
struct source {
    struct str name;
    struct str file;   /* for messages */
    size_t first_line; /* where text begins in the file, from 0 */
    struct str text;
    struct node root; /* its children are the template */
};

/* All templates while the set is compiled, sorted by name. */
struct workshop {
    struct arena *arena;
    struct source *sources;
    size_t count, cap;
    bool missing_ok;
    char *error;
    size_t error_size;
};

/* Begins with an empty workshop that writes into error; false: no memory. */
bool workshop_open(struct workshop *w, char *error, size_t error_size);
/* Ends the work and returns st; when memory was the reason, says so, as nothing else did. */
enum status workshop_close(struct workshop *w, enum status st);
/* Makes a set of the sources in the workshop. */
enum status workshop_finish(struct workshop *w, struct mustache_set **out);
/* Writes "file:line:column: message" into the workshop's error; returns ST_INVALID. */
enum status workshop_error(struct workshop *w, const struct source *src, size_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds src; its texts live as long as the workshop. ST_NO_MEMORY. */
enum status workshop_add(struct workshop *w, struct source src);
struct source *workshop_find(struct workshop *w, struct str name);
/* Fills src->root and resolves its partials and parents. ST_INVALID with the workshop's error; ST_NO_MEMORY. */
enum status parse_source(struct workshop *w, struct source *src);

/* ---- catalogues ---- */

/* Adds each line "key = text" of a catalogue as the template "text/KEY". Empty lines and those that begin with # are
 * passed over; the blanks around key and text are not part of them. ST_INVALID with the workshop's error: a line
 * without '=', a key that is not a word. ST_NO_MEMORY. */
enum status texts_add(struct workshop *w, struct str file, struct str catalogue);

/* ---- programs ---- */

enum op_kind {
    OP_TEXT,     /* write the text */
    OP_ESCAPED,  /* look up the name, write its value escaped… */
    OP_RAW,      /* …or as it is */
    OP_SECTION,  /* look up; false: go to jump; else push it (a list: its first item) */
    OP_END,      /* a list with a next item: take it and go to jump; else pop */
    OP_INVERTED, /* look up; true: go to jump */
    OP_INDENT,   /* write the indents of the calls we are in */
    OP_CALL,     /* go to jump, come back at OP_RETURN; text: the call's indent */
    OP_RETURN    /* from a call; in a template's own program: the end */
};

/* One operation of a program. Its name is looked up in the context; parts behind the first dot are names[rest …],
 * parts 0 is ".". */
struct op {
    uint8_t kind;
    bool inherit; /* CALL: the indents of the calls we are in go before this one's */
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
    uint32_t name_hash;
    uint32_t entry; /* its first op */
};

struct mustache_set {
    struct op *ops;
    uint32_t op_count, op_cap;
    struct op_name *names;
    uint32_t name_count, name_cap;
    struct buf pool;
    struct mustache *templates;
    size_t count;
    char *dir;      /* NULL: from memory */
    char *language; /* of its catalogue; NULL: none */
    uint64_t fingerprint;
    uint64_t content;
};

/* Compiles all parsed sources of w into the empty set: ops, names, pool, and templates[i].entry for sources[i]. */
enum status compile_sources(struct workshop *w, struct mustache_set *set);

#endif
