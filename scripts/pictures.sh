#!/usr/bin/env bash
# Renews the pictures of the documentation, in docs/pictures, from the programs as they are: the
# terminal by tmux, the page by chromium. Needs bin (make build), tmux, chromium and a C compiler.
#
#   scripts/pictures.sh [BIN]
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(realpath "${1:-bin}") to=$(realpath docs/pictures) here=$PWD
for program in tmux chromium cc make; do
  command -v "$program" >/dev/null || { echo "pictures: $program is needed"; exit 2; }
done

# What the pictures show: a build that an edit broke, the sample of quickstart, and this repository.
work=/tmp/ada server=
mkdir "$work" # its name is in the pictures; who else has it is not disturbed
go build -o "$work/pictures" ./internal/pictures
tmux=(tmux -L "pictures-$$" -f /dev/null)
trap '"${tmux[@]}" kill-server 2>/dev/null || true; [ -z "$server" ] || { kill "$server"; wait "$server" || true; }; rm -rf "$work"' EXIT
export PATH=$bin:$PATH HOME=$work RECOUNT_DATA_DIR=$work/data USER=ada
unset RECOUNT_CONFIG RECOUNT_SERVER RECOUNT_TOKEN
mkdir "$HOME/shop" && cd "$HOME/shop"
recount import jsonl "$here/internal/quickstart/sample/openhands.jsonl" >/dev/null
recount import git "$here" >/dev/null
recount up --http 127.0.0.1:0 --kafka none --otlp-grpc none --otlp-http none >"$work/up" 2>&1 &
server=$!
until grep -q 'msg=ready' "$work/up"; do kill -0 "$server"; sleep 0.2; done
address=$(sed -n 's/.*"http": "\(.*\)".*/\1/p' "$RECOUNT_DATA_DIR/endpoints.json")

printf 'int main(void) {\n    return 0;\n}\n' >main.c
printf 'shop: main.c\n\tcc -Wall -Werror -o shop main.c\n' >Makefile
recorded() { recount exec --session pictures -- "$@" >/dev/null 2>&1 || true; }
recorded git init -q .
recorded make
recorded ./shop
recorded sed -i 's/return 0/return status/' main.c
recorded make

# screen NAME COLUMNS ROWS COMMAND KEYS…: the screen of a terminal after the keys. The session that
# idles keeps tmux running between two screens.
"${tmux[@]}" new-session -d -s idle "sleep 600"
screen() {
  local name=$1 columns=$2 rows=$3 command=$4
  shift 4
  "${tmux[@]}" new-session -d -s "$name" -x "$columns" -y "$rows" "$command"
  sleep 2
  for key in "$@"; do
    "${tmux[@]}" send-keys -t "$name" "$key"
    sleep 1
  done
  "${tmux[@]}" capture-pane -e -p -t "$name" | "$work/pictures" -columns "$columns" -title "recount $name" >"$to/$name.svg"
  "${tmux[@]}" kill-session -t "$name"
}
screen search 100 26 "recount search; sleep 60" make C-o

# page NAME PATH: the page, 1280 pixels wide.
page() {
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --run-all-compositor-stages-before-draw --window-size=1280,800 --virtual-time-budget=15000 \
    --screenshot="$to/$1.png" "$address$2" 2>"$work/chromium" || { cat "$work/chromium"; exit 1; }
}
failed=$(recount find make --exit fail --json -n 1 | sed -n 's/.*"id": *"\([0-9a-f-]*\)".*/\1/p' | head -n 1)
method=pipeline/produce.go:Log.Append
recount impact "$method" >/dev/null # so that the server has read the graph when the page asks
page page-why "/why/$failed"
page page-narrative '/narrative?author=OpenHands%2Fllama-4-maverick'
page page-impact "/code/impact?name=$method"
ls -l "$to"
