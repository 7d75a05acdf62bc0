# shellcheck shell=bash disable=SC2154
# ./dev pictures: makes docs/images/NAME.svg of each NAME.dot. The colours follow the reader's light or dark theme.

PICTURES_STYLE='<style>
text { fill: #1f2328 }
.node polygon, .node path, .node ellipse { fill: #f6f8fa; stroke: #57606a }
.own polygon, .own path { fill: #ddf4ff }
.engine polygon, .engine path { fill: #fff8c5 }
.trouble polygon, .trouble path { fill: #ffebe9 }
.edge path { stroke: #57606a }
.edge polygon { fill: #57606a; stroke: #57606a }
.cluster polygon { fill: none; stroke: #afb8c1 }
.quiet text { fill: #57606a }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.node polygon, .node path, .node ellipse { fill: #161b22; stroke: #8b949e }
.own polygon, .own path { fill: #0c2d6b }
.engine polygon, .engine path { fill: #4b3a05 }
.trouble polygon, .trouble path { fill: #67060c }
.edge path { stroke: #8b949e }
.edge polygon { fill: #8b949e; stroke: #8b949e }
.cluster polygon { stroke: #484f58 }
.quiet text { fill: #8b949e }
}
</style>'

# pictures_draw FILE.dot: prints the picture.
pictures_draw() {
    dot -Tsvg -Gbgcolor=transparent -Gfontname='DejaVu Sans' -Gfontsize=12 -Nfontname='DejaVu Sans' -Nfontsize=12 \
        -Nshape=box -Nstyle=rounded,filled -Nmargin=0.15,0.08 -Efontname='DejaVu Sans' -Efontsize=10 "$1" |
        awk -v style="$PICTURES_STYLE" '
            /^<!-- (Generated|Title)/ { skip = 1 }
            !skip { print }
            /-->/ { skip = 0 }
            /xmlns:xlink.*>$/ { print style }'
}

# ./dev pictures [--check]: with --check it only names the pictures that differ from their text.
pictures_run() {
    local source picture failed=
    packages_install run test
    for source in "$ROOT"/docs/images/*.dot; do
        picture=${source%.dot}.svg
        if [ "${1-}" != --check ]; then
            pictures_draw "$source" >"$picture.new"
            mv -- "$picture.new" "$picture"
        elif ! pictures_draw "$source" | cmp -s -- - "$picture"; then
            say "dev: ${picture#"$ROOT"/} is not that of ${source##*/}; run ./dev pictures"
            failed=yes
        fi
    done
    [ -z "$failed" ]
}
