/* The names of the templates that the program renders; the tidy tests compare them with the calls. */
#ifndef HB_SITE_TEMPLATES_H
#define HB_SITE_TEMPLATES_H

extern const char *const site_templates[]; /* ends with NULL */

#endif
