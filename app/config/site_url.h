/* The address of a site, `http://HOST` or `https://HOST`, maybe with a port: the setting base_url. */
#ifndef HB_CONFIG_SITE_URL_H
#define HB_CONFIG_SITE_URL_H

/* NULL: url is the address of a site. Otherwise what is wrong, in words that follow "base_url: ", and what to write,
 * where that can be known; valid until the next call. */
const char *site_url_mistake(const char *url);

#endif
