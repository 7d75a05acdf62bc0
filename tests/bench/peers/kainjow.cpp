// The same page by kainjow's header: kainjow TEMPLATE CONTEXT COUNT OUT, as bench_mustache.c. The template is parsed and
// the data built once; only the rendering is measured.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

#include <jansson.h>
#include <kainjow/mustache.hpp>

using kainjow::mustache::data;

static data from_json(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT: {
        data object(data::type::object);
        const char *key;
        json_t *value;
        json_object_foreach(const_cast<json_t *>(json), key, value) {
            if (!json_is_null(value)) // a missing name and null are the same to a template
                object.set(key, from_json(value));
        }
        return object;
    }
    case JSON_ARRAY: {
        data list(data::type::list);
        size_t i;
        json_t *value;
        json_array_foreach(const_cast<json_t *>(json), i, value) list.push_back(from_json(value));
        return list;
    }
    case JSON_STRING: return data(std::string(json_string_value(json), json_string_length(json)));
    case JSON_INTEGER: return data(std::to_string(json_integer_value(json)));
    case JSON_TRUE: return data(data::type::bool_true);
    default: return data(data::type::bool_false);
    }
}

static long long cpu_ns()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    std::ifstream file(argv[1]);
    kainjow::mustache::mustache page(std::string(std::istreambuf_iterator<char>(file), {}));
    json_t *json = json_load_file(argv[2], 0, nullptr);
    const long long count = std::atoll(argv[3]);
    if (!page.is_valid() || !json || count < 1) {
        std::fprintf(stderr, "kainjow: %s\n", page.error_message().c_str());
        return 1;
    }
    const data context = from_json(json);
    std::string out;
    const long long started_ns = cpu_ns();
    for (long long i = 0; i < count; i++)
        out = page.render(context);
    const long long ns = cpu_ns() - started_ns;
    std::ofstream(argv[4]) << out;
    std::printf("{\"count\":%lld,\"own_ns\":%lld}\n", count, ns);
    json_decref(json);
    return 0;
}
