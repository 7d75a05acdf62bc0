# cmake -DCHECK=template_check -DTEMPLATES=folder -DWORK=folder -P template_check.cmake: template_check finds what is
# wrong with examples. Each case breaks a copy of the templates.
function(expect_problem pattern)
    execute_process(COMMAND "${CHECK}" "${WORK}" en RESULT_VARIABLE result ERROR_VARIABLE problems OUTPUT_QUIET)
    if(result EQUAL 0 OR NOT problems MATCHES "${pattern}")
        message(FATAL_ERROR "wanted ${pattern}, got ${result}: ${problems}")
    endif()
endfunction()

# A fresh copy.
macro(restore)
    file(REMOVE_RECURSE "${WORK}")
    file(COPY "${TEMPLATES}/" DESTINATION "${WORK}")
endmacro()

set(home "${WORK}/examples/pages/home.json")

restore()
file(REMOVE "${home}")
expect_problem("examples/pages/home.json:1: this page has no example")

restore()
file(WRITE "${WORK}/examples/pages/planted.json" "{}")
expect_problem("examples/pages/planted.json:1: there is no template of this name")

restore()
file(WRITE "${WORK}/examples/notes.txt" "{}")
expect_problem("examples/notes.txt:1: the name of an example ends with .json")

restore()
file(WRITE "${home}" "{\"a\": 1,\n \"a\": 2}")
expect_problem("examples/pages/home.json:2:")

restore()
file(WRITE "${home}" "[]")
expect_problem("examples/pages/home.json:1: an example is an object")

restore()
file(WRITE "${home}" "{\"user\": true}")
file(WRITE "${WORK}/pages/home.mustache" "{{#user}}{{>pages/home}}{{/user}}")
expect_problem("examples/pages/home.json:1: with this example the template nests too deep")
