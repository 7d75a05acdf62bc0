#include "user/device.h"

#include "base/array.h"

enum { AGENT_BYTES_MAX = 512, WORD_BYTES_MAX = 32 };

struct mark {
    struct str mark; /* what to look for in the header */
    const char *name;
};

/* The first mark that is found in the header counts: browsers also name the browsers that they imitate. */
static const struct mark BROWSERS[] = {
    { STR("MicroMessenger/"), "WeChat" },  { STR("Edg"), "Edge" },         { STR("OPR/"), "Opera" },
    { STR("SamsungBrowser/"), "Samsung" }, { STR("Firefox/"), "Firefox" }, { STR("FxiOS/"), "Firefox" },
    { STR("CriOS/"), "Chrome" },           { STR("Chrome/"), "Chrome" },   { STR("Safari/"), "Safari" },
};
static const struct mark SYSTEMS[] = {
    { STR("Android"), "Android" }, { STR("iPhone"), "iPhone" },  { STR("iPad"), "iPad" },
    { STR("Windows"), "Windows" }, { STR("Mac OS X"), "macOS" }, { STR("CrOS"), "ChromeOS" },
    { STR("Linux"), "Linux" },
};

static const char *name_find(const struct mark *marks, size_t count, struct str agent)
{
    for (size_t i = 0; i < count; i++)
        if (str_find(agent, marks[i].mark) < agent.len)
            return marks[i].name;
    return NULL;
}

static struct str first_word(struct str agent)
{
    size_t len = 0;
    while (len < agent.len && len < WORD_BYTES_MAX && str_find(STR("/ ;("), str_slice(agent, len, len + 1)) == 4)
        len++;
    struct str word = str_slice(agent, 0, len);
    for (size_t i = 0; i < len; i++) {
        char c = word.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                     c == '_' || c == '-';
        if (!plain)
            return STR("");
    }
    return word;
}

struct str device_name(struct arena *a, struct str user_agent)
{
    struct str agent = str_or_empty(user_agent);
    agent = str_slice(agent, 0, agent.len < AGENT_BYTES_MAX ? agent.len : AGENT_BYTES_MAX);
    const char *browser = name_find(BROWSERS, ARRAY_LEN(BROWSERS), agent);
    const char *system = name_find(SYSTEMS, ARRAY_LEN(SYSTEMS), agent);

    if (browser != NULL && system != NULL)
        return arena_printf(a, "%s · %s", browser, system);
    if (browser != NULL || system != NULL)
        return arena_printf(a, "%s", browser != NULL ? browser : system);
    return arena_str(a, first_word(agent));
}

bool device_is_phone(struct str name)
{
    static const struct str systems[] = { STR("Android"), STR("iPhone"), STR("iPad") };

    for (size_t i = 0; i < ARRAY_LEN(systems); i++)
        if (str_find(name, systems[i]) < name.len)
            return true;
    return false;
}
